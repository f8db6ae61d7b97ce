/**
 * Drives the engine with the plain commands of naive-types.ts and reads back the results in plain
 * form. It stands for the server: it encodes, gives verdicts, and keeps the log.
 */
import {
  CommandBuffer,
  encodeCancel,
  encodeCancelOwner,
  encodeConfigure,
  encodeFeeSchedule,
  encodeFill,
  encodeLevel,
  encodeMarket,
  encodeMarketChange,
  encodeOrder,
  encodePrint,
  encodeSettle,
  encodeTakerDelay,
  encodeWalletLimits,
  type MarketFields,
  OrderType,
  PrecheckFlags,
  Side,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { EventBuffer } from '../../engine/events.ts';
import { closedOrder, findOrder } from '../../engine/orders/orders.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { engineSettings } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { EndReason, MarketFlag, SOURCE_ADDRESS, Status } from '../../engine/tables/codes.ts';
import { Depth, type DepthSide, readDepth } from '../../engine/tables/depth.ts';
import {
  ACCOUNT_I,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  Flag,
  MARKET_F,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
} from '../../engine/tables/layout.ts';
import { allocateEngine, type Tables } from '../../engine/tables/tables.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  Pips,
  TicksPerUnit,
  TokenRow,
} from '../../engine/tables/units.ts';
import {
  type BookView,
  type Command,
  type EndLine,
  type EndWord,
  type FillLine,
  type OrderLine,
  type Outcome,
  POLICIES,
  SOURCE,
  type Terms,
} from './naive-types.ts';

const AMOUNT_MAX = 2n ** 53n - 1n;
const PIPS = 10_000;
const KINDS = ['fills', 'mints', 'merges'] as const;
const REASON_NAMES = Object.keys(EndReason) as readonly EndWord[];
const STATUS_NAMES: Readonly<Record<number, string>> = {
  [Status.matched]: 'matched',
  [Status.canceled]: 'canceled',
  [Status.expired]: 'expired',
};

/** Capacities above the needs of every test. */
export const ROOMY: Capacities = {
  markets: 16,
  tokens: 64,
  accounts: 4_096,
  orders: 65_536,
  levels: 200_000,
  trades: 1_000,
  history: 131_072,
  positions: 0,
  operatorIds: 0,
};

/** Eight words that look like a hash; the number stands in the last one. */
export function idWords(n: number): Int32Array {
  const words = new Int32Array(8);
  for (let i = 0; i < 7; i++) words[i] = Math.imul(n + 1, 0x9e3779b1 + 2 * i) ^ (n << i);
  words[7] = n;
  return words;
}

/** Five words of an address; the number stands in the last one. */
export function addressWords(n: number): Int32Array {
  if (n === SOURCE) return SOURCE_ADDRESS;
  return Int32Array.of(Math.imul(n, 0x85ebca6b), ~n, 0, n * 7, n);
}

export interface LoggedBatch {
  readonly time: number;
  readonly persistedClosedSequence: number;
  readonly commands: readonly Int32Array<ArrayBuffer>[];
}

export class EngineDriver {
  readonly engine: Engine;
  readonly t: Tables;
  readonly logged: LoggedBatch[] = [];
  /** Sequence up to which final states count as flushed, from the next batch on. */
  persistedClosedSequence = 0;
  /** Bound set together with a change of the self-trade policy; 0 = no bound. */
  openOrdersPerAccount = 0;
  openOrdersPerWallet = 0;
  exposurePerWallet = 0;
  walletsPerSigner = 0;
  /** True when the first batch, if it sets a policy, also declares a ledger. */
  hasLedger = false;
  readonly #buffer = new CommandBuffer();
  readonly #depth = new Depth();
  /** Accepted ids: those that LMDB would have once memory has dropped them. */
  readonly #accepted = new Set<number>();
  #batch: {
    time: number;
    persistedClosedSequence: number;
    commands: Int32Array<ArrayBuffer>[];
  } | null = null;

  constructor(capacities: Capacities = ROOMY, events = new EventBuffer(0)) {
    this.engine = new Engine(allocateEngine(capacities), events);
    this.t = this.engine.t;
  }

  run(command: Command): Outcome {
    const fills = this.t.state[State.fills]!;
    const finished = this.t.state[State.closed]!;
    if (command.kind === 'at') {
      this.close();
      this.#open(command.time, this.persistedClosedSequence);
      return this.#outcome(command, RejectReason.accepted, fills, finished);
    }
    const reason = this.apply(() => this.#encode(command));
    if (command.kind === 'policy') this.#applyLimits();
    if (command.kind === 'order' && reason === RejectReason.accepted)
      this.#accepted.add(command.id);
    return this.#outcome(command, reason, fills, finished);
  }

  #applyLimits(): void {
    const { exposurePerWallet, openOrdersPerWallet } = engineSettings(this.t);
    const isSame =
      exposurePerWallet === this.exposurePerWallet &&
      openOrdersPerWallet === this.openOrdersPerWallet;
    if (isSame) return;
    this.apply((out) => {
      encodeWalletLimits(out, engineSettings(this.t), this);
      return 0;
    });
  }

  apply(encode: (out: CommandBuffer) => number): RejectReasonCode {
    const { context } = this.engine;
    const { changes } = context;
    const batch = this.#batch;
    if (batch === null) throw new Error('a command is applied in a batch: run `at` before it');
    this.#buffer.clear();
    const at = encode(this.#buffer);
    const reason = this.engine.apply(this.#buffer.i32, this.#buffer.f64, at);
    // Tests look in the middle of a batch, which no reader of a node can.
    if (context.changes !== changes) {
      batch.commands.push(this.#buffer.i32.slice(0, this.#buffer.words));
    }
    return reason;
  }

  endedFrom(sequence: number): EndLine[] {
    const ended: EndLine[] = [];
    for (let n = sequence; n < this.t.state[State.closed]!; n++) ended.push(this.#endLine(n));
    return ended;
  }

  close(): void {
    const batch = this.#batch;
    this.#batch = null;
    if (batch !== null && this.engine.end()) this.logged.push(batch);
  }

  /** Ends the open batch, so that its books may be read, and opens another one of the same time. */
  settle(): void {
    const batch = this.#batch;
    if (batch === null) return;
    this.close();
    this.#open(batch.time, batch.persistedClosedSequence);
  }

  book(token: number): BookView {
    this.settle();
    const depth = this.#depth;
    if (!readDepth(this.t, token as TokenRow, depth))
      throw new Error('nobody writes, so a read succeeds');
    const perTick = PIPS / depth.ticksPerUnit;
    const levels = (side: DepthSide) =>
      Array.from({ length: side.count }, (_, i): [number, number] => [
        side.ticks[i]! * perTick,
        side.sizes[i]!,
      ]);
    return {
      bids: levels(depth.bids),
      asks: levels(depth.asks),
      changedAt: depth.changedAt,
      grid: depth.ticksPerUnit,
      minSize: depth.minSize,
      lastPrice: depth.lastPrice,
      lastSide: depth.lastSide === Side.buy ? 'BUY' : 'SELL',
    };
  }

  rounding(market: number): number {
    return this.t.marketF[(market << MARKET_F) + Market.rounding]!;
  }

  fillLine(sequence: number): FillLine {
    const { fillF, fillI, fillRows } = this.t;
    const f = (sequence % fillRows) * FILL_DOUBLES;
    const i = (sequence % fillRows) * FILL_WORDS;
    return {
      kind: KINDS[fillI[i + Fill.kind]!] ?? 'fills',
      match: fillF[f + Fill.match]!,
      size: fillF[f + Fill.size]!,
      taker: fillI[i + Fill.takerId + 7]!,
      takerAccount: this.#address(fillI[i + Fill.taker]!),
      takerOwner: this.#address(fillI[i + Fill.takerOwner]!),
      takerToken: fillI[i + Fill.takerToken]!,
      takerSide: fillI[i + Fill.takerSide] === Side.buy ? 'BUY' : 'SELL',
      takerPrice: fillI[i + Fill.takerPrice]!,
      takerCollateral: fillF[f + Fill.takerCollateral]!,
      fee: fillF[f + Fill.fee]!,
      isScheduled: (fillI[i + Fill.terms]! & 1) === 1,
      rebate: fillI[i + Fill.rebate]!,
      maker: fillI[i + Fill.makerId + 7]!,
      makerAccount: this.#address(fillI[i + Fill.maker]!),
      makerOwner: this.#address(fillI[i + Fill.makerOwner]!),
      makerToken: fillI[i + Fill.makerToken]!,
      makerPrice: fillI[i + Fill.makerPrice]!,
      makerCollateral: fillF[f + Fill.makerCollateral]!,
    };
  }

  isInMemory(id: number): boolean {
    return findOrder(this.t, idWords(id), 0) !== 0;
  }

  #open(time: number, persistedClosedSequence: number): void {
    this.#batch = { time, persistedClosedSequence, commands: [] };
    this.engine.begin(time, persistedClosedSequence);
  }

  #address(account: number): number {
    return this.t.accountI[(account << ACCOUNT_I) + 4]!;
  }

  #outcome(
    command: Command,
    reason: RejectReasonCode,
    fillsFrom: number,
    endedFrom: number,
  ): Outcome {
    const { context } = this.engine;
    const isOrder = command.kind === 'order' && reason === RejectReason.accepted;
    const fills: FillLine[] = [];
    for (let n = fillsFrom; n < this.t.state[State.fills]!; n++) fills.push(this.fillLine(n));
    const ended = this.endedFrom(endedFrom);
    const making = isOrder ? context.making : 0;
    const taking = isOrder ? context.taking : 0;
    return { reason, making, taking, fills, ended, waits: isOrder && context.isDelayed };
  }

  #endLine(sequence: number): EndLine {
    const { orderF, orderI } = this.t;
    const row = closedOrder(this.t, sequence);
    const flags = orderI[(row << ORDER_I) + Order.flags]!;
    return {
      id: orderI[(row << ORDER_I) + Order.id + 7]!,
      reason: REASON_NAMES[(flags >>> Flag.reasonShift) & 15]!,
      status: STATUS_NAMES[(flags >>> Flag.statusShift) & 7] ?? 'none',
      remaining: orderF[(row << ORDER_F) + Order.remaining]!,
    };
  }

  #encode(command: Exclude<Command, { kind: 'at' }>): number {
    const out = this.#buffer;
    switch (command.kind) {
      case 'order':
        return this.#encodeOrder(command);
      case 'cancel':
        return encodeCancel(out, idWords(command.id), addressWords(command.signer));
      case 'cancel-all':
        return encodeCancelOwner(out, {
          signer: addressWords(command.signer),
          market: command.market as MarketRow | 0,
          token: command.token as TokenRow | 0,
          limit: command.limit,
          from: 0,
          newest: Number.MAX_SAFE_INTEGER,
        });
      case 'market': {
        const ids = Array.from({ length: command.outcomes }, (_, i) =>
          idWords(1_000_000 + command.condition * 100 + i),
        );
        return encodeMarket(out, marketFields(command), idWords(command.condition), ids);
      }
      case 'change':
        return encodeMarketChange(out, command.market as MarketRow, marketFields(command));
      case 'fill':
        return encodeFill(out, idWords(command.id), command.size as MicroShares);
      case 'level':
      case 'print': {
        const { kind, pips, side, size, token } = command;
        const fields = {
          token: token as TokenRow,
          side: side === 'BUY' ? Side.buy : Side.sell,
          pips: pips as Pips,
          size: size as MicroShares,
        };
        return kind === 'level' ? encodeLevel(out, fields) : encodePrint(out, fields);
      }
      case 'fees':
        return encodeFeeSchedule(out, idWords(command.condition), command);
      case 'delay':
        return encodeTakerDelay(out, idWords(command.condition), command.seconds);
      case 'settle':
        return encodeSettle(out, command.fault);
      case 'policy':
        return encodeConfigure(
          out,
          POLICIES.indexOf(command.policy),
          this.t.state[State.history]!,
          this.openOrdersPerAccount,
          0,
          this.walletsPerSigner,
          this.hasLedger,
        );
    }
  }

  #encodeOrder(line: OrderLine): number {
    const { shares, collateral } = line;
    const isSendable = shares > 0n && collateral > 0n && !isTooLarge(line);
    const feeIsSendable = line.feeRateBps >= 0 && line.feeRateBps <= 1_000;
    return encodeOrder(this.#buffer, {
      token: line.token <= this.t.state[State.tokens]! ? (line.token as TokenRow) : 0,
      side: line.side === 'BUY' ? Side.buy : Side.sell,
      type: OrderType[line.type],
      postOnly: line.postOnly,
      shares: (isSendable ? Number(shares) : 0) as MicroShares,
      collateral: (isSendable ? Number(collateral) : 0) as MicroCollateral,
      expiration: line.expiration,
      feeRateBps: feeIsSendable ? line.feeRateBps : 0,
      signatureType: line.signatureType,
      precheck: this.#verdict(line),
      id: idWords(line.id),
      maker: addressWords(line.maker),
      signer: addressWords(line.signer),
      apiKey: Int32Array.of(1, 2, 3, line.signer),
      ...(line.delay === undefined ? {} : { delay: line.delay }),
      settlement: line.settlement,
    });
  }

  #verdict(line: OrderLine): number {
    const { faults } = line;
    const isImmediate = line.type === 'FOK' || line.type === 'FAK';
    const isForgotten = this.#accepted.has(line.id) && !this.isInMemory(line.id);
    let early: RejectReasonCode = RejectReason.accepted;
    if (faults.includes('foreign-key')) early = RejectReason.ownerMismatch;
    else if (line.postOnly && isImmediate) early = RejectReason.postOnlyType;
    else if (faults.includes('unknown-condition')) early = RejectReason.conditionUnknown;
    else if (line.token > this.t.state[State.tokens]!) early = RejectReason.tokenUnknown;
    else if (faults.includes('other-condition')) early = RejectReason.tokenOfOtherCondition;
    return (
      early |
      (faults.includes('known') || isForgotten ? PrecheckFlags.known : 0) |
      (line.shares <= 0n || line.collateral <= 0n ? PrecheckFlags.amounts : 0) |
      (line.feeRateBps < 0 ? PrecheckFlags.feeNegative : 0) |
      (line.feeRateBps > 1_000 ? PrecheckFlags.feeTooHigh : 0) |
      (isTooLarge(line) ? PrecheckFlags.tooLarge : 0) |
      (faults.includes('private') ? PrecheckFlags.taker : 0) |
      (faults.includes('forged') ? PrecheckFlags.signature : 0) |
      (line.derived === true ? PrecheckFlags.derivedWallet : 0) |
      (line.foreign === true ? PrecheckFlags.foreignWallet : 0)
    );
  }
}

function isTooLarge(line: OrderLine): boolean {
  return line.shares > AMOUNT_MAX || line.collateral > AMOUNT_MAX;
}

function marketFields(terms: Terms): MarketFields {
  return {
    flags:
      (terms.tradable ? MarketFlag.tradable : 0) |
      (terms.ended ? MarketFlag.ended : 0) |
      (terms.negRisk ? MarketFlag.negRisk : 0),
    ticksPerUnit: terms.grid as TicksPerUnit,
    baseFeeBps: terms.baseFeeBps,
    minSize: Number(terms.minSize) as MicroShares,
    ...(terms.end === undefined ? {} : { end: terms.end }),
  };
}

/** Applies logged batches to fresh tables, or to those of a snapshot, like recovery. */
export function replay(
  logged: readonly LoggedBatch[],
  capacities: Capacities = ROOMY,
  tables?: Tables,
): Engine {
  const engine = new Engine(tables?.memory ?? allocateEngine(capacities));
  for (const batch of logged) {
    engine.begin(batch.time, batch.persistedClosedSequence);
    for (const words of batch.commands) {
      engine.apply(words, new Float64Array(words.buffer), 0);
    }
    engine.end();
  }
  return engine;
}
