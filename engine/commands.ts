/**
 * The codec of commands: the only form in which anything enters the engine, and the form in which
 * the log keeps it. A command is a run of 32-bit words that starts on a multiple of eight
 * bytes; its first word holds kind and length. Amounts are doubles that hold whole numbers.
 *
 *   order   header flags verdict token | shares f64 | collateral f64 | expiration f64
 *           id (8) maker (5) signer (5) apiKey (4)                                    32 words
 *   cancel  header - - - id (8) signer (5) -                                          18 words
 *   cancelOwner   header market token from signer (5) limit | newest f64              12 words
 *   market  header flags ticksPerUnit baseFee | minSize f64 | tokens - condition (8) ids (8 each)
 *   marketChange  header market flags ticksPerUnit baseFee - | minSize f64             8 words
 *   configure     header selfTrade (2 bits) openOrdersPerAccount (30) | history f64
 *                 orderRows f64 (the oldest have none) | walletsPerSigner f64 (older ones have none)
 *                                                                                      8 words
 */
import { assert } from './book/matching.ts';
import { OUTCOMES_MAX } from './tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS } from './tables/codes.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  OrderRow,
  TicksPerUnit,
  TokenRow,
} from './tables/units.ts';

export const CommandKind = {
  order: 1,
  cancel: 2,
  cancelOwner: 3,
  market: 4,
  marketChange: 5,
  configure: 6,
} as const;

/** What each type does: docs/protocol.md#order-types. */
export const OrderType = { GTC: 0, GTD: 1, FOK: 2, FAK: 3 } as const;
export const Side = { buy: 0, sell: 1 } as const;

export const OrderCommand = {
  flags: 1,
  precheck: 2,
  token: 3,
  shares: 2,
  collateral: 3,
  expiration: 4,
  id: 10,
  maker: 18,
  signer: 23,
  apiKey: 28,
  words: 32,
} as const;

/** OrderCommand.flags, from the low bit up. */
export const OrderFlag = {
  sell: 1 << 0,
  typeShift: 1,
  postOnly: 1 << 3,
  signatureShift: 4,
  feeShift: 8,
} as const;

/**
 * OrderCommand.verdict: what is known before the turn from the request alone. The low byte holds an
 * early rule that already failed; the bits are later rules that will fail when
 * their turn in the list comes.
 */
export const PrecheckFlags = {
  reasonMask: 0xff,
  amounts: 1 << 9,
  feeNegative: 1 << 10,
  feeTooHigh: 1 << 11,
  tooLarge: 1 << 12,
  taker: 1 << 13,
  signature: 1 << 14,
  /** No failure: its wallet follows from its signer, so no binding to another refuses it. */
  derivedWallet: 1 << 15,
  /** Three bits: Status of an order with this id that was accepted before and has left memory. */
  known: 7 << 16,
  knownShift: 16,
} as const;

export const CancelCommand = { id: 4, signer: 12, words: 18 } as const;
export const CancelOwnerCommand = {
  market: 1,
  token: 2,
  from: 3,
  signer: 4,
  limit: 9,
  newest: 5,
  words: 12,
} as const;
export const MarketCommand = {
  flags: 1,
  ticksPerUnit: 2,
  baseFeeBps: 3,
  minSize: 2,
  tokenCount: 6,
  condition: 8,
  tokens: 16,
} as const;
export const MarketChangeCommand = {
  market: 1,
  flags: 2,
  ticksPerUnit: 3,
  baseFeeBps: 4,
  minSize: 3,
  words: 8,
} as const;
export const ConfigureCommand = {
  limits: 1,
  selfTradeMask: 3,
  openOrdersShift: 2,
  history: 1,
  orderRows: 2,
  walletsPerSigner: 3,
  words: 8,
  /** Of those from before a column was added. */
  wordsWithoutOrderRows: 4,
  wordsWithoutWallets: 6,
} as const;

const KIND_BITS = 8;

/** Commands one after another; grows, because it is private to its thread. */
export class CommandBuffer {
  i32: Int32Array<ArrayBuffer>;
  f64: Float64Array<ArrayBuffer>;
  /** Words in use. */
  words = 0;

  constructor(words = 1 << 14) {
    this.i32 = new Int32Array(words);
    this.f64 = new Float64Array(this.i32.buffer);
  }

  clear(): void {
    this.words = 0;
  }

  /** Begins a command with all words zero; returns its first word. */
  begin(kind: number, words: number): number {
    assert(words % 2 === 0, 'commands start on eight bytes');
    const at = this.words;
    if (at + words > this.i32.length) this.grow(at + words);
    this.i32.fill(0, at, at + words);
    this.i32[at] = kind | (words << KIND_BITS);
    this.words = at + words;
    return at;
  }

  private grow(words: number): void {
    const larger = new Int32Array(2 * words);
    larger.set(this.i32);
    this.i32 = larger;
    this.f64 = new Float64Array(larger.buffer);
  }
}

export function commandKind(i32: Int32Array, at: number): number {
  return i32[at]! & ((1 << KIND_BITS) - 1);
}

export function commandWords(i32: Int32Array, at: number): number {
  return i32[at]! >>> KIND_BITS;
}

export interface MarketFields {
  readonly flags: number;
  readonly ticksPerUnit: TicksPerUnit;
  readonly baseFeeBps: number;
  readonly minSize: MicroShares;
}

/** Registers a market. `condition` has 8 words; `tokens` 8 words for each outcome, in order. */
export function encodeMarket(
  out: CommandBuffer,
  fields: MarketFields,
  condition: Int32Array,
  tokens: readonly Int32Array[],
): number {
  assert(tokens.length >= 1 && tokens.length <= OUTCOMES_MAX, 'a market has 1 to 64 outcomes');
  const at = out.begin(CommandKind.market, MarketCommand.tokens + ID_WORDS * tokens.length);
  out.i32[at + MarketCommand.flags] = fields.flags;
  out.i32[at + MarketCommand.ticksPerUnit] = fields.ticksPerUnit;
  out.i32[at + MarketCommand.baseFeeBps] = fields.baseFeeBps;
  out.f64[at / 2 + MarketCommand.minSize] = fields.minSize;
  out.i32[at + MarketCommand.tokenCount] = tokens.length;
  out.i32.set(condition, at + MarketCommand.condition);
  tokens.forEach((id, i) => {
    assert(id.length === ID_WORDS, 'a token id has eight words');
    out.i32.set(id, at + MarketCommand.tokens + ID_WORDS * i);
  });
  return at;
}

/** Changes tick, flags, fee or minimum size of a market; negRisk and tokens never change. */
export function encodeMarketChange(
  out: CommandBuffer,
  market: MarketRow,
  fields: MarketFields,
): number {
  const at = out.begin(CommandKind.marketChange, MarketChangeCommand.words);
  out.i32[at + MarketChangeCommand.market] = market;
  out.i32[at + MarketChangeCommand.flags] = fields.flags;
  out.i32[at + MarketChangeCommand.ticksPerUnit] = fields.ticksPerUnit;
  out.i32[at + MarketChangeCommand.baseFeeBps] = fields.baseFeeBps;
  out.f64[at / 2 + MarketChangeCommand.minSize] = fields.minSize;
  return at;
}

/**
 * Sets what changes results and is not of one market: the self-trade policy (context.ts), how many
 * finished orders keep their ids in memory, how many open orders an account may have (0 = any), how
 * many rows of orders may be used (0 = all that the table has), and how many wallets a signer may have
 * beside its own address (0 = any).
 */
export function encodeConfigure(
  out: CommandBuffer,
  selfTrade: number,
  history: number,
  openOrdersPerAccount: number,
  orderRows: number,
  walletsPerSigner = 0,
): number {
  const at = out.begin(CommandKind.configure, ConfigureCommand.words);
  out.i32[at + ConfigureCommand.limits] =
    selfTrade | (openOrdersPerAccount << ConfigureCommand.openOrdersShift);
  out.f64[at / 2 + ConfigureCommand.history] = history;
  out.f64[at / 2 + ConfigureCommand.orderRows] = orderRows;
  out.f64[at / 2 + ConfigureCommand.walletsPerSigner] = walletsPerSigner;
  return at;
}

/** Cancels one order by id, if `signer` (5 words) owns it. */
export function encodeCancel(out: CommandBuffer, id: Int32Array, signer: Int32Array): number {
  const at = out.begin(CommandKind.cancel, CancelCommand.words);
  out.i32.set(id, at + CancelCommand.id);
  out.i32.set(signer, at + CancelCommand.signer);
  return at;
}

export interface CancelOwnerFields {
  /** 5 words. */
  readonly signer: Int32Array;
  /** 0 = of any. */
  readonly market: MarketRow | 0;
  readonly token: TokenRow | 0;
  /** How many of the owner's open orders it looks at, so that a turn stays short. */
  readonly limit: number;
  /** Where the command before it left off (core.nextOwned); 0 = at the owner's newest order. */
  readonly from: OrderRow | 0;
  /** Unix milliseconds: orders that came later are left alone, so that going on has an end. */
  readonly newest: number;
}

/** Cancels open orders of an owner, newest first: all, those of one market, or of one token. */
export function encodeCancelOwner(out: CommandBuffer, fields: CancelOwnerFields): number {
  const at = out.begin(CommandKind.cancelOwner, CancelOwnerCommand.words);
  out.i32[at + CancelOwnerCommand.market] = fields.market;
  out.i32[at + CancelOwnerCommand.token] = fields.token;
  out.i32[at + CancelOwnerCommand.from] = fields.from;
  out.i32.set(fields.signer, at + CancelOwnerCommand.signer);
  out.i32[at + CancelOwnerCommand.limit] = fields.limit;
  out.f64[at / 2 + CancelOwnerCommand.newest] = fields.newest;
  return at;
}

export interface OrderFields {
  /** 0 = unknown: the verdict refuses it. */
  readonly token: TokenRow | 0;
  readonly side: number;
  readonly type: number;
  readonly postOnly: boolean;
  /** takerAmount of a BUY, makerAmount of a SELL. */
  readonly shares: MicroShares;
  /** The other amount. */
  readonly collateral: MicroCollateral;
  /** Unix seconds; 0 = never. */
  readonly expiration: number;
  readonly feeRateBps: number;
  readonly signatureType: number;
  readonly precheck: number;
  readonly id: Int32Array;
  readonly maker: Int32Array;
  readonly signer: Int32Array;
  readonly apiKey: Int32Array;
}

export function encodeOrder(out: CommandBuffer, order: OrderFields): number {
  const at = out.begin(CommandKind.order, OrderCommand.words);
  const { i32, f64 } = out;
  i32[at + OrderCommand.flags] =
    (order.side === Side.sell ? OrderFlag.sell : 0) |
    (order.type << OrderFlag.typeShift) |
    (order.postOnly ? OrderFlag.postOnly : 0) |
    (order.signatureType << OrderFlag.signatureShift) |
    (order.feeRateBps << OrderFlag.feeShift);
  i32[at + OrderCommand.precheck] = order.precheck;
  i32[at + OrderCommand.token] = order.token;
  f64[at / 2 + OrderCommand.shares] = order.shares;
  f64[at / 2 + OrderCommand.collateral] = order.collateral;
  f64[at / 2 + OrderCommand.expiration] = order.expiration;
  copyWords(order.id, i32, at + OrderCommand.id, ID_WORDS);
  copyWords(order.maker, i32, at + OrderCommand.maker, ADDRESS_WORDS);
  copyWords(order.signer, i32, at + OrderCommand.signer, ADDRESS_WORDS);
  copyWords(order.apiKey, i32, at + OrderCommand.apiKey, API_KEY_WORDS);
  return at;
}

function copyWords(from: Int32Array, to: Int32Array, at: number, words: number): void {
  for (let i = 0; i < words; i++) to[at + i] = from[i]!;
}

assert(OrderCommand.apiKey + API_KEY_WORDS === OrderCommand.words, 'an order command is full');
