/**
 * GET /activity: the fills of a wallet as taker and as maker, one row each, in the shape of GET /trades; with a
 * ledger also its splits, merges and payouts (ledger-activity.ts). Newest first; of two at the same time the trade
 * comes first.
 *
 * With the newest first, the search ends when the page is full. Any other order reads every row of the wallet. Both
 * pause after some hundred rows.
 *
 * Thread: I/O.
 */

import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { tokenMarket } from '../../engine/reads.ts';
import type { AccountRow, TokenRow } from '../../engine/tables/units.ts';
import type { StatementsReader } from '../../storage/projection/reader.ts';
import { nextIteration } from '../common/event-loop.ts';
import { type TradesIndex, walletRows } from '../market-data/trades-index.ts';
import type { TradesRenderer } from '../market-data/trades-render.ts';
import { ROW_DOUBLES, Row, TradesSelector } from '../market-data/trades-select.ts';
import { ActivityWalk, NO_MATCH, NO_ROW } from './activity-walk.ts';
import { Best } from './best.ts';
import {
  type LedgerTextParts,
  LedgerWalk,
  ledgerRowText,
  wantedCauses,
} from './ledger-activity.ts';
import type { ActivityQuery } from './portfolio-schemas.ts';

/** Rows read without a pause: a tenth of a millisecond; three tenths the first time. */
const ROWS_PER_TURN = 256;
const MS = 1_000;
const TRADE = 'trade';
/** Replaces the end of a row. */
const TYPE = Buffer.from(',"type":"TRADE"},');

/** Rows in the order of the answer. They are copied, because the fills may leave the ring before they are written. */
interface ReadRows {
  readonly keys: readonly number[];
  readonly rows: Float64Array;
}

const NO_ROWS: ReadRows = { keys: [], rows: new Float64Array(0) };

interface ActivityParts extends LedgerTextParts {
  readonly index: TradesIndex;
  readonly trades: TradesRenderer;
  readonly statements: StatementsReader;
}

export class Activity {
  private readonly parts: ActivityParts;
  private readonly index: TradesIndex;
  private readonly selector: TradesSelector;

  constructor(parts: ActivityParts) {
    this.parts = parts;
    this.index = parts.index;
    this.selector = new TradesSelector(parts.index);
  }

  /** @param markets null = all */
  async render(
    account: number,
    markets: ReadonlySet<number> | null,
    query: ActivityQuery,
  ): Promise<Buffer> {
    const { keys, rows } = await this.select(account, markets, query);
    await nextIteration();
    const other = (row: number): Buffer => ledgerRowText(this.parts, rows, row);
    return this.parts.trades.renderRows(keys, rows, TYPE, other);
  }

  private async select(
    account: number,
    markets: ReadonlySet<number> | null,
    query: ActivityQuery,
  ): Promise<ReadRows> {
    const { end, limit, offset, sortBy, sortDirection, start } = query;
    if (account === 0 || limit === 0) return NO_ROWS;
    const isNewestFirst = sortBy === 'TIMESTAMP' && sortDirection === 'DESC';
    const column = sortBy === 'TOKENS' ? Row.size : Row.collateral;
    const most = offset + limit;
    const best = new Best<number>(most, sortDirection === 'DESC');
    // Each row is read into a place that no row among the best uses.
    const keys = new Float64Array(most + 1);
    const rows = new Float64Array(keys.length * ROW_DOUBLES);
    let [spare, used] = [0, 1];
    const wanted = query.side === '' ? undefined : query.side === 'BUY' ? 0 : 1;
    const walk = this.walk(account as AccountRow, query);
    let [found, looked] = [0, 0];
    for (;;) {
      if (looked >= ROWS_PER_TURN) {
        looked = 0;
        await walk.pause();
      }
      looked += 1;
      const at = spare * ROW_DOUBLES;
      const key = walk.next(rows, at);
      if (key === undefined) break;
      const seconds = Math.floor(rows[at + Row.time]! / MS);
      if (seconds < start) break;
      if (key === NO_ROW) continue;
      if (seconds > end || (wanted !== undefined && rows[at + Row.side] !== wanted)) continue;
      const market = tokenMarket(this.index.tables, rows[at + Row.token]! as TokenRow);
      if (markets !== null && !markets.has(market)) continue;
      keys[spare] = key;
      spare = best.add(spare, sortBy === 'TIMESTAMP' ? -found : rows[at + column]!) ?? used++;
      found += 1;
      if (isNewestFirst && found === most) break;
    }
    const places = best.from(offset);
    const isWhole = (place: number): boolean => rows[place * ROW_DOUBLES + Row.match] !== walk.lost;
    return picked(keys, rows, walk.lost === NO_MATCH ? places : places.filter(isWhole));
  }

  /** Walks the rows of the query's `type`. A side selects trades only. */
  private walk(account: AccountRow, { side, type }: ActivityQuery): ActivityWalk {
    const { index, statements } = this.parts;
    const trades = type?.includes(TRADE) === false ? undefined : walletRows(index, account);
    const causes = wantedCauses((name) => type?.includes(name.toLowerCase()) ?? true);
    const isOfLedger = ledgerIsOn(index.tables) && side === '' && causes.size > 0;
    const entries = isOfLedger ? new LedgerWalk(statements, account, causes) : undefined;
    return new ActivityWalk(this.selector, trades, entries);
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
