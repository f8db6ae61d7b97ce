/** Bounds of the engine with their reasons, checked against each other at import. */
import { assert } from '../book/matching.ts';

/** Shares or collateral of one order, and the total of a price level: the exact integers of a double. */
export const AMOUNT_MAX = Number.MAX_SAFE_INTEGER;

/** Highest signed fee rate: above a tenth it is taken for a mistake (docs/protocol.md#bounds-of-an-order). */
export const FEE_BPS_MAX = 1_000;

/** Outcomes of one market: the widest one seen has 7, and a command must stay small. */
export const OUTCOMES_MAX = 64;

/** Commands of one batch: bounds the fills that can wait for the log. */
export const BATCH_COMMANDS_MAX = 8_192;

/** Orders that one command of a cancel of all visits, so that a writer turn stays short. */
export const CANCEL_ORDERS_MAX = 1_000;

/** Applied batches that may wait for the log; the I/O thread holds back beyond it. */
export const UNLOGGED_BATCHES_MAX = 64;

/**
 * Commands of all these batches: several times those that come in while a slow disk writes. The ring of fills has
 * room for their fills and is touched from end to end.
 */
export const UNLOGGED_COMMANDS_MAX = 23_200;

/**
 * Orders that wait for a taker delay at a time, those of them of one owner, and those that one batch places
 * (docs/protocol.md#taker-delay).
 */
export const DELAYED_ORDERS_MAX = 2_048;
export const DELAYED_OF_OWNER_MAX = 64;
export const DELAYED_STEP_MAX = 128;

/**
 * Fills whose settlement is not decided at a time, and those of them that one batch decides
 * (docs/protocol.md#unsettled-trades).
 */
export const UNSETTLED_FILLS_MAX = 2_048;
export const UNSETTLED_STEP_MAX = 256;

/** Longest time until a settlement is decided, in milliseconds. */
export const SETTLEMENT_MS_MAX = 600_000;

/** Longest taker delay of a market or of one order, in seconds. */
export const TAKER_DELAY_MAX = 3_600;

/**
 * Deposits less withdrawals: half of the exact integers, so that no sum of the ledger leaves them, whatever
 * rounding adds.
 */
export const DEPOSITED_MAX = 2 ** 52;

/** Stored ids of operators, and of users (docs/ledger.md#request-ids). */
export const REQUESTS_KEPT = 1_000_000;
export const REQUEST_ROWS = 2 ** 20;
/** Milliseconds by which an id may be ahead of the batch. */
export const REQUEST_AHEAD_MS = 300_000;

/** Milliseconds of batch time for which text ids of operators are stored. */
export const TEXT_ID_KEPT_MS = 400 * 24 * 60 * 60 * 1_000;
/** Expired ids that a command with a text id removes: more than it adds, and few enough for a short turn. */
export const TEXT_IDS_FORGOTTEN_MAX = 64;

/** Open orders of a signer that a change of signer visits: some milliseconds. */
export const SIGNER_ORDERS_WALKED_MAX = 65_536;

/** Codes of invitations ever, their batches, codes of one command, and bytes of the note of a batch. */
export const INVITES_MAX = 65_536;
export const INVITE_BATCHES_MAX = 1_024;
export const INVITES_OF_BATCH_MAX = 1_000;
export const INVITE_NOTE_BYTES_MAX = 80;

/**
 * Rows of agents, those of one wallet, markets that an agent may be bound to, and its open orders. What one change of a
 * signer cancels stays near CANCEL_ORDERS_MAX.
 */
export const AGENTS_MAX = 8_192;
export const AGENTS_OF_WALLET_MAX = 8;
export const AGENT_MARKETS_MAX = 64;
export const AGENT_ORDERS_MAX = 128;
/** Longest time for which an agent is authorised. */
export const AGENT_MS_MAX = 366 * 24 * 60 * 60 * 1_000;

export const PAYOUT_SUM_MAX = 10_000;

export const REVIEW_MS_MAX = 365 * 24 * 60 * 60 * 1_000;

/** Orders, then wallets, of one step of a resolution: the turn stays short, also with cold code. */
export const RESOLVE_STEP_MAX = 100;

/** Rows of the tables. A full table refuses orders and never stops the node (docs/protocol.md#full-tables). */
export interface Capacities {
  readonly markets: number;
  readonly tokens: number;
  readonly accounts: number;
  readonly orders: number;
  /** Rows of all ladders together: book/memory.ts tells how many a book takes. */
  readonly levels: number;
  /** Newest fills that GET /trades can reach. */
  readonly trades: number;
  readonly history: number;
  /** Rows of shares of a wallet in a token; 0 = no room for a ledger. */
  readonly positions: number;
  readonly operatorIds: number;
}

export const DEFAULT_CAPACITIES: Capacities = {
  markets: 65_536,
  tokens: 262_144,
  accounts: 1_048_576,
  orders: 1_048_576,
  levels: 8_388_608,
  trades: 1_000_000,
  history: 131_072,
  positions: 1_048_576,
  operatorIds: 1_048_576,
};

/** Rows of a ring: a power of two, so that a mask gives the row of a sequence. */
function ringRows(rows: number): number {
  return 2 ** Math.ceil(Math.log2(rows));
}

/**
 * Rows of the order table. An order keeps its row until its id is forgotten, so orders that wait for the disk never
 * exceed the rows reserved for them.
 */
export function orderRows(capacities: Capacities): number {
  return capacities.orders + capacities.history;
}

/** Rows of the ring of closed orders: a row of the order table is in it at most once. */
export function closedRows(capacities: Capacities): number {
  return ringRows(orderRows(capacities));
}

export function operatorIdRows({ operatorIds }: Capacities): number {
  return ringRows(Math.max(1, operatorIds));
}

/**
 * Rows of the ring of fills. A fill ends a maker or a taker, so the fills that wait for the log, and of a batch that is
 * being published, are at most the open orders, the delayed ones, and two for each of their commands. All but those of
 * the open orders have room beside the fills that can be reached. Only while fills of more orders wait is the reach
 * shorter (TradesIndex).
 */
export function fillRows({ orders, trades }: Capacities): number {
  const commands = UNLOGGED_COMMANDS_MAX + BATCH_COMMANDS_MAX;
  return Math.max(orders, trades) + DELAYED_ORDERS_MAX + 2 * commands;
}

assert(REQUESTS_KEPT <= REQUEST_ROWS, 'a ring has room for what is kept');
assert(DELAYED_OF_OWNER_MAX < 2 ** 8, 'a byte counts the delayed orders of an owner');
assert(TEXT_IDS_FORGOTTEN_MAX > 1, 'expired ids leave faster than ids come');
assert(2 * BATCH_COMMANDS_MAX <= UNLOGGED_COMMANDS_MAX, 'one batch fits beside another');
assert(FEE_BPS_MAX * 10_000 * 10_000 * 10_000 <= AMOUNT_MAX, 'fee products are exact');
