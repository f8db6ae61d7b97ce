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
 *   marketWithEnd as market, and after its ids: end f64, unix milliseconds, 0 = none
 *   marketChange  header market flags ticksPerUnit baseFee - | minSize f64             8 words
 *   marketChangeWithEnd  as marketChange, and after it: end f64                          10 words
 *   configure     header selfTrade (2 bits) openOrdersPerAccount (30) | history f64
 *                 orderRows f64 (the oldest have none) | walletsPerSigner f64 (older ones have none)
 *                 ledger f64 (those of a node without a ledger have none)               8 or 10 words
 *   deposit, withdraw, split, merge, declare
 *                 header flags market - | amount f64 | ms f64 key (4) wallet (5) signer (5)
 *                                                                                        22 words
 *   payFees, drawFees        as deposit: cash of the venue goes to a wallet, or out of the ledger
 *   resolve       header flags market count | - - | ms f64 key (4) group (8) weights, one a word
 *   propose       as resolve, with the review in milliseconds as f64 before ms
 *   withdrawProposal  header flags market - | - - | ms f64 key (4)                          12 words
 *   resolveStep   header market limit -                                                   4 words
 *   controlRecord header kind bytes - | the bytes, padded to eight with zeros: the engine passes them on
 *   level         header token pips side | size f64                                       6 words
 *   print         header token pips side | size f64                                       6 words
 *   fill          header - - - | size f64 | id (8)                                       14 words
 *   textId        a command with a request id that is a text of an operator: its own kind stands in its flags,
 *                 its ms is 0, and all else is as without; so an older version refuses it by its kind
 */
import { assert } from './book/matching.ts';
import { OUTCOMES_MAX } from './tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS, REQUEST_KEY_WORDS } from './tables/codes.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  OrderRow,
  Pips,
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
  deposit: 7,
  withdraw: 8,
  split: 9,
  merge: 10,
  declare: 11,
  resolve: 12,
  resolveStep: 13,
  controlRecord: 14,
  level: 15,
  print: 16,
  fill: 17,
  textId: 18,
  payFees: 19,
  drawFees: 20,
  marketWithEnd: 21,
  marketChangeWithEnd: 22,
  propose: 23,
  withdrawProposal: 24,
} as const;
/** Highest known kind. A newer version wrote a command above it. */
export const COMMAND_KIND_MAX = CommandKind.withdrawProposal;

/** Order types of the wire (docs/protocol.md#order-types). */
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

export const OrderFlag = {
  sell: 1 << 0,
  typeShift: 1,
  postOnly: 1 << 3,
  signatureShift: 4,
  feeShift: 8,
} as const;

/**
 * OrderCommand.precheck: results of the checks that need the request alone. The low byte holds an early rule that
 * failed; the bits are later rules that will fail at their place in the order of checks.
 */
export const PrecheckFlags = {
  reasonMask: 0xff,
  amounts: 1 << 9,
  feeNegative: 1 << 10,
  feeTooHigh: 1 << 11,
  tooLarge: 1 << 12,
  taker: 1 << 13,
  signature: 1 << 14,
  /** The wallet is derived from its signer, so no binding to another signer refuses it. */
  derivedWallet: 1 << 15,
  /** Three bits: Status of an accepted order with this id that has left memory. */
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
  end: 4,
  wordsWithEnd: 10,
} as const;
export const ConfigureCommand = {
  limits: 1,
  selfTradeMask: 3,
  openOrdersShift: 2,
  history: 1,
  orderRows: 2,
  walletsPerSigner: 3,
  ledger: 4,
  words: 8,
  wordsWithLedger: 10,
  /** Words of commands from before a column was added. */
  wordsWithoutOrderRows: 4,
  wordsWithoutWallets: 6,
} as const;

/** Columns of the request id, common to all commands that have one. */
export const RequestId = { ms: 3, key: 8 } as const;
/** Flags of commands with a request id. The bits from `kindShift` up hold the kind of a `textId`. */
export const RequestFlag = { operator: 1, isVoid: 2, kindShift: 8 } as const;

export const FundsCommand = {
  flags: 1,
  market: 2,
  amount: 2,
  wallet: 12,
  signer: 17,
  words: 22,
} as const;
export const ResolveCommand = {
  flags: 1,
  market: 2,
  count: 3,
  review: 2,
  group: 12,
  weights: 20,
} as const;
export const WithdrawProposalCommand = { market: 2, words: 12 } as const;
export const ResolveStepCommand = { market: 1, limit: 2, words: 4 } as const;
export const ControlRecordCommand = { kind: 1, bytes: 2, body: 4 } as const;
export const LevelCommand = { token: 1, pips: 2, side: 3, size: 2, words: 6 } as const;
export const FillCommand = { size: 2, id: 6, words: 14 } as const;
/** @internal Tests reach the bound. */
export const CONTROL_RECORD_BYTES_MAX = 4_096;

const KIND_BITS = 8;

/** Sequence of commands in memory of its own, which grows. */
export class CommandBuffer {
  i32: Int32Array<ArrayBuffer>;
  f64: Float64Array<ArrayBuffer>;
  words = 0;

  constructor(words = 1 << 14) {
    this.i32 = new Int32Array(words);
    this.f64 = new Float64Array(this.i32.buffer);
  }

  clear(): void {
    this.words = 0;
  }

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
  /** Unix milliseconds; 0 = no end. `undefined` keeps the end, or sets none in a new market. */
  readonly end?: number;
}

/** Encodes the registration of a market. `condition` has 8 words, `tokens` 8 words for each outcome. */
export function encodeMarket(
  out: CommandBuffer,
  fields: MarketFields,
  condition: Int32Array,
  tokens: readonly Int32Array[],
): number {
  assert(tokens.length >= 1 && tokens.length <= OUTCOMES_MAX, 'a market has 1 to 64 outcomes');
  const { end } = fields;
  const words = MarketCommand.tokens + ID_WORDS * tokens.length;
  const at =
    end === undefined
      ? out.begin(CommandKind.market, words)
      : out.begin(CommandKind.marketWithEnd, words + 2);
  if (end !== undefined) out.f64[(at + words) / 2] = end;
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

/**
 * Encodes a change of tick, flags, fee, minimum size or end; negRisk and tokens never change. A reached end or a
 * resolution makes the end final.
 */
export function encodeMarketChange(
  out: CommandBuffer,
  market: MarketRow,
  fields: MarketFields,
): number {
  const { end } = fields;
  const at =
    end === undefined
      ? out.begin(CommandKind.marketChange, MarketChangeCommand.words)
      : out.begin(CommandKind.marketChangeWithEnd, MarketChangeCommand.wordsWithEnd);
  if (end !== undefined) out.f64[at / 2 + MarketChangeCommand.end] = end;
  out.i32[at + MarketChangeCommand.market] = market;
  out.i32[at + MarketChangeCommand.flags] = fields.flags;
  out.i32[at + MarketChangeCommand.ticksPerUnit] = fields.ticksPerUnit;
  out.i32[at + MarketChangeCommand.baseFeeBps] = fields.baseFeeBps;
  out.f64[at / 2 + MarketChangeCommand.minSize] = fields.minSize;
  return at;
}

/**
 * Encodes the settings that change results: self-trade policy (context.ts), closed orders whose ids stay in memory,
 * open orders of an account (0 = no bound), rows of orders (0 = the whole table), wallets of a signer beside its
 * own address (0 = no bound). The first batch also says whether there is a ledger.
 */
export function encodeConfigure(
  out: CommandBuffer,
  selfTrade: number,
  history: number,
  openOrdersPerAccount: number,
  orderRows: number,
  walletsPerSigner = 0,
  ledger = false,
): number {
  const { words, wordsWithLedger } = ConfigureCommand;
  const at = out.begin(CommandKind.configure, ledger ? wordsWithLedger : words);
  out.i32[at + ConfigureCommand.limits] =
    selfTrade | (openOrdersPerAccount << ConfigureCommand.openOrdersShift);
  out.f64[at / 2 + ConfigureCommand.history] = history;
  out.f64[at / 2 + ConfigureCommand.orderRows] = orderRows;
  out.f64[at / 2 + ConfigureCommand.walletsPerSigner] = walletsPerSigner;
  if (ledger) out.f64[at / 2 + ConfigureCommand.ledger] = 1;
  return at;
}

/** Encodes the cancel of one order, which `signer` (5 words) must own. */
export function encodeCancel(out: CommandBuffer, id: Int32Array, signer: Int32Array): number {
  const at = out.begin(CommandKind.cancel, CancelCommand.words);
  out.i32.set(id, at + CancelCommand.id);
  out.i32.set(signer, at + CancelCommand.signer);
  return at;
}

export interface CancelOwnerFields {
  readonly signer: Int32Array;
  /** 0 = all markets. */
  readonly market: MarketRow | 0;
  readonly token: TokenRow | 0;
  /** Open orders that the command may visit, so that a writer turn stays short. */
  readonly limit: number;
  /** Order at which the command before it stopped (context.nextOwned); 0 = the newest order. */
  readonly from: OrderRow | 0;
  /** Unix milliseconds: later orders are left alone, so that a sequence of these commands ends. */
  readonly newest: number;
}

/** Encodes the cancel of an owner's open orders, newest first: all, those of a market, or those of a token. */
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
  /** 0 = unknown: the precheck refuses it. */
  readonly token: TokenRow | 0;
  readonly side: number;
  readonly type: number;
  readonly postOnly: boolean;
  /** takerAmount of a BUY, makerAmount of a SELL. */
  readonly shares: MicroShares;
  /** makerAmount of a BUY, takerAmount of a SELL. */
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

export interface RequestIdFields {
  readonly isOperator: boolean;
  /** Unix milliseconds at the beginning of the id; `undefined` for a text of an operator. */
  readonly ms: number | undefined;
  /** 4 words: a hash of the whole id. */
  readonly key: Int32Array;
}

export interface FundsFields {
  readonly id: RequestIdFields;
  /** 5 words; absent in `drawFees` alone. */
  readonly wallet?: Int32Array;
  /** 5 words, for deposits and declarations. */
  readonly signer?: Int32Array;
  /** For splits and merges; 0 = unknown. */
  readonly market?: MarketRow | 0;
  /** Micro-units; a fraction is refused. Absent in declarations. */
  readonly amount?: number;
}

export type FundsKind =
  | 'deposit'
  | 'withdraw'
  | 'split'
  | 'merge'
  | 'declare'
  | 'payFees'
  | 'drawFees';

/** Encodes a movement of cash and shares, or the declaration of a signer (docs/ledger.md#commands). */
export function encodeFunds(out: CommandBuffer, kind: FundsKind, fields: FundsFields): number {
  assert(
    (fields.wallet === undefined) === (kind === 'drawFees'),
    'it names a wallet, or no wallet',
  );
  const at = beginRequest(out, CommandKind[kind], FundsCommand.words, fields.id);
  out.i32[at + FundsCommand.market] = fields.market ?? 0;
  out.f64[at / 2 + FundsCommand.amount] = fields.amount ?? 0;
  if (fields.wallet !== undefined) {
    copyWords(fields.wallet, out.i32, at + FundsCommand.wallet, ADDRESS_WORDS);
  }
  if (fields.signer !== undefined) {
    copyWords(fields.signer, out.i32, at + FundsCommand.signer, ADDRESS_WORDS);
  }
  return at;
}

export interface ResolveFields {
  readonly id: RequestIdFields;
  readonly market: MarketRow | 0;
  readonly weights: readonly number[];
  readonly isVoid?: boolean;
  /** 8 words of the neg-risk group. */
  readonly group?: Int32Array;
  /** Milliseconds for which the payout is a proposal. */
  readonly review?: number | undefined;
}

/**
 * Encodes the payout of a market, which ends its trading. With a review the market halts until the deadline
 * (docs/ledger.md#resolution).
 */
export function encodeResolve(out: CommandBuffer, fields: ResolveFields): number {
  const { group, isVoid, market, review, weights } = fields;
  const words = ResolveCommand.weights + weights.length + (weights.length % 2);
  const kind = review === undefined ? CommandKind.resolve : CommandKind.propose;
  const at = beginRequest(out, kind, words, fields.id);
  if (review !== undefined) out.f64[at / 2 + ResolveCommand.review] = review;
  if (isVoid === true) out.i32[at + ResolveCommand.flags]! |= RequestFlag.isVoid;
  out.i32[at + ResolveCommand.market] = market;
  out.i32[at + ResolveCommand.count] = weights.length;
  if (group !== undefined) copyWords(group, out.i32, at + ResolveCommand.group, ID_WORDS);
  weights.forEach((weight, i) => {
    // What is no whole number of 32 bits must not become one.
    out.i32[at + ResolveCommand.weights + i] = weight === (weight | 0) ? weight : -1;
  });
  return at;
}

export interface WithdrawProposalFields {
  readonly id: RequestIdFields;
  readonly market: MarketRow | 0;
}

/** Encodes the withdrawal of a proposed payout: the market trades again (docs/ledger.md#proposals). */
export function encodeWithdrawProposal(
  out: CommandBuffer,
  { id, market }: WithdrawProposalFields,
): number {
  const { words } = WithdrawProposalCommand;
  const at = beginRequest(out, CommandKind.withdrawProposal, words, id);
  out.i32[at + WithdrawProposalCommand.market] = market;
  return at;
}

/** Encodes a step of a resolution: at most `limit` orders end or holders are paid. */
export function encodeResolveStep(out: CommandBuffer, market: MarketRow, limit: number): number {
  const at = out.begin(CommandKind.resolveStep, ResolveStepCommand.words);
  out.i32[at + ResolveStepCommand.market] = market;
  out.i32[at + ResolveStepCommand.limit] = limit;
  return at;
}

/** Encodes a kind and bytes that the engine does not interpret (storage/control-records/control-records.ts). */
export function encodeControlRecord(out: CommandBuffer, kind: number, bytes: Uint8Array): number {
  assert(
    bytes.length <= CONTROL_RECORD_BYTES_MAX,
    'a control record has a bounded number of bytes',
  );
  const at = out.begin(
    CommandKind.controlRecord,
    ControlRecordCommand.body + 2 * Math.ceil(bytes.length / 8),
  );
  out.i32[at + ControlRecordCommand.kind] = kind;
  out.i32[at + ControlRecordCommand.bytes] = bytes.length;
  new Uint8Array(out.i32.buffer).set(bytes, 4 * (at + ControlRecordCommand.body));
  return at;
}

export function controlRecordBytes(i32: Int32Array, at: number): Uint8Array {
  const from = i32.byteOffset + 4 * (at + ControlRecordCommand.body);
  return new Uint8Array(i32.buffer, from, i32[at + ControlRecordCommand.bytes]!);
}

export interface LevelFields {
  /** 0 = unknown: it is refused. */
  readonly token: TokenRow | 0;
  /** Side of a source level, or side of the taker of a trade print. */
  readonly side: number;
  readonly pips: Pips;
  readonly size: MicroShares;
}

export function encodeLevel(out: CommandBuffer, fields: LevelFields): number {
  return encodeAtPrice(out, CommandKind.level, fields);
}

export function encodePrint(out: CommandBuffer, fields: LevelFields): number {
  return encodeAtPrice(out, CommandKind.print, fields);
}

function encodeAtPrice(out: CommandBuffer, kind: number, fields: LevelFields): number {
  const at = out.begin(kind, LevelCommand.words);
  out.i32[at + LevelCommand.token] = fields.token;
  out.i32[at + LevelCommand.pips] = fields.pips;
  out.i32[at + LevelCommand.side] = fields.side;
  out.f64[at / 2 + LevelCommand.size] = fields.size;
  return at;
}

/** Encodes a trade of a taker of the source with the order of this id, of at most this size. */
export function encodeFill(out: CommandBuffer, id: Int32Array, size: MicroShares): number {
  const at = out.begin(CommandKind.fill, FillCommand.words);
  out.f64[at / 2 + FillCommand.size] = size;
  copyWords(id, out.i32, at + FillCommand.id, ID_WORDS);
  return at;
}

function beginRequest(
  out: CommandBuffer,
  kind: number,
  words: number,
  { isOperator, key, ms }: RequestIdFields,
): number {
  assert(isOperator || ms !== undefined, 'only operators have ids that are texts');
  const at = out.begin(ms === undefined ? CommandKind.textId : kind, words);
  out.i32[at + FundsCommand.flags] =
    (isOperator ? RequestFlag.operator : 0) |
    (ms === undefined ? kind << RequestFlag.kindShift : 0);
  out.f64[at / 2 + RequestId.ms] = ms ?? 0;
  copyWords(key, out.i32, at + RequestId.key, REQUEST_KEY_WORDS);
  return at;
}

/** Returns the kind of a command with a request id, also when the id is a text. */
export function requestKind(i32: Int32Array, at: number): number {
  const kind = commandKind(i32, at);
  return kind === CommandKind.textId
    ? i32[at + FundsCommand.flags]! >>> RequestFlag.kindShift
    : kind;
}

export function hasTextId(i32: Int32Array, at: number): boolean {
  return commandKind(i32, at) === CommandKind.textId;
}

function copyWords(from: Int32Array, to: Int32Array, at: number, words: number): void {
  for (let i = 0; i < words; i++) to[at + i] = from[i]!;
}

assert(OrderCommand.apiKey + API_KEY_WORDS === OrderCommand.words, 'an order command is full');
