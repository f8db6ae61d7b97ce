/**
 * GET /activity: the fills of a wallet as taker and as maker, one row each, in the shape of GET
 * /trades. All rows are trades: complete sets are minted and merged only by matches, and nothing is
 * redeemed.
 *
 * With the newest first, the search ends when the page is full; any other order reads every row of
 * the wallet in the ring of fills. In both cases the event loop has a turn after some hundred rows.
 *
 * Thread: I/O.
 */

import { tokenMarket } from '../../engine/reads.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { nextTurn } from '../common/next-turn.ts';
import { type TradesIndex, walletRows } from '../market-data/trades-index.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import { ROW_DOUBLES, Row, TradesSelector } from '../market-data/trades-select.ts';
import { Best } from './best.ts';
import type { ActivityQuery } from './portfolio-schemas.ts';

/** Rows that are read without a pause: a tenth of a millisecond; three tenths the first time. */
const ROWS_PER_TURN = 256;
/** Sequences start at 0. */
const NO_MATCH = -1;
const MS = 1_000;
const TRADE = 'trade';
/** Replaces the end of a row. */
const TYPE = Buffer.from(',"type":"TRADE"},');

/**
 * Rows that have been read, in the order of the answer. They are copied, because the fills may
 * leave the ring before they are written.
 */
interface ReadRows {
  readonly keys: readonly number[];
  /** ROW_DOUBLES numbers for each key. */
  readonly rows: Float64Array;
}

const NO_ROWS: ReadRows = { keys: [], rows: new Float64Array(0) };

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
    const { keys, rows } = await this.select(account, markets, query);
    await nextTurn();
    return this.renderer.renderRows(keys, rows, TYPE);
  }

  private async select(
    account: number,
    markets: ReadonlySet<number> | null,
    query: ActivityQuery,
  ): Promise<ReadRows> {
    const { end, limit, offset, sortBy, sortDirection, start, type } = query;
    if (account === 0 || limit === 0 || type?.includes(TRADE) === false) return NO_ROWS;
    const isNewestFirst = sortBy === 'TIMESTAMP' && sortDirection === 'DESC';
    const column = sortBy === 'TOKENS' ? Row.size : Row.collateral;
    const most = offset + limit;
    const best = new Best<number>(most, sortDirection === 'DESC');
    // Each row is read into a place that no row among the best uses.
    const keys = new Float64Array(most + 1);
    const rows = new Float64Array(keys.length * ROW_DOUBLES);
    let [spare, used] = [0, 1];
    const wanted = query.side === '' ? undefined : query.side === 'BUY' ? 0 : 1;
    const walk = walletRows(this.index, account);
    let [found, looked, lost] = [0, 0, NO_MATCH];
    for (let next = walk.next(); next.done !== true; next = walk.next()) {
      const key = next.value;
      if (looked >= ROWS_PER_TURN) {
        looked = 0;
        const match = this.selector.matchOf(key);
        await nextTurn();
        // A match is shown as a whole or not at all, so the rows of this match that were found are
        // dropped.
        lost = match < this.index.first ? match : NO_MATCH;
        if (lost !== NO_MATCH) break;
      }
      looked += 1;
      const at = spare * ROW_DOUBLES;
      this.selector.read(key, rows, at);
      const seconds = Math.floor(rows[at + Row.time]! / MS);
      if (seconds < start) break;
      if (seconds > end || (wanted !== undefined && rows[at + Row.side] !== wanted)) continue;
      const market = tokenMarket(this.index.t, rows[at + Row.token]! as TokenRow);
      if (markets !== null && !markets.has(market)) continue;
      keys[spare] = key;
      spare = best.add(spare, sortBy === 'TIMESTAMP' ? -found : rows[at + column]!) ?? used++;
      found += 1;
      if (isNewestFirst && found === most) break;
    }
    const places = best.from(offset);
    const isWhole = (place: number): boolean => rows[place * ROW_DOUBLES + Row.match] !== lost;
    return picked(keys, rows, lost === NO_MATCH ? places : places.filter(isWhole));
  }
}

function picked(keys: Float64Array, rows: Float64Array, places: readonly number[]): ReadRows {
  const own = new Float64Array(places.length * ROW_DOUBLES);
  for (const [i, place] of places.entries()) {
    const at = place * ROW_DOUBLES;
    own.set(rows.subarray(at, at + ROW_DOUBLES), i * ROW_DOUBLES);
  }
  return { keys: places.map((place) => keys[place]!), rows: own };
}
