/**
 * The memory of the engine, drawn: which tables there are, how wide a row is, and where each column
 * lies in it. Offsets live here and nowhere else.
 *
 * The matching core reads and writes tables of its own (book/memory.ts): 32 bytes an order, used again at once.
 * The row of an order is here. It is written when the order is accepted, and read on request, when it trades and
 * when it closes. It stays in place as long as the order's id is known. Closing an order sets its status and close
 * reason, and adds its row to the queue of closed orders. Rows at the head of that queue are reused.
 *
 * Rows, not one array per column: an order is touched as a whole, so a row of two cache lines costs
 * two misses where a column each would cost a dozen. The links of an owner's list are a table of their
 * own, because a neighbour is touched for its links alone (bench/README.md).
 *
 *   order (128 bytes)  id (8) | remaining f64 | price | flags | token | owner | maker | heap
 *                      original f64 | budget f64 | expiry f64 | created f64 | apiKey (4) | ended f64
 *                      slot | position
 *   link (8 bytes)     ownerNext | ownerPrev
 *   wallets (4 bytes)  by account: how many wallets are bound to it, its own address left out. It
 *                      follows from the bindings, so snapshots leave it out.
 *   walletOrders (4)   by account: its open orders as their wallet. As wallets, left out of snapshots.
 *   finished (8 bytes) row | tag of its id: a closed order, by sequence
 *   delays (4 bytes)   heap of the orders that wait for a taker delay
 *   unsettled (256)    a fill (40) | sequence f64 | due f64 | before f64 (2) | positions (2) | prices (2) | sides (2) |
 *                      is last (2) | fails | fault | - - - -   by due time, without gaps
 *   inviteBatches (128) created f64 | cash f64 | codes | redeemed | revoked | bytes of its note | batches | - - - | note (20)
 *                      row 0 has the sums of all, and the number of batches
 *   invites (64)       digest (8) | wallet (5) | batch | state | -
 *   delayCounts (1)    by account: how many of them are its own. As wallets, left out of snapshots.
 *
 * With a ledger (docs/ledger.md#tables):
 *
 *   cash (32 bytes)       by account: total f64 | reserved f64 | head | count | relayed | next house
 *   position (32 bytes)   total f64 | reserved f64 | account | token | holds | next free
 *   positionLinks (16)    by position: its neighbours in the lists of its account and of its token
 *   positionCosts (8)     by position: what its shares cost, f64; used once there was a limit of exposure
 *   walletCosts (8)       by account: their sum, f64. As wallets, left out of snapshots.
 *   holders (16 bytes)    by token: shares of the venue f64 | head | count
 *   resolution (256)      market | state | isVoid | sum | paid f64 | deadline f64 | group (8) | weights (32) | -
 *   request (64 bytes)    ms f64 | amount f64 | result f64 | time f64 | key (4) | kind | subject | other | -
 *   operatorId (64)       as a request: ids of operators that are texts; ms is 0
 *   agent (512)           cash f64 | size f64 | end f64 | spent f64 | created f64 | - - | wallet | state | markets | owner |
 *                         agent (5) | day | - | markets (64)   row 0 has the earliest end and the number of rows
 *   agentAccounts (1/8)   by account: a bit for one that was made for an order of an agent
 *   agentOrders (516)     by agent: count | rows of its open orders (128). As wallets, left out of snapshots.
 *
 * `*I` views are Int32, `*F` views Float64 over the same bytes: word w of a row is f64 w / 2.
 */
import { assert } from '../book/matching.ts';
import { AGENT_MARKETS_MAX, AGENT_ORDERS_MAX, INVITE_NOTE_BYTES_MAX } from './capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS } from './codes.ts';

export const ORDER_I = 5;
export const ORDER_F = 4;
export const Order = {
  // Int32 columns
  id: 0,
  /** Ticks of its book while open; pips of its own token once closed. */
  price: 10,
  flags: 11,
  token: 12,
  owner: 13,
  maker: 14,
  /** 1-based index in the expiry heap; 0 = not in it. */
  heap: 15,
  apiKey: 24,
  // Float64 columns
  remaining: 4,
  original: 8,
  /** Collateral that a BUY may still pay; in all never more than its makerAmount. */
  budget: 9,
  /** Unix seconds; 0 = never. `created` and `closedAt` are unix milliseconds. */
  expiry: 10,
  created: 11,
  closedAt: 14,
  /** Unix milliseconds at which a delayed order is placed. */
  dueAt: 14,
  // Int32: its slot in the matching core while it rests; 0 = it does not; negative: it is delayed, later ones lower.
  restingSlot: 30,
  /** Position that an open order trades, with a ledger; 0 = none. */
  position: 31,
  /** Int32: next row in the list of free rows of source levels; 0 = none. */
  nextFree: 13,
} as const;

export const LINK_I = 1;
/** Neighbours of an open order in its owner's list: slots of the matching core, as is the row. */
export const Link = { ownerNext: 0, ownerPrev: 1 } as const;

export const CLOSED_I = 1;
export const Closed = { row: 0, tag: 1 } as const;

export const Flag = {
  /** 0 bid, 1 ask, in the prices of the book; `sell` is 0 BUY, 1 SELL, of its own token. */
  ask: 1 << 0,
  sell: 1 << 1,
  source: 1 << 6,
  typeShift: 2,
  signatureShift: 4,
  feeShift: 8,
  statusShift: 20,
  reasonShift: 23,
  /** The order was delayed before it was placed. */
  delayed: 1 << 27,
  /** Its signer is an agent of its wallet. */
  agent: 1 << 28,
} as const;

export const MARKET_I = 5;
export const MARKET_F = 4;
export const Market = {
  condition: 0,
  flags: 8,
  ticksPerUnit: 9,
  baseFeeBps: 10,
  /** Fee schedule (docs/protocol.md#fees): rate in millionths, 0 = none; exponent; rebate in millionths. */
  feeRate: 15,
  feeExponent: 29,
  feeRebate: 30,
  /** Seconds for which an order that would match waits (docs/protocol.md#taker-delay); 0 = none. */
  takerDelay: 31,
  firstToken: 11,
  tokenCount: 12,
  firstBook: 13,
  bookCount: 14,
  // Float64
  minSize: 8,
  /** Micro-units of collateral by which settlement differs from the exact sums (docs/protocol.md#settlement). */
  rounding: 9,
  registeredAt: 10,
  /** Collateral of its complete sets in micro-units, with a ledger. */
  collateral: 11,
  // Int32: its row in the table of resolutions once it resolves; 0 = it does not.
  resolution: 24,
  heap: 25,
  /** Float64: unix milliseconds from which on it takes no orders; 0 = no end. */
  end: 13,
  /** Row of resolutions from the first proposal on; 0 = none. */
  proposal: 28,
} as const;
export const TOKEN_I = 4;
export const Token = {
  id: 0,
  market: 8,
  outcome: 9,
  book: 10,
  /** 1 = prices of the book are 1 less its own. */
  mirrored: 11,
  complement: 12,
  lastPrice: 13,
  lastSide: 14,
} as const;

export const BOOK_I = 4;
export const BOOK_F = 3;
export const Book = {
  /** Odd while a writer is inside. Compared for equality only, because it wraps. */
  version: 0,
  market: 1,
  ticksPerUnit: 2,
  firstToken: 3,
  // Float64: unix milliseconds of the last change.
  changedAt: 4,
} as const;

export const ACCOUNT_I = 3;
export const Account = {
  address: 0,
  /** Account whose key signs for this wallet; 0 = not bound. */
  binding: 5,
  /** Slot of the newest open order in the matching core. */
  openHead: 6,
  openCount: 7,
} as const;

/** Fill row of 160 bytes. Fill `n` lies at row n % rows. */
export const FILL_WORDS = 40;
export const FILL_DOUBLES = 20;
export const Fill = {
  // Float64
  time: 0,
  size: 1,
  /** Sequence of the first fill of the match, shared by all fills of one taker. */
  match: 2,
  takerCollateral: 3,
  makerCollateral: 4,
  /** Fee of the taker in micro-units: of a schedule collateral; else shares when it buys, collateral when it sells. */
  fee: 5,
  // Int32
  kind: 12,
  takerSide: 13,
  takerToken: 14,
  makerToken: 15,
  takerPrice: 16,
  makerPrice: 17,
  taker: 18,
  maker: 19,
  takerOwner: 20,
  makerOwner: 21,
  takerId: 22,
  makerId: 30,
  /** FillTerm; the rebate of its schedule in millionths follows. */
  terms: 38,
  rebate: 39,
} as const;
/** Bits of Fill.terms. */
export const FillTerm = {
  /** Its fee is of a schedule. */
  scheduled: 1,
  /** Its settlement was decided later, and whether it then failed (docs/protocol.md#unsettled-trades). */
  unsettled: 2,
  fails: 4,
} as const;

export const UNSETTLED_I = 6;
export const UNSETTLED_F = 5;
/** Row of a fill that is not settled. Its first columns are those of Fill; pairs are of the taker, then of the maker. */
export const Unsettled = {
  // Float64
  sequence: 20,
  /** Unix milliseconds. */
  dueAt: 21,
  /** Sequence of the unsettled fill before it whose price `price` is; -1 = none. */
  before: 22,
  // Int32
  position: 48,
  /** Last trade of its token before it, as in Token. */
  price: 50,
  side: 52,
  /** 1 while it is the last trade of its token. */
  isLast: 54,
  fails: 56,
  /** Number of the fault that asked for it. */
  fault: 57,
} as const;

export const INVITE_BATCH_I = 5;
export const INVITE_BATCH_F = 4;
export const InviteBatch = {
  // Float64: unix milliseconds, and micro-units that each code brings.
  created: 0,
  cash: 1,
  // Int32
  codes: 4,
  redeemed: 5,
  revoked: 6,
  noteBytes: 7,
  /** In row 0 alone. */
  batches: 8,
  note: 12,
} as const;

export const INVITE_I = 4;
export const Invite = {
  /** SHA-256 of the code. */
  digest: 0,
  /** Address that redeemed it. */
  wallet: 8,
  batch: 13,
  /** InviteState. */
  state: 14,
} as const;
export const InviteState = { open: 0, redeemed: 1, revoked: 2 } as const;

export const AGENT_I = 7;
export const AGENT_F = 6;
export const Agent = {
  // Float64: micro-units a day, micro-shares of an order, and unix milliseconds.
  cash: 0,
  size: 1,
  /** In row 0 the earliest end of an active agent; 0 = none. */
  end: 2,
  /** Micro-units that purchases of `day` have paid, with fees. */
  spent: 3,
  created: 4,
  // Int32
  wallet: 14,
  /** AgentState. */
  state: 15,
  /** Number of markets that it may trade; 0 = all. */
  marketCount: 16,
  /** Account that authorised it: its authority ends where another signs for the wallet. */
  owner: 17,
  address: 18,
  /** Days since 1970 of `spent`, in UTC. */
  day: 23,
  /** In row 0 alone: rows ever used. */
  rows: 24,
  markets: 64,
} as const;
export const AgentState = { active: 1, ended: 2, revoked: 3 } as const;

/** Words of a row of agentOrders. */
export const AGENT_ORDERS_WORDS = 1 + AGENT_ORDERS_MAX;

export const State = {
  time: 0,
  batch: 1,
  fills: 2,
  /** Digest of every change so far; each batch continues that of the one before. */
  digest: 3,
  markets: 4,
  tokens: 5,
  books: 6,
  accounts: 7,
  openOrders: 8,
  /** Order rows ever used. Rows above it were never touched. */
  orderRows: 9,
  /** Sequence of the next closed order, and of the oldest whose id is in the index. */
  closed: 10,
  firstKeptClosed: 11,
  /** Sequence of the oldest closed order whose row was not used again. */
  nextReusableClosed: 12,
  expiries: 13,
  selfTrade: 14,
  history: 15,
  /** Open orders of an account, rows of orders, wallets of a signer beside its own address; 0 = no bound. */
  openOrdersPerAccount: 16,
  orderRowsMax: 17,
  walletsPerSigner: 18,
  /** 1 = with a ledger, as the first batch decides. */
  ledger: 19,
  /** Resting source levels, their first free row (0 = none), and the number of free ones. */
  sourceLevels: 20,
  freeSourceRow: 21,
  freeSourceRows: 22,
  ends: 23,
  endsReached: 24,
  /** Fee schedules that were ever set: a snapshot with one has a format of its own. */
  feeSchedules: 25,
  /** Delayed orders now and ever, and taker delays that were ever set: a snapshot with one has a format of its own. */
  delays: 26,
  delayed: 27,
  takerDelays: 28,
  /** Unsettled fills now and ever: a snapshot after one has the format of delays. */
  unsettled: 29,
  unsettledEver: 30,
  /** Open orders of a wallet; 0 = no bound. A snapshot with one has the format of delays. */
  openOrdersPerWallet: 31,
  size: 32,
} as const;

export const Ledger = {
  deposited: 0,
  cash: 1,
  collateral: 2,
  /** Cash of the venue: fees and rounding. */
  fees: 3,
  rounding: 4,
  imbalance: 5,
  entries: 6,
  /** Rows of positions ever used, first free one (0 = none), and number in use. */
  positionRows: 7,
  freePosition: 8,
  positions: 9,
  /** Rows of resolutions, and resolutions that have begun and are not done. */
  resolutions: 10,
  resolving: 11,
  /** Sequence of the next request, and newest forgotten milliseconds, by realm. */
  requests: 12,
  forgotten: 14,
  /** Text ids: sequence of the next one, of the oldest stored one, and highest number so far. */
  operatorIds: 16,
  firstOperatorId: 17,
  operatorIdsMost: 18,
  /** Proposals, and earliest deadline (unix milliseconds; 0 = none). */
  proposals: 19,
  earliestDeadline: 20,
  begunAtDeadline: 21,
  /** Fees of unsettled fills, which nobody can be paid. */
  heldFees: 22,
  /** Relayed batches of all wallets: a snapshot after one has the format of delays. */
  relayed: 23,
  /** Newest account of the house; 0 = none. A snapshot with one has the format of delays. */
  newestHouse: 24,
  /** Micro-units; 0 = there never was a limit. A snapshot with one has the format of delays. */
  exposurePerWallet: 27,
  /** Seasons whose end has begun, start sum and unix milliseconds of the last one, and its next account (0 = it is done). */
  seasons: 28,
  seasonStart: 29,
  seasonEndedAt: 30,
  seasonNext: 31,
  size: 32,
} as const;

export const CASH_I = 3;
export const CASH_F = 2;
export const Cash = {
  total: 0,
  reserved: 1,
  head: 4,
  count: 5,
  /** Int32: relayed batches of the wallet, which is also the nonce of its next one. */
  relayed: 6,
  /** Int32: next account of the house, -1 for the last one; 0 = it is none of the house. */
  nextHouse: 7,
} as const;

export const POSITION_I = 3;
export const POSITION_F = 2;
export const Position = {
  // Float64
  total: 0,
  reserved: 1,
  // Int32
  account: 4,
  token: 5,
  holds: 6,
  nextFree: 7,
} as const;

export const POSITION_LINK_I = 2;
export const PositionLink = {
  accountNext: 0,
  accountPrev: 1,
  tokenNext: 2,
  tokenPrev: 3,
} as const;

export const HOLDER_I = 2;
export const HOLDER_F = 1;
export const Holder = { venue: 0, head: 2, count: 3 } as const;

export const RESOLUTION_I = 6;
export const RESOLUTION_F = 5;
export const Resolution = {
  market: 0,
  state: 1,
  isVoid: 2,
  sum: 3,
  // Float64: what holders were paid so far.
  paid: 2,
  deadline: 3,
  // Int32
  group: 8,
  weights: 16,
} as const;

export const REQUEST_I = 4;
export const REQUEST_F = 3;
export const Request = {
  // Float64
  ms: 0,
  amount: 1,
  result: 2,
  time: 3,
  // Int32
  key: 8,
  kind: 12,
  subject: 13,
  other: 14,
} as const;

export const TABLE_NAMES = [
  'state',
  'markets',
  'tokens',
  'books',
  'accounts',
  'wallets',
  'orders',
  'links',
  'finished',
  'matchingHeader',
  'matchingBooks',
  'matchingRows',
  'expiries',
  'ends',
  'delays',
  'unsettled',
  'delayCounts',
  'walletOrders',
  'ledger',
  'cash',
  'positions',
  'positionLinks',
  'positionCosts',
  'walletCosts',
  'holders',
  'resolutions',
  'requests',
  'operatorIds',
  'inviteBatches',
  'invites',
  'agents',
  'agentOrders',
  'agentAccounts',
  'marketIndex',
  'tokenIndex',
  'accountIndex',
  'orderIndex',
  'positionIndex',
  'requestIndex',
  'operatorIdIndex',
  'inviteIndex',
  'agentIndex',
  'fills',
] as const;
export type TableName = (typeof TABLE_NAMES)[number];

assert(2 * Market.end > Market.heap, 'columns of a market do not overlap');
assert(2 * Order.closedAt >= Order.apiKey + API_KEY_WORDS, 'columns of an order do not overlap');
assert(Order.restingSlot >= 2 * Order.closedAt + 2, 'columns of an order do not overlap');
assert(
  4 * (InviteBatch.note + INVITE_NOTE_BYTES_MAX / 4) === 4 << INVITE_BATCH_I,
  'a batch of codes has room for its note',
);
assert(Agent.address + ADDRESS_WORDS === Agent.day, 'an agent row holds its address');
assert(Agent.markets + AGENT_MARKETS_MAX === 1 << AGENT_I, 'an agent row holds its markets');
assert(Fill.makerId + ID_WORDS <= Fill.terms, 'a fill row holds both ids');
assert(Fill.rebate < FILL_WORDS, 'a fill row holds its rebate');
