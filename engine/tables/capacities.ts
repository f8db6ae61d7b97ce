/** Every bound of the engine, with its reason. Cross-checked at import. */
import { assert } from '../book/matching.ts';

/** Shares or collateral of one order, and the total of a level: the exact integers of a double. */
export const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;

/** A signed fee rate above a tenth is taken for a mistake (docs/protocol.md#bounds-of-an-order). */
export const FEE_BPS_MAX = 1_000;

/** Outcomes of one market: the widest market seen in the field has 7; a command must stay small. */
export const OUTCOMES_MAX = 64;

/** Commands of one batch, which bounds how many fills can wait for the log. */
export const BATCH_COMMANDS_MAX = 8_192;

/** Orders of an owner that one command looks at when it cancels them all: a turn stays short. */
export const CANCEL_ORDERS_MAX = 1_000;

/** Batches that may be applied and not yet in the log; the I/O thread holds back beyond it. */
export const UNLOGGED_BATCHES_MAX = 64;

/**
 * Commands of all these batches: several times what comes in while a slow disk writes. The ring of fills has
 * room for what they do, and is touched from one end to the other; with the default tables two million rows
 * are enough of them.
 */
export const UNLOGGED_COMMANDS_MAX = 24_000;

/**
 * What was deposited less what was withdrawn: half of the exact integers, so that no sum of the ledger leaves
 * them, whatever rounding adds.
 */
export const DEPOSITED_MAX = 2 ** 52;

/** Ids of requests that are kept of operators, and of users (docs/ledger.md#request-ids). */
export const REQUESTS_KEPT = 1_000_000;
/** Rows of each of the two rings. */
export const REQUEST_ROWS = 2 ** 20;
/** How far the milliseconds of an id may be ahead of the batch. */
export const REQUEST_AHEAD_MS = 300_000;

/** Batch time for which the ids of operators that are texts are kept. */
export const TEXT_ID_KEPT_MS = 400 * 24 * 60 * 60 * 1_000;
/** Expired ids that a command with such an id removes: more than it adds, and few enough for a short turn. */
export const TEXT_IDS_FORGOTTEN_MAX = 64;

/** Open orders of a signer that a command looks at when the signer of a wallet changes: some milliseconds. */
export const SIGNER_ORDERS_WALKED_MAX = 65_536;

/** Sum of the weights of a payout. */
export const PAYOUT_SUM_MAX = 10_000;

/** Longest time for which a payout may be a proposal: a year. */
export const REVIEW_MS_MAX = 365 * 24 * 60 * 60 * 1_000;

/** Orders, then wallets, of one step of a resolution: a turn stays short, also one whose code is still cold. */
export const RESOLVE_STEP_MAX = 100;

/**
 * Sizes of the tables, in rows. A full table is a per-order error, never a crash
 * (docs/protocol.md#full-tables).
 */
export interface Capacities {
  readonly markets: number;
  readonly tokens: number;
  readonly accounts: number;
  /** Open orders. */
  readonly orders: number;
  /** Rows of all ladders together: matching/memory.ts says how many a book takes. */
  readonly levels: number;
  /** Newest fills that GET /trades can reach. */
  readonly trades: number;
  /** Newest finished orders whose ids stay in memory. */
  readonly history: number;
  /** Shares of a wallet in a token. 0 = no room for a ledger. */
  readonly positions: number;
  /** Ids of operators that are texts; each is kept for TEXT_ID_KEPT_MS. */
  readonly operatorIds: number;
}

export const DEFAULT_CAPACITIES: Capacities = {
  markets: 65_536,
  tokens: 262_144,
  accounts: 1_048_576,
  orders: 1_048_576,
  levels: 8_388_608,
  trades: 1_000_000,
  history: 1_048_576,
  positions: 1_048_576,
  operatorIds: 1_048_576,
};

/** A ring has a power of two of rows, so that a sequence finds its row by a mask. */
function ringRows(rows: number): number {
  return 2 ** Math.ceil(Math.log2(rows));
}

/**
 * Rows of the order table: each order that is taken in keeps its row until its id is forgotten, so
 * those that wait to be flushed never exceed what was reserved for them when they came.
 */
export function orderRows(capacities: Capacities): number {
  return capacities.orders + capacities.history;
}

/** Rows of the ring of finished orders: a row of the order table is in it once at most. */
export function closedRows(capacities: Capacities): number {
  return ringRows(orderRows(capacities));
}

/** Rows of the ring of ids of operators that are texts. */
export function operatorIdRows({ operatorIds }: Capacities): number {
  return ringRows(Math.max(1, operatorIds));
}

/**
 * Rows of the ring of fills. A fill ends a maker or a taker, so the fills that wait for the log
 * are at most the open orders plus two for each command that waits with them.
 */
export function fillRows(capacities: Capacities): number {
  return ringRows(capacities.trades + capacities.orders + 2 * UNLOGGED_COMMANDS_MAX);
}

assert(REQUESTS_KEPT <= REQUEST_ROWS, 'a ring has room for what is kept');
assert(TEXT_IDS_FORGOTTEN_MAX > 1, 'expired ids leave faster than ids come');
assert(2 * BATCH_COMMANDS_MAX <= UNLOGGED_COMMANDS_MAX, 'one batch fits beside another');
assert(FEE_BPS_MAX * 10_000 * 10_000 * 10_000 <= AMOUNT_MAX, 'fee products are exact');
