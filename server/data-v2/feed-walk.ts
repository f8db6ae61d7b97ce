/**
 * Rows of GET /v2/activity in the order of time: a page behind a row of the page before.
 *
 * Newest first; of two at the same time the trade comes first. Oldest first is the reverse, and reads every row from
 * the newest to the page.
 *
 * Thread: I/O.
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { tokenMarket } from '../../engine/reads.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import type { StatementsReader } from '../../storage/projection/reader.ts';
import { microText } from '../common/decimal.ts';
import { transactionHash } from '../market-data/match-ids.ts';
import { type TradesIndex, walletRows } from '../market-data/trades-index.ts';
import { ROW_DOUBLES, Row, TradesSelector } from '../market-data/trades-select.ts';
import { ActivityWalk, NO_MATCH, NO_ROW } from '../wallet/activity-walk.ts';
import { LedgerWalk, ledgerRowHash, typeOfCause, wantedCauses } from '../wallet/ledger-activity.ts';
import { type RowTexts, rowText } from './row-texts.ts';

/** Rows read without a pause: a tenth of a millisecond; three tenths the first time. */
const ROWS_PER_TURN = 256;
const MS = 1_000;
const SIDES = ['BUY', 'SELL'] as const;
const TRADE = 'TRADE';

/** A row by its unix milliseconds, match and key. */
export interface FeedPlace {
  readonly time: number;
  readonly key: number;
  readonly match: number;
}

export interface FeedQuery {
  readonly type: readonly string[] | null;
  readonly side: string;
  /** Unix seconds, both inclusive. */
  readonly start: number;
  readonly end: number;
  readonly sort_direction: 'ASC' | 'DESC';
}

interface FeedParts {
  readonly index: TradesIndex;
  readonly statements: StatementsReader;
  readonly account: AccountRow;
  /** Null = all. */
  readonly markets: ReadonlySet<MarketRow> | null;
  readonly query: FeedQuery;
}

export interface FeedPage {
  /** Keys of the rows; those of trades are from 0 on. */
  readonly keys: readonly number[];
  /** ROW_DOUBLES numbers of each row. */
  readonly read: Float64Array;
  readonly isMore: boolean;
}

/** Reads the rows of a page. @param after row before the page; undefined on the first page */
export async function feedPage(
  parts: FeedParts,
  limit: number,
  after: FeedPlace | undefined,
): Promise<FeedPage> {
  const { query } = parts;
  const isOldestFirst = query.sort_direction === 'ASC';
  const walk = walkOf(parts);
  // The newest rows of the walk, or the last ones; one more shows that there are others.
  const kept = limit + 1;
  const keys = new Float64Array(kept + 1);
  const rows = new Float64Array(keys.length * ROW_DOUBLES);
  const slotOf = (place: number): number => place % keys.length;
  let found = 0;
  for (let looked = 1; isOldestFirst || found < kept; looked++) {
    if (looked % ROWS_PER_TURN === 0) await walk.pause();
    const at = slotOf(found) * ROW_DOUBLES;
    const key = walk.next(rows, at);
    if (key === undefined || Math.floor(rows[at + Row.time]! / MS) < query.start) break;
    if (key === NO_ROW) continue;
    const order = after === undefined ? 0 : compare(rows, at, key, after);
    if (isOldestFirst && after !== undefined && order >= 0) break;
    if (!isOldestFirst && after !== undefined && order <= 0) continue;
    if (!passes(parts, rows, at)) continue;
    keys[slotOf(found)] = key;
    found += 1;
  }
  const places = Array.from({ length: Math.min(found, kept) }, (_, i) =>
    slotOf(isOldestFirst ? found - 1 - i : i),
  );
  const isWhole = (slot: number): boolean =>
    walk.lost === NO_MATCH || rows[slot * ROW_DOUBLES + Row.match] !== walk.lost;
  const shown = places.slice(0, limit).filter(isWhole);
  const read = new Float64Array(shown.length * ROW_DOUBLES);
  for (const [i, slot] of shown.entries()) {
    const at = slot * ROW_DOUBLES;
    read.set(rows.subarray(at, at + ROW_DOUBLES), i * ROW_DOUBLES);
  }
  return { keys: shown.map((slot) => keys[slot]!), read, isMore: found > limit };
}

function walkOf({ account, index, query, statements }: FeedParts): ActivityWalk {
  const { side, type } = query;
  const isNamed = (name: string): boolean => type?.includes(name) ?? true;
  const trades = isNamed(TRADE) ? walletRows(index, account) : undefined;
  const causes = wantedCauses(isNamed);
  // Only trades have a side.
  const isOfLedger = ledgerIsOn(index.tables) && side === '' && causes.size > 0;
  const entries = isOfLedger ? new LedgerWalk(statements, account, causes) : undefined;
  return new ActivityWalk(new TradesSelector(index, 0), trades, entries);
}

function passes({ index, markets, query }: FeedParts, rows: Float64Array, at: number): boolean {
  if (Math.floor(rows[at + Row.time]! / MS) > query.end) return false;
  if (query.side !== '' && SIDES[rows[at + Row.side]!] !== query.side) return false;
  if (markets === null) return true;
  const token = rows[at + Row.token]! as TokenRow | 0;
  return token !== 0 && markets.has(tokenMarket(index.tables, token));
}

/** Positive behind the place in the order of the newest first, negative before it. */
function compare(rows: Float64Array, at: number, key: number, place: FeedPlace): number {
  const time = rows[at + Row.time]!;
  if (time !== place.time) return place.time - time;
  const isTrade = key >= 0;
  if (isTrade !== place.key >= 0) return isTrade ? -1 : 1;
  const match = rows[at + Row.match]!;
  if (isTrade && match !== place.match) return place.match - match;
  return key - place.key;
}

/** Numbers of a trade, and its members in the order of the rows. */
export function tradeText(
  texts: RowTexts,
  rows: Float64Array,
  at: number,
  more: { readonly numbers?: Readonly<Record<string, string>>; readonly rest?: object } = {},
): string {
  const token = rows[at + Row.token]! as TokenRow;
  return rowText(
    {
      size: microText(rows[at + Row.size]!),
      price: microText(rows[at + Row.price]!),
      ...more.numbers,
    },
    {
      proxy_wallet: texts.wallet(rows[at + Row.account]! as AccountRow),
      side: SIDES[rows[at + Row.side]!],
      token_id: texts.tokenId(token),
      condition_id: texts.conditionId(tokenMarket(texts.tables, token)),
      timestamp: Math.floor(rows[at + Row.time]! / MS),
      ...texts.ofToken(token),
      ...texts.profile(rows[at + Row.account]! as AccountRow),
      transaction_hash: transactionHash(rows[at + Row.match]!),
      ...more.rest,
    },
  );
}

/** JSON of a row of activity. @param key below 0 of a row that is no trade */
export function activityText(texts: RowTexts, rows: Float64Array, at: number, key: number): string {
  const numbers = { usdc_size: microText(rows[at + Row.collateral]!) };
  if (key >= 0) return tradeText(texts, rows, at, { numbers, rest: { type: TRADE } });
  const token = rows[at + Row.token]! as TokenRow | 0;
  const market = token === 0 ? 0 : tokenMarket(texts.tables, token);
  return rowText(
    { size: microText(rows[at + Row.size]!), price: '0', ...numbers },
    {
      proxy_wallet: texts.wallet(rows[at + Row.account]! as AccountRow),
      side: '',
      token_id: '',
      condition_id: market === 0 ? '' : texts.conditionId(market),
      timestamp: Math.floor(rows[at + Row.time]! / MS),
      ...texts.ofMarket(market),
      ...texts.profile(rows[at + Row.account]! as AccountRow),
      transaction_hash: ledgerRowHash(key),
      type: typeOfCause(rows[at + Row.side]!),
    },
  );
}
