/**
 * The engine without HTTP, signatures or LMDB, for simulations, notebooks and other people's
 * harnesses: the very same code that a node runs, in one module to import. Accounts and orders are
 * plain numbers, prices are ticks, sizes micro-shares; time is whatever the caller says it is.
 *
 * For millions of commands a second encode into a CommandBuffer and drive an Engine directly, as
 * bench/engine/engine.bench.ts does.
 */

import { assert } from './book/matching.ts';
import {
  CommandBuffer,
  encodeCancel,
  encodeCancelOwner,
  encodeConfigure,
  encodeFeeSchedule,
  encodeFill,
  encodeFunds,
  encodeLevel,
  encodeMarket,
  encodeMarketChange,
  encodeOrder,
  encodePrint,
  encodeResolve,
  encodeResolveStep,
  type FeeSchedule,
  type FundsKind,
  OrderType,
  type RequestIdFields,
  Side,
} from './commands.ts';
import { Engine } from './engine.ts';
import { findPosition } from './ledger/positions.ts';
import {
  cashReserved,
  cashTotal,
  ledgerTotals,
  sharesReserved,
  sharesTotal,
} from './ledger/reads.ts';
import { findAccount } from './orders/accounts.ts';
import { findOrder } from './orders/orders.ts';
import { RejectReason, type RejectReasonCode } from './orders/reject-reasons.ts';
import { marketTokens, orderRemaining, tokenMarket } from './reads.ts';
import { type Capacities, DEFAULT_CAPACITIES } from './tables/capacities.ts';
import {
  ADDRESS_WORDS,
  API_KEY_WORDS,
  ID_WORDS,
  MarketFlag,
  REQUEST_KEY_WORDS,
  SOURCE_ADDRESS,
} from './tables/codes.ts';
import { Depth, readDepth } from './tables/depth.ts';
import {
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  MARKET_F,
  MARKET_I,
  Market,
  State,
} from './tables/layout.ts';
import { allocateEngine } from './tables/tables.ts';
import {
  type AccountRow,
  collateralOf,
  fillRowAt,
  type MicroShares,
  type OrderRow,
  type Pips,
  type Ticks,
  type TicksPerUnit,
  type TokenRow,
} from './tables/units.ts';

export interface SimulatedMarket {
  readonly outcomes?: number;
  readonly ticksPerUnit?: TicksPerUnit;
  readonly minSize?: number;
  readonly baseFeeBps?: number;
  readonly fees?: FeeSchedule;
  /** Unix milliseconds from which on it takes no orders. */
  readonly end?: number;
}

export interface SimulatedOrder {
  readonly account: number;
  readonly token: TokenRow;
  readonly side: keyof typeof Side;
  readonly type?: keyof typeof OrderType;
  /** From 1 to ticksPerUnit - 1. */
  readonly ticks: number;
  /** Micro-shares; for an exact price a multiple of ticksPerUnit. */
  readonly size: number;
  readonly postOnly?: boolean;
  readonly expiration?: number;
}

/** Owner of money: an account of the caller's, or the reserved one with the source levels. */
export type Payer = number | 'source';

/** Micro-units of cash, or micro-shares. */
export interface Holding {
  readonly total: number;
  readonly reserved: number;
}

interface Movement {
  /** Absent for entries of the venue alone. */
  readonly payer?: Payer;
  readonly amount: number;
  readonly id?: number | undefined;
  readonly token?: TokenRow;
}

export interface SimulatedLevel {
  readonly token: TokenRow;
  /** Own side of a source level, or side of a print's taker. */
  readonly side: keyof typeof Side;
  /** Price of the token in ten-thousandths, whatever its ticks. */
  readonly pips: number;
  /** Micro-shares; 0 removes a source level. */
  readonly size: number;
}

export interface Placed {
  /** 0 = accepted; other codes: reject-reasons.ts. */
  readonly reason: RejectReasonCode;
  readonly order: number;
  /** Micro-units given and received at once, net of fees. */
  readonly making: number;
  readonly taking: number;
}

export interface SimulatedFill {
  readonly sequence: number;
  /** Orders; 0 = the source. A print has no order. */
  readonly taker: number;
  readonly maker: number;
  readonly takerToken: TokenRow;
  readonly makerToken: TokenRow;
  readonly size: number;
  /** Prices of each side's own token. */
  readonly takerPips: Pips;
  readonly makerPips: Pips;
}

export interface SimulatedBook {
  /** [ticks, micro-shares], worst first: the best level is the last (docs/protocol.md#order-books). */
  readonly bids: readonly (readonly [number, number])[];
  readonly asks: readonly (readonly [number, number])[];
}

export class Simulator {
  readonly engine: Engine;
  private readonly out = new CommandBuffer(1 << 10);
  private readonly depth = new Depth();
  private readonly apiKey = new Int32Array(API_KEY_WORDS);
  private readonly owners: number[] = [0];
  private requests = 0;
  private time = 1;

  /** @param ledger true: orders need money, by deposit() and split() */
  constructor(capacities: Partial<Capacities> = {}, { ledger = false } = {}) {
    this.engine = new Engine(allocateEngine({ ...DEFAULT_CAPACITIES, ...capacities }));
    if (!ledger) return;
    const { history } = this.engine.t.capacities;
    const reason = this.apply(encodeConfigure(this.out, 0, history, 0, 0, 0, true));
    assert(reason === RejectReason.accepted, 'there is room for a ledger');
  }

  /** Sets the clock, in unix milliseconds. Orders that expire leave. */
  at(time: number): void {
    this.time = time;
    this.run(() => RejectReason.accepted);
  }

  /** Registers a market. Its tokens follow one another; two outcomes share a mirrored book. */
  addMarket(market: SimulatedMarket = {}): TokenRow[] {
    const { t } = this.engine;
    const first = t.state[State.tokens]! + 1;
    const count = market.outcomes ?? 2;
    const ids = Array.from({ length: count }, (_, i) => numbered(ID_WORDS, 3, first + i));
    const condition = numbered(ID_WORDS, 4, t.state[State.markets]! + 1);
    this.out.clear();
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit: market.ticksPerUnit ?? 100,
      minSize: (market.minSize ?? 1) as MicroShares,
      baseFeeBps: market.baseFeeBps ?? 0,
      ...(market.end === undefined ? {} : { end: market.end }),
    };
    const at = encodeMarket(this.out, fields, condition, ids);
    const reason = this.apply(at);
    assert(reason === RejectReason.accepted, 'there is room for the market');
    if (market.fees !== undefined) {
      this.out.clear();
      const terms = this.apply(encodeFeeSchedule(this.out, condition, market.fees));
      assert(terms === RejectReason.accepted, 'a fee schedule is within its bounds');
    }
    return ids.map((_, i) => (first + i) as TokenRow);
  }

  place(order: SimulatedOrder): Placed {
    const { context, t } = this.engine;
    const number = this.owners.length;
    this.owners.push(order.account);
    const grid = t.marketI[
      (tokenMarket(t, order.token) << MARKET_I) + Market.ticksPerUnit
    ]! as TicksPerUnit;
    const account = numbered(ADDRESS_WORDS, 1, order.account);
    this.out.clear();
    const at = encodeOrder(this.out, {
      token: order.token,
      side: Side[order.side],
      type: OrderType[order.type ?? 'GTC'],
      postOnly: order.postOnly ?? false,
      shares: order.size as MicroShares,
      collateral: collateralOf(order.size as MicroShares, order.ticks as Ticks, grid),
      expiration: order.expiration ?? 0,
      feeRateBps: 1_000,
      signatureType: 0,
      precheck: 0,
      id: numbered(ID_WORDS, 2, number),
      maker: account,
      signer: account,
      apiKey: this.apiKey,
    });
    context.making = 0;
    context.taking = 0;
    const reason = this.apply(at);
    return { reason, order: number, making: context.making, taking: context.taking };
  }

  cancel(order: number): RejectReasonCode {
    const owner = numbered(ADDRESS_WORDS, 1, this.owners[order] ?? 0);
    this.out.clear();
    return this.apply(encodeCancel(this.out, numbered(ID_WORDS, 2, order), owner));
  }

  cancelAll(account: number): void {
    this.out.clear();
    const at = encodeCancelOwner(this.out, {
      signer: numbered(ADDRESS_WORDS, 1, account),
      market: 0,
      token: 0,
      limit: this.engine.t.state[State.openOrders]!,
      from: 0,
      newest: this.time,
    });
    this.apply(at);
  }

  /** @param policy a SelfTrade of context.ts */
  setSelfTrade(policy: number): void {
    this.out.clear();
    this.apply(encodeConfigure(this.out, policy, this.engine.t.state[State.history]!, 0, 0));
  }

  setTick(token: TokenRow, ticksPerUnit: TicksPerUnit): RejectReasonCode {
    const { t } = this.engine;
    const market = tokenMarket(t, token);
    const offset = market << MARKET_I;
    this.out.clear();
    const at = encodeMarketChange(this.out, market, {
      flags: t.marketI[offset + Market.flags]!,
      ticksPerUnit,
      baseFeeBps: t.marketI[offset + Market.baseFeeBps]!,
      minSize: t.marketF[(market << MARKET_F) + Market.minSize]! as MicroShares,
    });
    return this.apply(at);
  }

  /** Deposits cash, in micro-units. A repeated id is paid once; without an id every call is a deposit. */
  deposit(payer: Payer, amount: number, id?: number): RejectReasonCode {
    return this.moveFunds('deposit', { payer, amount, id });
  }

  split(payer: Payer, token: TokenRow, amount: number): RejectReasonCode {
    return this.moveFunds('split', { payer, amount, token });
  }

  /** Fees of the venue in micro-units. */
  fees(): number {
    return ledgerTotals(this.engine.t).fees;
  }

  payFees(payer: Payer, amount: number): RejectReasonCode {
    return this.moveFunds('payFees', { payer, amount });
  }

  drawFees(amount: number): RejectReasonCode {
    return this.moveFunds('drawFees', { amount });
  }

  setLevel(level: SimulatedLevel): RejectReasonCode {
    return this.applySource(encodeLevel, level);
  }

  print(level: SimulatedLevel): RejectReasonCode {
    return this.applySource(encodePrint, level);
  }

  /** Fills an order by a taker of the source, for at most this size and at the order's price. */
  fill(order: number, size: number): RejectReasonCode {
    this.out.clear();
    return this.apply(encodeFill(this.out, numbered(ID_WORDS, 2, order), size as MicroShares));
  }

  resolve(token: TokenRow, weights: readonly number[]): RejectReasonCode {
    const { t } = this.engine;
    const market = tokenMarket(t, token);
    assert(weights.length === marketTokens(t, market), 'each outcome has a weight');
    this.out.clear();
    const reason = this.apply(encodeResolve(this.out, { id: this.requestId(), market, weights }));
    if (reason !== RejectReason.accepted) return reason;
    // Each step ends orders, or pays holders, or finishes.
    for (let step = 0; step < 3; step++) {
      this.out.clear();
      this.apply(encodeResolveStep(this.out, market, 2 ** 30));
    }
    return reason;
  }

  cash(payer: Payer): Holding {
    const { t } = this.engine;
    const row = this.accountOf(payer);
    return { total: cashTotal(t, row), reserved: cashReserved(t, row) };
  }

  position(payer: Payer, token: TokenRow): Holding {
    const { t } = this.engine;
    const account = this.accountOf(payer);
    const row = account === 0 ? 0 : findPosition(t, account, token);
    return { total: sharesTotal(t, row), reserved: sharesReserved(t, row) };
  }

  /** Open micro-shares of an order; 0 = it has closed. */
  remaining(order: number): number {
    const { t } = this.engine;
    const row = findOrder(t, numbered(ID_WORDS, 2, order), 0);
    return row <= 0 ? 0 : orderRemaining(t, row as OrderRow);
  }

  book(token: TokenRow): SimulatedBook {
    const { depth } = this;
    assert(readDepth(this.engine.t, token, depth), 'nobody writes between two calls');
    const side = (levels: Depth['bids']) =>
      Array.from({ length: levels.count }, (_, i) => [levels.ticks[i]!, levels.sizes[i]!] as const);
    return { bids: side(depth.bids), asks: side(depth.asks) };
  }

  fills(from = 0): SimulatedFill[] {
    const { t } = this.engine;
    const found: SimulatedFill[] = [];
    for (let sequence = from; sequence < t.state[State.fills]!; sequence++) {
      const row = fillRowAt(sequence, t.fillRows);
      const i = row * FILL_WORDS;
      const f = row * FILL_DOUBLES;
      found.push({
        sequence,
        taker: t.fillI[i + Fill.takerId + ID_WORDS - 1]!,
        maker: t.fillI[i + Fill.makerId + ID_WORDS - 1]!,
        takerToken: t.fillI[i + Fill.takerToken]! as TokenRow,
        makerToken: t.fillI[i + Fill.makerToken]! as TokenRow,
        size: t.fillF[f + Fill.size]!,
        takerPips: t.fillI[i + Fill.takerPrice]! as Pips,
        makerPips: t.fillI[i + Fill.makerPrice]! as Pips,
      });
    }
    return found;
  }

  private applySource(encode: typeof encodeLevel, level: SimulatedLevel): RejectReasonCode {
    this.out.clear();
    return this.apply(
      encode(this.out, {
        token: level.token,
        side: Side[level.side],
        pips: level.pips as Pips,
        size: level.size as MicroShares,
      }),
    );
  }

  private moveFunds(kind: FundsKind, { amount, id, payer, token }: Movement): RejectReasonCode {
    this.out.clear();
    return this.apply(
      encodeFunds(this.out, kind, {
        id: id === undefined ? this.requestId() : textId(id),
        ...(payer === undefined ? {} : { wallet: addressOf(payer) }),
        market: token === undefined ? 0 : tokenMarket(this.engine.t, token),
        amount,
      }),
    );
  }

  private requestId(): RequestIdFields {
    this.requests += 1;
    return {
      isOperator: true,
      ms: this.time,
      key: numbered(REQUEST_KEY_WORDS, 5, this.requests),
    };
  }

  private accountOf(payer: Payer): AccountRow | 0 {
    return findAccount(this.engine.t, addressOf(payer), 0);
  }

  private apply(at: number): RejectReasonCode {
    return this.run(() => this.engine.apply(this.out.i32, this.out.f64, at));
  }

  /** Runs one call as a batch of its own: orders closed earlier may be forgotten. */
  private run(body: () => RejectReasonCode): RejectReasonCode {
    this.engine.begin(this.time, this.engine.t.state[State.closed]!);
    const reason = body();
    this.engine.end();
    return reason;
  }
}

function textId(id: number): RequestIdFields {
  return { isOperator: true, ms: undefined, key: numbered(REQUEST_KEY_WORDS, 6, id) };
}

function addressOf(payer: Payer): Int32Array {
  return payer === 'source' ? SOURCE_ADDRESS : numbered(ADDRESS_WORDS, 1, payer);
}

function numbered(words: number, kind: number, number: number): Int32Array {
  const key = new Int32Array(words);
  key[0] = kind;
  key[words - 1] = number;
  return key;
}
