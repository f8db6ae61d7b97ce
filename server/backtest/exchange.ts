/**
 * The engine with a ledger, and the one account of a strategy: the code that a node runs. Amounts are micro-units and
 * micro-shares, prices pips. Each call is a batch of its own at the current time.
 */
import { isDeepStrictEqual } from 'node:util';
import { assert } from '../../engine/book/matching.ts';
import {
  CommandBuffer,
  commandWords,
  encodeCancel,
  encodeConfigure,
  encodeFeeSchedule,
  encodeFunds,
  encodeMarket,
  encodeMarketChange,
  encodeOrder,
  encodeResolve,
  encodeResolveStep,
  encodeTakerDelay,
  type FeeSchedule,
  type FundsFields,
  type FundsKind,
  type MarketFields,
  OrderType,
  PrecheckFlags,
  type RequestIdFields,
  Side,
} from '../../engine/commands.ts';
import { SelfTrade } from '../../engine/context.ts';
import { earliestDue } from '../../engine/due.ts';
import { Engine } from '../../engine/engine.ts';
import { findPosition } from '../../engine/ledger/positions.ts';
import {
  cashReserved,
  cashTotal,
  resolutionOf,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { isDelayed } from '../../engine/orders/delayed.ts';
import { findOrder } from '../../engine/orders/orders.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import {
  closedCount,
  closeReason,
  conditionAt,
  fillCount,
  fillFeeCollateral,
  fillFeeShares,
  fillKind,
  fillMaker,
  fillMakerCollateral,
  fillMakerIdAt,
  fillMakerPrice,
  fillMakerToken,
  fillRow,
  fillSize,
  fillTaker,
  fillTakerCollateral,
  fillTakerIdAt,
  fillTakerPrice,
  fillTakerSide,
  fillTakerToken,
  marketCount,
  marketFees,
  marketFirstToken,
  marketTakerDelay,
  tokenCount,
} from '../../engine/reads.ts';
import {
  AMOUNT_MAX,
  type Capacities,
  FEE_BPS_MAX,
  RESOLVE_STEP_MAX,
} from '../../engine/tables/capacities.ts';
import {
  ADDRESS_WORDS,
  API_KEY_WORDS,
  EndReason,
  ID_WORDS,
  MatchKind,
  REQUEST_KEY_WORDS,
  SOURCE_ADDRESS,
} from '../../engine/tables/codes.ts';
import { allocateEngineBlock, type Tables } from '../../engine/tables/tables.ts';
import {
  type AccountRow,
  type FillRow,
  type MarketRow,
  type MicroCollateral,
  type MicroShares,
  mulDivFloor,
  type OrderRow,
  PIPS_PER_UNIT,
  type Pips,
  type TokenRow,
} from '../../engine/tables/units.ts';

/** Rows of tables cost memory only once they are used. */
const CAPACITIES: Capacities = {
  markets: 4_096,
  tokens: 8_192,
  accounts: 16,
  orders: 2 ** 17,
  levels: 2 ** 22,
  trades: 2 ** 16,
  history: 2 ** 12,
  positions: 2 ** 16,
  operatorIds: 0,
};
/** Funds of the source: a quarter of the capacity of a ledger. */
const SOURCE_FUNDS = 2 ** 50;

const NO_FILLS: readonly OwnFill[] = [];

export interface EngineOrder {
  readonly number: number;
  readonly token: TokenRow;
  readonly isSell: boolean;
  readonly type: keyof typeof OrderType;
  readonly postOnly: boolean;
  readonly pips: number;
  readonly size: number;
  readonly expiration: number;
}

export interface OwnFill {
  readonly number: number;
  readonly token: TokenRow;
  readonly isSell: boolean;
  readonly isMaker: boolean;
  readonly pips: Pips;
  readonly size: MicroShares;
  /** Micro-units of collateral. A fee in shares counts at the price of the fill, rounded down. */
  readonly fee: number;
  /** Micro-units received, net of the fee; negative if paid. */
  readonly cash: number;
  readonly shares: number;
}

export class Exchange {
  readonly engine: Engine;
  readonly tables: Tables;
  readonly account: AccountRow;
  private readonly out = new CommandBuffer(1 << 10);
  private readonly apiKey = new Int32Array(API_KEY_WORDS);
  private readonly address = keyOf(ADDRESS_WORDS, 1, 1);
  private time = 1;
  private requests = 0;
  private seen = 0;
  private readonly order = keyOf(ID_WORDS, 2, 0);

  constructor(cash: number) {
    this.engine = new Engine(allocateEngineBlock(CAPACITIES));
    this.tables = this.engine.t;
    this.engine.context.delayUnitMs = 1;
    const { history } = CAPACITIES;
    this.run((out) => encodeConfigure(out, SelfTrade.allow, history, 0, 0, 0, true));
    this.mustFund('deposit', { wallet: SOURCE_ADDRESS, amount: SOURCE_FUNDS });
    this.mustFund('deposit', { wallet: this.address, amount: cash });
    this.account = findAccount(this.tables, this.address, 0) as AccountRow;
  }

  get now(): number {
    return this.time;
  }

  /** Time of the next expiry or delayed order; Infinity if there is none. */
  get due(): number {
    return earliestDue(this.tables) || Number.POSITIVE_INFINITY;
  }

  /** Moves to a time, as a whole number of milliseconds, and applies what is due until then. */
  at(time: number): void {
    const whole = Math.floor(time);
    if (whole > this.time) this.time = whole;
    while (this.due <= this.time) {
      this.begin();
      this.engine.end();
    }
  }

  addMarket(fields: MarketFields): { row: MarketRow; first: TokenRow } {
    const { tables } = this;
    const first = tokenCount(tables) + 1;
    const ids = [first, first + 1].map((token) => keyOf(ID_WORDS, 3, token));
    const condition = keyOf(ID_WORDS, 4, marketCount(tables) + 1);
    const reason = this.run((out) => encodeMarket(out, fields, condition, ids));
    if (reason !== RejectReason.accepted) throw new Error('the recording has too many markets');
    const row = marketCount(tables) as MarketRow;
    return { row, first: marketFirstToken(tables, row) };
  }

  changeMarket(market: MarketRow, fields: MarketFields): RejectReasonCode {
    return this.run((out) => encodeMarketChange(out, market, fields));
  }

  /** Sets the fee schedule of a market, where it has another one. */
  setFees(market: MarketRow, fees: FeeSchedule): void {
    const { tables } = this;
    if (isDeepStrictEqual(marketFees(tables, market), fees)) return;
    const at = conditionAt(market);
    const condition = tables.marketI.slice(at, at + ID_WORDS);
    const reason = this.run((out) => encodeFeeSchedule(out, condition, fees));
    if (reason !== RejectReason.accepted) throw new Error('a usable fee schedule is taken');
  }

  /** Sets the milliseconds for which orders wait that would match at once. */
  setTakerDelay(market: MarketRow, ms: number): void {
    const { tables } = this;
    if (marketTakerDelay(tables, market) === ms) return;
    const at = conditionAt(market);
    const condition = tables.marketI.slice(at, at + ID_WORDS);
    const reason = this.run((out) => encodeTakerDelay(out, condition, ms));
    assert(reason === RejectReason.accepted, 'a checked delay is taken');
  }

  /** Applies commands of the source as one batch. Returns the number of refused ones. */
  applyAll(commands: CommandBuffer): number {
    const { engine } = this;
    const { f64, i32, words } = commands;
    let refused = 0;
    this.begin();
    for (let at = 0; at < words; at += commandWords(i32, at)) {
      if (engine.apply(i32, f64, at) !== RejectReason.accepted) refused += 1;
    }
    engine.end();
    return refused;
  }

  place(order: EngineOrder): RejectReasonCode {
    const { isSell, pips, size } = order;
    const isImmediate = order.type === 'FOK' || order.type === 'FAK';
    if (order.postOnly && isImmediate) return RejectReason.postOnlyType;
    const fields = {
      token: order.token,
      side: isSell ? Side.sell : Side.buy,
      type: OrderType[order.type],
      postOnly: order.postOnly,
      shares: size as MicroShares,
      collateral: mulDivFloor(size, pips, PIPS_PER_UNIT) as MicroCollateral,
      expiration: order.expiration,
      feeRateBps: FEE_BPS_MAX,
      signatureType: 0,
      precheck: precheckOf(order),
      id: this.idOf(order.number),
      maker: this.address,
      signer: this.address,
      apiKey: this.apiKey,
    };
    return this.run((out) => encodeOrder(out, fields));
  }

  cancel(number: number): RejectReasonCode {
    return this.run((out) => encodeCancel(out, this.idOf(number), this.address));
  }

  fund(kind: FundsKind, market: MarketRow | 0, amount: number): RejectReasonCode {
    return this.runFunds(kind, { wallet: this.address, market, amount });
  }

  resolve(market: MarketRow, weights: readonly number[], isVoid: boolean): RejectReasonCode {
    const id = this.requestId();
    const reason = this.run((out) => encodeResolve(out, { id, market, weights, isVoid }));
    if (reason !== RejectReason.accepted) return reason;
    while (resolutionOf(this.tables, market)?.isDone === false) {
      this.run((out) => encodeResolveStep(out, market, RESOLVE_STEP_MAX));
    }
    return reason;
  }

  cash(): { total: number; reserved: number } {
    const { account, tables } = this;
    return { total: cashTotal(tables, account), reserved: cashReserved(tables, account) };
  }

  position(token: TokenRow): { total: number; reserved: number } {
    const row = findPosition(this.tables, this.account, token);
    return { total: sharesTotal(this.tables, row), reserved: sharesReserved(this.tables, row) };
  }

  /** True for an order that waits for the taker delay of its market. */
  isDelayed(number: number): boolean {
    const row = findOrder(this.tables, this.idOf(number), 0);
    return row > 0 && isDelayed(this.tables, row as OrderRow);
  }

  /** Returns the close reason of an order; 0 if it is open, or its id is no longer in memory. */
  endOf(number: number): number {
    const row = findOrder(this.tables, this.idOf(number), 0);
    return row < 0 ? closeReason(this.tables, -row as OrderRow) : EndReason.none;
  }

  get ended(): number {
    return closedCount(this.tables);
  }

  /** Returns own fills since the last call; both sides where the account traded with itself. */
  takeFills(): readonly OwnFill[] {
    const { account, tables } = this;
    const end = fillCount(tables);
    if (this.seen === end) return NO_FILLS;
    const found: OwnFill[] = [];
    for (; this.seen < end; this.seen++) {
      const row = fillRow(tables, this.seen);
      if (fillMaker(tables, row) === account) found.push(makerFill(tables, row));
      if (fillTaker(tables, row) === account) found.push(takerFill(tables, row));
    }
    return found;
  }

  private idOf(number: number): Int32Array {
    this.order[ID_WORDS - 1] = number;
    return this.order;
  }

  private mustFund(kind: FundsKind, fields: Omit<FundsFields, 'id'>): void {
    const reason = this.runFunds(kind, fields);
    assert(reason === RejectReason.accepted, 'an account can be funded');
  }

  private runFunds(kind: FundsKind, fields: Omit<FundsFields, 'id'>): RejectReasonCode {
    const id = this.requestId();
    return this.run((out) => encodeFunds(out, kind, { id, ...fields }));
  }

  private requestId(): RequestIdFields {
    this.requests += 1;
    return { isOperator: true, ms: this.time, key: keyOf(REQUEST_KEY_WORDS, 5, this.requests) };
  }

  private run(encode: (out: CommandBuffer) => number): RejectReasonCode {
    this.out.clear();
    const at = encode(this.out);
    this.begin();
    const reason = this.engine.apply(this.out.i32, this.out.f64, at);
    this.engine.end();
    return reason;
  }

  private begin(): void {
    this.engine.begin(this.time, closedCount(this.tables));
  }
}

/** Result of the checks that a node makes before its writer turn. */
function precheckOf({ pips, size }: EngineOrder): number {
  if (size > AMOUNT_MAX) return PrecheckFlags.tooLarge;
  return size > 0 && pips > 0 ? 0 : PrecheckFlags.amounts;
}

function makerFill(tables: Tables, row: FillRow): OwnFill {
  const isAcross = fillKind(tables, row) !== MatchKind.complementary;
  const isSell = (fillTakerSide(tables, row) === 1) === isAcross;
  const collateral = fillMakerCollateral(tables, row);
  const size = fillSize(tables, row);
  return {
    number: tables.fillI[fillMakerIdAt(row) + ID_WORDS - 1]!,
    token: fillMakerToken(tables, row),
    isSell,
    isMaker: true,
    pips: fillMakerPrice(tables, row),
    size,
    fee: 0,
    cash: isSell ? collateral : -collateral,
    shares: isSell ? -size : size,
  };
}

function takerFill(tables: Tables, row: FillRow): OwnFill {
  const isSell = fillTakerSide(tables, row) === 1;
  const collateral = fillTakerCollateral(tables, row);
  const pips = fillTakerPrice(tables, row);
  const size = fillSize(tables, row);
  const feeCash = fillFeeCollateral(tables, row);
  const feeShares = fillFeeShares(tables, row);
  return {
    number: tables.fillI[fillTakerIdAt(row) + ID_WORDS - 1]!,
    token: fillTakerToken(tables, row),
    isSell,
    isMaker: false,
    pips,
    size,
    fee: feeCash + mulDivFloor(feeShares, pips, PIPS_PER_UNIT),
    cash: (isSell ? collateral : -collateral) - feeCash,
    shares: isSell ? -size : size - feeShares,
  };
}

function keyOf(words: number, kind: number, number: number): Int32Array {
  const key = new Int32Array(words);
  key[0] = kind;
  key[words - 1] = number;
  return key;
}
