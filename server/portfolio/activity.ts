/**
 * GET /activity: what a wallet took and made, a row each as GET /trades shows it. All of it are trades:
 * pairs are minted and merged here only where two orders meet, and nothing is redeemed.
 *
 * The newest first end with the page; any other order looks at every row of the wallet in the ring of
 * fills. Either way the event loop has a turn after some thousand rows.
 *
 * Thread: I/O.
 */

import { marketOf } from '../../engine/depth.ts';
import type { TokenSlot } from '../../engine/units.ts';
import { nextTurn } from '../common/next-turn.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import { ROW_DOUBLES, Row, TradesSelector } from '../market-data/trades-select.ts';
import { walletRows } from '../market-data/wallet-rows.ts';
import { Best } from './best.ts';
import type { ActivityQuery } from './portfolio-schemas.ts';

/** Rows that are looked at without a pause: less than a millisecond. */
const ROWS_PER_TURN = 512;
/** Sequences start at 0. */
const NO_MATCH = -1;
const MS = 1_000;
const TRADE = 'trade';
/** Stands in place of the end of a row. */
const TYPE = Buffer.from(',"type":"TRADE"},');

/** A row that has been read: the fills may leave the ring before it is written. */
interface Read {
  readonly key: number;
  readonly row: Float64Array;
}

export class Activity {
  private readonly index: TradesIndex;
  private readonly selector: TradesSelector;
  private readonly renderer: TradesRenderer;

  constructor(index: TradesIndex, renderer: TradesRenderer) {
    this.index = index;
    this.selector = new TradesSelector(index);
    this.renderer = renderer;
  }

  /** @param markets null = all */
  async render(
    account: number,
    markets: ReadonlySet<number> | null,
    query: ActivityQuery,
  ): Promise<Buffer> {
    const page = await this.select(account, markets, query);
    const rows = new Float64Array(page.length * ROW_DOUBLES);
    for (const [i, { row }] of page.entries()) rows.set(row, i * ROW_DOUBLES);
    const keys = page.map(({ key }) => key);
    return this.renderer.renderRows(keys, rows, TYPE);
  }

  private async select(
    account: number,
    markets: ReadonlySet<number> | null,
    query: ActivityQuery,
  ): Promise<Read[]> {
    const { end, limit, offset, sortBy, sortDirection, start, type } = query;
    if (account === 0 || limit === 0 || type?.includes(TRADE) === false) return [];
    const isNewestFirst = sortBy === 'TIMESTAMP' && sortDirection === 'DESC';
    const column = sortBy === 'TOKENS' ? Row.size : Row.collateral;
    const best = new Best<Read>(offset + limit, sortDirection === 'DESC');
    const wanted = query.side === '' ? undefined : query.side === 'BUY' ? 0 : 1;
    const row = new Float64Array(ROW_DOUBLES);
    const walk = walletRows(this.index, account);
    let [found, looked, lost] = [0, 0, NO_MATCH];
    for (let next = walk.next(); next.done !== true; next = walk.next()) {
      const key = next.value;
      if (looked >= ROWS_PER_TURN) {
        looked = 0;
        const match = this.selector.matchOf(key);
        await nextTurn();
        // A match is shown as a whole or not at all: what was found of this one goes, too.
        lost = match < this.index.first ? match : NO_MATCH;
        if (lost !== NO_MATCH) break;
      }
      looked += 1;
      this.selector.read(key, row, 0);
      const seconds = Math.floor(row[Row.time]! / MS);
      if (seconds < start) break;
      if (seconds > end || (wanted !== undefined && row[Row.side] !== wanted)) continue;
      const market = marketOf(this.index.t, row[Row.token]! as TokenSlot);
      if (markets !== null && !markets.has(market)) continue;
      const place = sortBy === 'TIMESTAMP' ? -found : row[column]!;
      if (best.wants(place)) best.add({ key, row: row.slice() }, place);
      found += 1;
      if (isNewestFirst && found === offset + limit) break;
    }
    const page = best.from(offset);
    return lost === NO_MATCH ? page : page.filter(({ row }) => row[Row.match] !== lost);
  }
}
