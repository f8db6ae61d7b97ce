/**
 * Tables of layout.ts as typed views over shared buffers. Allocated once at boot and never grown, because other
 * threads hold the same buffers.
 *
 * Thread: the worker that holds its turn writes; everyone may read, books under their version.
 */
import {
  allocateTable,
  assert,
  doublesOf,
  Matching,
  matchingBytes,
  matchingSpans,
  matchingUse,
  type TableBytes,
  wordsOf,
} from '../book/matching.ts';
import {
  AGENTS_MAX,
  type Capacities,
  closedRows,
  DELAYED_ORDERS_MAX,
  fillRows,
  INVITE_BATCHES_MAX,
  INVITES_MAX,
  operatorIdRows,
  orderRows,
  REQUEST_ROWS,
  REQUESTS_KEPT,
  UNSETTLED_FILLS_MAX,
} from './capacities.ts';
import { DelayedHeap } from './delayed-heap.ts';
import { DueHeap } from './due-heap.ts';
import {
  ACCOUNT_I,
  AGENT_I,
  AGENT_ORDERS_WORDS,
  Agent,
  BOOK_I,
  CASH_I,
  CLOSED_I,
  FILL_WORDS,
  HOLDER_I,
  INVITE_BATCH_I,
  INVITE_I,
  InviteBatch,
  Ledger,
  LINK_I,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  POSITION_I,
  POSITION_LINK_I,
  REQUEST_I,
  RESOLUTION_I,
  State,
  TABLE_NAMES,
  type TableName,
  TOKEN_I,
  UNSETTLED_I,
} from './layout.ts';
import type { MarketRow, OrderRow } from './units.ts';

export interface EngineMemory {
  readonly capacities: Capacities;
  readonly buffers: Readonly<Record<TableName, TableBytes>>;
}

function indexEntries(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, rows * 2)));
}

const INDEX_ENTRY_BYTES = 8;

export function tableShapes(c: Capacities): Record<TableName, number> {
  const matching = matchingBytes({ books: c.tokens, orders: c.orders, levels: c.levels });
  return {
    state: State.size * 8,
    markets: (c.markets + 1) * (4 << MARKET_I),
    tokens: (c.tokens + 1) * (4 << TOKEN_I),
    books: (c.tokens + 1) * (4 << BOOK_I),
    accounts: (c.accounts + 1) * (4 << ACCOUNT_I),
    wallets: (c.accounts + 1) * 4,
    orders: (orderRows(c) + 1) * (4 << ORDER_I),
    links: (c.orders + 1) * (4 << LINK_I),
    finished: closedRows(c) * (4 << CLOSED_I),
    matchingHeader: matching.header,
    matchingBooks: matching.books,
    matchingRows: matching.rows,
    expiries: (c.orders + 2) * 4,
    ends: (c.markets + 2) * 4,
    delays: (DELAYED_ORDERS_MAX + 2) * 4,
    unsettled: (c.positions === 0 ? 1 : UNSETTLED_FILLS_MAX) * (4 << UNSETTLED_I),
    delayCounts: c.accounts + 1,
    walletOrders: (c.accounts + 1) * 4,
    inviteBatches: (INVITE_BATCHES_MAX + 1) * (4 << INVITE_BATCH_I),
    invites: (INVITES_MAX + 1) * (4 << INVITE_I),
    // Entries of codes, and of the wallets that redeemed them.
    inviteIndex: indexEntries(2 * INVITES_MAX) * INDEX_ENTRY_BYTES,
    marketIndex: indexEntries(c.markets) * INDEX_ENTRY_BYTES,
    tokenIndex: indexEntries(c.tokens) * INDEX_ENTRY_BYTES,
    accountIndex: indexEntries(c.accounts) * INDEX_ENTRY_BYTES,
    orderIndex: indexEntries(orderRows(c)) * INDEX_ENTRY_BYTES,
    fills: fillRows(c) * FILL_WORDS * 4,
    ...ledgerShapes(c),
  };
}

/** Rows of tables have at most so many bytes, so a table of a block begins as one of its own does. */
const ROW_BYTES_MAX = 128;

/** Rings of request ids: operators and users. */
export const REALMS = 2;

/** Bytes of the ledger's tables; almost none without room for positions. */
function ledgerShapes(c: Capacities) {
  const rows = (count: number): number => (c.positions === 0 ? 1 : count);
  return {
    ledger: Ledger.size * 8,
    cash: rows(c.accounts + 1) * (4 << CASH_I),
    positions: (c.positions + 1) * (4 << POSITION_I),
    positionLinks: (c.positions + 1) * (4 << POSITION_LINK_I),
    positionCosts: (c.positions + 1) * 8,
    walletCosts: rows(c.accounts + 1) * 8,
    holders: rows(c.tokens + 1) * (4 << HOLDER_I),
    resolutions: rows(c.markets + 1) * (4 << RESOLUTION_I),
    agents: rows(AGENTS_MAX + 1) * (4 << AGENT_I),
    agentAccounts: rows((c.accounts >> 5) + 1) * 4,
    agentOrders: rows(AGENTS_MAX + 1) * AGENT_ORDERS_WORDS * 4,
    // Entries of wallets, and of agents.
    agentIndex: indexEntries(rows(2 * AGENTS_MAX)) * INDEX_ENTRY_BYTES,
    requests: rows(REALMS * REQUEST_ROWS) * (4 << REQUEST_I),
    operatorIds: rows(operatorIdRows(c)) * (4 << REQUEST_I),
    positionIndex: indexEntries(c.positions) * INDEX_ENTRY_BYTES,
    requestIndex: indexEntries(rows(REALMS * REQUESTS_KEPT)) * INDEX_ENTRY_BYTES,
    operatorIdIndex: indexEntries(rows(operatorIdRows(c))) * INDEX_ENTRY_BYTES,
  };
}

export function allocateEngine(capacities: Capacities): EngineMemory {
  const shapes = tableShapes(capacities);
  const buffers = {} as Record<TableName, TableBytes>;
  for (const name of TABLE_NAMES) buffers[name] = allocateTable(shapes[name]);
  return { capacities, buffers };
}

/**
 * Allocates all tables in one block, for processes that make many engines. The system provides a large block and takes
 * it back, and its unwritten pages take no memory. Blocks below 32 MB would stay in the heap of the process.
 */
export function allocateEngineBlock(capacities: Capacities): EngineMemory {
  const shapes = tableShapes(capacities);
  const starts = {} as Record<TableName, number>;
  let end = 0;
  for (const name of TABLE_NAMES) {
    starts[name] = end;
    end += Math.ceil(shapes[name] / ROW_BYTES_MAX) * ROW_BYTES_MAX;
  }
  const block = allocateTable(end);
  const buffers = {} as Record<TableName, TableBytes>;
  for (const name of TABLE_NAMES)
    buffers[name] = block.subarray(starts[name], starts[name] + shapes[name]);
  return { capacities, buffers };
}

export class Tables {
  readonly memory: EngineMemory;
  readonly capacities: Capacities;
  readonly state: Float64Array;
  readonly marketI: Int32Array;
  readonly marketF: Float64Array;
  readonly tokenI: Int32Array;
  readonly bookI: Int32Array;
  readonly bookF: Float64Array;
  readonly accountI: Int32Array;
  readonly wallets: Int32Array;
  readonly orderI: Int32Array;
  readonly orderF: Float64Array;
  readonly linkI: Int32Array;
  readonly closedI: Int32Array;
  readonly matching: Matching;
  /** Open good-till-date orders by expiry, in unix seconds; markets by future end, in unix milliseconds. */
  readonly expiring: DueHeap<OrderRow>;
  readonly ending: DueHeap<MarketRow>;
  readonly delayed: DelayedHeap;
  readonly unsettledI: Int32Array;
  readonly unsettledF: Float64Array;
  readonly delayCounts: Uint8Array;
  readonly walletOrders: Int32Array;
  readonly inviteBatchI: Int32Array;
  readonly inviteBatchF: Float64Array;
  readonly inviteI: Int32Array;
  readonly inviteIndex: Int32Array;
  readonly agentI: Int32Array;
  readonly agentF: Float64Array;
  readonly agentOrders: Int32Array;
  readonly agentAccounts: Int32Array;
  readonly agentIndex: Int32Array;
  readonly marketIndex: Int32Array;
  readonly tokenIndex: Int32Array;
  readonly accountIndex: Int32Array;
  readonly orderIndex: Int32Array;
  readonly ledger: Float64Array;
  readonly cashI: Int32Array;
  readonly cashF: Float64Array;
  readonly positionI: Int32Array;
  readonly positionF: Float64Array;
  readonly positionLinkI: Int32Array;
  readonly positionCosts: Float64Array;
  readonly walletCosts: Float64Array;
  readonly holderI: Int32Array;
  readonly holderF: Float64Array;
  readonly resolutionI: Int32Array;
  readonly resolutionF: Float64Array;
  readonly requestI: Int32Array;
  readonly requestF: Float64Array;
  readonly operatorIdI: Int32Array;
  readonly operatorIdF: Float64Array;
  readonly positionIndex: Int32Array;
  readonly requestIndex: Int32Array;
  readonly operatorIdIndex: Int32Array;
  readonly fillI: Int32Array;
  readonly fillF: Float64Array;
  readonly fillRows: number;
  readonly closedRows: number;
  readonly operatorIdRows: number;
  readonly orderRows: number;

  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: one line for each table.
  constructor(memory: EngineMemory) {
    const b = memory.buffers;
    this.memory = memory;
    this.capacities = memory.capacities;
    this.state = doublesOf(b.state);
    this.marketI = wordsOf(b.markets);
    this.marketF = doublesOf(b.markets);
    this.tokenI = wordsOf(b.tokens);
    this.bookI = wordsOf(b.books);
    this.bookF = doublesOf(b.books);
    this.accountI = wordsOf(b.accounts);
    this.wallets = wordsOf(b.wallets);
    this.orderI = wordsOf(b.orders);
    this.orderF = doublesOf(b.orders);
    this.linkI = wordsOf(b.links);
    this.closedI = wordsOf(b.finished);
    this.matching = matchingOf(memory);
    this.expiring = expiryHeap(this, wordsOf(b.expiries));
    this.ending = endHeap(this, wordsOf(b.ends));
    this.delayed = delayedHeap(this, wordsOf(b.delays));
    this.unsettledI = wordsOf(b.unsettled);
    this.unsettledF = doublesOf(b.unsettled);
    this.delayCounts = b.delayCounts;
    this.walletOrders = wordsOf(b.walletOrders);
    this.inviteBatchI = wordsOf(b.inviteBatches);
    this.inviteBatchF = doublesOf(b.inviteBatches);
    this.inviteI = wordsOf(b.invites);
    this.inviteIndex = wordsOf(b.inviteIndex);
    this.agentI = wordsOf(b.agents);
    this.agentF = doublesOf(b.agents);
    this.agentOrders = wordsOf(b.agentOrders);
    this.agentAccounts = wordsOf(b.agentAccounts);
    this.agentIndex = wordsOf(b.agentIndex);
    this.marketIndex = wordsOf(b.marketIndex);
    this.tokenIndex = wordsOf(b.tokenIndex);
    this.accountIndex = wordsOf(b.accountIndex);
    this.orderIndex = wordsOf(b.orderIndex);
    this.ledger = doublesOf(b.ledger);
    this.cashI = wordsOf(b.cash);
    this.cashF = doublesOf(b.cash);
    this.positionI = wordsOf(b.positions);
    this.positionF = doublesOf(b.positions);
    this.positionLinkI = wordsOf(b.positionLinks);
    this.positionCosts = doublesOf(b.positionCosts);
    this.walletCosts = doublesOf(b.walletCosts);
    this.holderI = wordsOf(b.holders);
    this.holderF = doublesOf(b.holders);
    this.resolutionI = wordsOf(b.resolutions);
    this.resolutionF = doublesOf(b.resolutions);
    this.requestI = wordsOf(b.requests);
    this.requestF = doublesOf(b.requests);
    this.operatorIdI = wordsOf(b.operatorIds);
    this.operatorIdF = doublesOf(b.operatorIds);
    this.positionIndex = wordsOf(b.positionIndex);
    this.requestIndex = wordsOf(b.requestIndex);
    this.operatorIdIndex = wordsOf(b.operatorIdIndex);
    this.fillI = wordsOf(b.fills);
    this.fillF = doublesOf(b.fills);
    this.fillRows = fillRows(memory.capacities);
    this.closedRows = closedRows(memory.capacities);
    this.operatorIdRows = operatorIdRows(memory.capacities);
    this.orderRows = orderRows(memory.capacities);
    assert(this.state.length === State.size, 'the state table has its own size');
  }
}

function matchingOf({ buffers: b, capacities: { orders } }: EngineMemory): Matching {
  return new Matching({
    header: b.matchingHeader,
    books: b.matchingBooks,
    rows: b.matchingRows,
    orders,
  });
}

type HeapTables = Pick<Tables, 'marketF' | 'marketI' | 'orderF' | 'orderI' | 'state'>;

function expiryHeap({ orderF, orderI, state }: HeapTables, rows: Int32Array): DueHeap<OrderRow> {
  return new DueHeap({
    rows,
    times: { view: orderF, shift: ORDER_F, at: Order.expiry },
    places: { view: orderI, shift: ORDER_I, at: Order.heap },
    counts: state,
    count: State.expiries,
  });
}

function endHeap({ marketF, marketI, state }: HeapTables, rows: Int32Array): DueHeap<MarketRow> {
  return new DueHeap({
    rows,
    times: { view: marketF, shift: MARKET_F, at: Market.end },
    places: { view: marketI, shift: MARKET_I, at: Market.heap },
    counts: state,
    count: State.ends,
  });
}

function delayedHeap({ orderF, orderI, state }: HeapTables, rows: Int32Array): DelayedHeap {
  return new DelayedHeap(
    {
      rows,
      times: { view: orderF, shift: ORDER_F, at: Order.dueAt },
      places: { view: orderI, shift: ORDER_I, at: Order.heap },
      counts: state,
      count: State.delays,
    },
    { view: orderI, shift: ORDER_I, at: Order.restingSlot },
  );
}

export interface Span {
  readonly name: TableName;
  readonly start: number;
  readonly bytes: number;
}

/**
 * Bytes in use of each table, for snapshots and state hashes. The rings of closed orders and of ids go by sequence,
 * so they read alike whatever the capacity. Indexes and wallet counts follow from the rows, and fills lie in a
 * table of their own: none is listed.
 */
export function usedSpans(t: Tables): Span[] {
  const s = t.state;
  const whole = (name: TableName, bytes: number): Span => ({ name, start: 0, bytes });
  return [
    whole('state', State.size * 8),
    whole('markets', (s[State.markets]! + 1) * (4 << MARKET_I)),
    whole('tokens', (s[State.tokens]! + 1) * (4 << TOKEN_I)),
    whole('books', (s[State.books]! + 1) * (4 << BOOK_I)),
    whole('accounts', (s[State.accounts]! + 1) * (4 << ACCOUNT_I)),
    whole('orders', (s[State.orderRows]! + 1) * (4 << ORDER_I)),
    whole('links', (matchingUse(t.matching).orders + 1) * (4 << LINK_I)),
    whole('expiries', (s[State.expiries]! + 1) * 4),
    whole('ends', (s[State.ends]! + 1) * 4),
    ...delayedSpans(t),
    ...unsettledSpans(t),
    ...closedSpans(t),
    ...inviteSpans(t),
    ...matchingTables(t),
    ...ledgerSpans(t),
  ];
}

/** None without delayed orders: snapshots and hashes are then as before there were any. */
function delayedSpans({ state }: Tables): Span[] {
  const count = state[State.delays]!;
  return count === 0 ? [] : [{ name: 'delays', start: 0, bytes: (count + 1) * 4 }];
}

/** None without unsettled fills, as above. */
function unsettledSpans({ state }: Tables): Span[] {
  const count = state[State.unsettled]!;
  return count === 0 ? [] : [{ name: 'unsettled', start: 0, bytes: count * (4 << UNSETTLED_I) }];
}

/** None without invitations, as above. */
function inviteSpans({ inviteBatchI }: Tables): Span[] {
  const batches = inviteBatchI[InviteBatch.batches]!;
  if (batches === 0) return [];
  const codes = inviteBatchI[InviteBatch.codes]!;
  return [
    { name: 'inviteBatches', start: 0, bytes: (batches + 1) * (4 << INVITE_BATCH_I) },
    { name: 'invites', start: 0, bytes: (codes + 1) * (4 << INVITE_I) },
  ];
}

/** None without a ledger: snapshots and hashes are then as before the ledger. */
function ledgerSpans(t: Tables): Span[] {
  const { ledger, state } = t;
  if (state[State.ledger] === 0) return [];
  const rows = (name: TableName, count: number, shift: number): Span => ({
    name,
    start: 0,
    bytes: (count + 1) * (4 << shift),
  });
  return [
    { name: 'ledger', start: 0, bytes: Ledger.size * 8 },
    rows('cash', state[State.accounts]!, CASH_I),
    rows('positions', ledger[Ledger.positionRows]!, POSITION_I),
    rows('positionLinks', ledger[Ledger.positionRows]!, POSITION_LINK_I),
    ...costSpans(t),
    rows('holders', state[State.tokens]!, HOLDER_I),
    rows('resolutions', ledger[Ledger.resolutions]!, RESOLUTION_I),
    ...agentSpans(t),
    ...Array.from({ length: REALMS }, (_, realm) =>
      requestSpans(realm, ledger[Ledger.requests + realm]!),
    ).flat(),
    ...operatorIdSpans(t),
  ];
}

/** None without agents ever, as above. */
function agentSpans({ agentI, state }: Tables): Span[] {
  const rows = agentI[Agent.rows]!;
  if (rows === 0) return [];
  return [
    { name: 'agents', start: 0, bytes: (rows + 1) * (4 << AGENT_I) },
    { name: 'agentAccounts', start: 0, bytes: ((state[State.accounts]! >> 5) + 1) * 4 },
  ];
}

/** None without a limit of exposure ever, as above. */
function costSpans({ ledger }: Tables): Span[] {
  if (ledger[Ledger.exposurePerWallet] === 0) return [];
  const bytes = (ledger[Ledger.positionRows]! + 1) * 8;
  return [{ name: 'positionCosts', start: 0, bytes }];
}

function requestSpans(realm: number, end: number): Span[] {
  const first = Math.max(0, end - REQUESTS_KEPT);
  const spans = ringSpans('requests', REQUEST_I, REQUEST_ROWS, first, end);
  const start = realm * REQUEST_ROWS * (4 << REQUEST_I);
  return spans.map((span) => ({ ...span, start: start + span.start }));
}

function operatorIdSpans(t: Tables): Span[] {
  const first = t.ledger[Ledger.firstOperatorId]!;
  return ringSpans(
    'operatorIds',
    REQUEST_I,
    t.operatorIdRows,
    first,
    t.ledger[Ledger.operatorIds]!,
  );
}

function closedSpans(t: Tables): Span[] {
  const first = t.state[State.nextReusableClosed]!;
  return ringSpans('finished', CLOSED_I, t.closedRows, first, t.state[State.closed]!);
}

function ringSpans(
  name: TableName,
  shift: number,
  rows: number,
  first: number,
  end: number,
): Span[] {
  const at = first % rows;
  const head = Math.min(end - first, rows - at);
  const span = (row: number, count: number): Span => ({
    name,
    start: row * (4 << shift),
    bytes: count * (4 << shift),
  });
  return [span(at, head), span(0, end - first - head)].filter(({ bytes }) => bytes > 0);
}

const MATCHING_TABLES = {
  header: 'matchingHeader',
  books: 'matchingBooks',
  rows: 'matchingRows',
} as const;

function matchingTables(t: Tables): Span[] {
  return matchingSpans(t.matching, t.state[State.books]!).map(({ bytes, start, table }) => ({
    name: MATCHING_TABLES[table],
    start,
    bytes,
  }));
}
