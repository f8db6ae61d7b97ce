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
 *   feeSchedule   header rate exponent rebate | condition (8)                            12 words
 *   takerDelay    header seconds - - | condition (8)                                       12 words
 *   delayedOrder  as order, and after it: seconds -                                        34 words
 *   unsettledOrder  as delayedOrder, whose seconds may be 0, and then: ms fault, with fails in place of its last word   36 words
 *   settle        header fault - -                                                        4 words
 *   configure     header selfTrade (2 bits) openOrdersPerAccount (30) | history f64
 *                 orderRows f64 (the oldest have none) | walletsPerSigner f64 (older ones have none)
 *                 ledger f64 (those of a node without a ledger have none)               8 or 10 words
 *                 openOrdersPerWallet f64 | exposurePerWallet f64 (once written; now walletLimits)  14 words
 *   deposit, withdraw, split, merge, declare
 *                 header flags market - | amount f64 | ms f64 key (4) wallet (5) signer (5)
 *                                                                                        22 words
 *   payFees, payRebate, drawFees
 *                 as deposit: cash of the venue goes to a wallet, or out of the ledger
 *   relay         header count nonce - | digest (8) wallet (5) owner (5) signature (17) -
 *                 count times: kind market | amount f64                   40 words, and 4 for each call
 *   resolve       header flags market count | - - | ms f64 key (4) group (8) weights, one a word
 *   propose       as resolve, with the review in milliseconds as f64 before ms
 *   withdrawProposal  header flags market - | - - | ms f64 key (4)                          12 words
 *   resolveStep   header market limit -                                                   4 words
 *   controlRecord header kind bytes - | the bytes, padded to eight with zeros: the engine passes them on
 *   season        header flags - - | start sum f64 | ms f64 key (4)                        12 words
 *   seasonStep    header limit - -, of the kind of a season                                4 words
 *   level         header token pips side | size f64                                       6 words
 *   print         header token pips side | size f64                                       6 words
 *   fill          header - - - | size f64 | id (8)                                       14 words
 *   invite        header flags batch count | cash f64 | bytes of the note - | note (20) | digests (8 each): makes codes of
 *                 a new batch, or revokes open ones: those of the digests, or all of a batch
 *   redeem        header - - - | digest (8) wallet (5) -                                     18 words
 *   walletLimits  header - - - | openOrdersPerWallet f64 | exposurePerWallet f64              8 words
 *   house         header - - - | wallet (5) -                                                10 words
 *   agent         header flags count - | cash f64 | size f64 | end f64 | wallet (5) agent (5) owner (5) | markets, one a
 *                 word: authorises an agent of a wallet, or revokes it
 *   textId        a command with a request id that is a text of an operator: its own kind stands in its flags,
 *                 its ms is 0, and all else is as without; so an older version refuses it by its kind
 */
import { assert } from './book/matching.ts';
import {
  AGENT_MARKETS_MAX,
  INVITE_NOTE_BYTES_MAX,
  INVITES_OF_BATCH_MAX,
  OUTCOMES_MAX,
} from './tables/capacities.ts';
import {
  ADDRESS_WORDS,
  API_KEY_WORDS,
  ID_WORDS,
  REQUEST_KEY_WORDS,
  SIGNATURE_WORDS,
} from './tables/codes.ts';
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
  feeSchedule: 25,
  payRebate: 26,
  takerDelay: 27,
  delayedOrder: 28,
  unsettledOrder: 29,
  settle: 30,
  relay: 31,
  invite: 32,
  redeem: 33,
  season: 34,
  walletLimits: 35,
  house: 36,
  agent: 37,
} as const;
/** Highest known kind. A newer version wrote a command above it. */
export const COMMAND_KIND_MAX = CommandKind.agent;

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
  delay: 32,
  fails: 33,
  wordsWithDelay: 34,
  settleMs: 34,
  fault: 35,
  wordsWithSettlement: 36,
} as const;

export const OrderFlag = {
  sell: 1 << 0,
  typeShift: 1,
  postOnly: 1 << 3,
  signatureShift: 4,
  /** The order is checked by every rule and not placed; no log holds such a command. */
  trial: 1 << 6,
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
  /** The wallet is not of its signer: only an agent of the wallet may sign such an order. */
  foreignWallet: 1 << 19,
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
export const FeeScheduleCommand = {
  rate: 1,
  exponent: 2,
  rebate: 3,
  condition: 4,
  words: 12,
} as const;
export const TakerDelayCommand = { seconds: 1, condition: 4, words: 12 } as const;
export const SettleCommand = { fault: 1, words: 4 } as const;
export const ALL_FAULTS = -1;
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
  /** Limits of wallets, which a command of their own has now. */
  openOrdersPerWallet: 5,
  exposurePerWallet: 6,
  wordsWithLimits: 14,
  /** Words of commands from before a column was added. */
  wordsWithoutOrderRows: 4,
  wordsWithoutWallets: 6,
} as const;

export const WalletLimitsCommand = { openOrders: 2, exposure: 3, words: 8 } as const;
export const HouseCommand = { wallet: 4, words: 10 } as const;

export const AgentCommand = {
  flags: 1,
  count: 2,
  // Float64
  cash: 2,
  size: 3,
  end: 4,
  // Int32
  wallet: 10,
  agent: 15,
  owner: 20,
  markets: 25,
} as const;
export const AgentFlag = {
  revoke: 1,
  /** The wallet is derived from its owner. */
  derivedWallet: 2,
} as const;

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
export const RelayCommand = {
  count: 1,
  nonce: 2,
  digest: 4,
  wallet: 12,
  owner: 17,
  signature: 22,
  calls: 40,
} as const;
/** Columns of a call of a relayed batch. `amount` is of doubles. */
export const RelayCall = { kind: 0, market: 1, amount: 1, words: 4 } as const;
/** Kinds of calls. An approval moves nothing, as the ledger needs none. */
export const RelayKind = { approve: 0, split: 1, merge: 2, redeem: 3 } as const;
export type RelayKindCode = (typeof RelayKind)[keyof typeof RelayKind];
/** Calls of one relayed batch. */
export const RELAY_CALLS_MAX = 32;
export const ResolveCommand = {
  flags: 1,
  market: 2,
  count: 3,
  review: 2,
  group: 12,
  weights: 20,
} as const;
export const InviteCommand = {
  flags: 1,
  batch: 2,
  count: 3,
  cash: 2,
  noteBytes: 6,
  note: 8,
  digests: 28,
} as const;
export const InviteFlag = { revoke: 1 } as const;
export const RedeemCommand = { digest: 4, wallet: 12, words: 18 } as const;
export const WithdrawProposalCommand = { market: 2, words: 12 } as const;
export const ResolveStepCommand = { market: 1, limit: 2, words: 4 } as const;
export const SeasonCommand = { startSum: 2, words: 12 } as const;
/** Has the kind of a season, and fewer words. */
export const SeasonStepCommand = { limit: 1, words: 4 } as const;
export const ControlRecordCommand = { kind: 1, bytes: 2, body: 4 } as const;
export const LevelCommand = { token: 1, pips: 2, side: 3, size: 2, words: 6 } as const;
export const FillCommand = { size: 2, id: 6, words: 14 } as const;
/** @internal Tests reach the bound. */
export const CONTROL_RECORD_BYTES_MAX = 4_096;

const KIND_BITS = 8;

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

/** True for an order, with or without terms of its own. */
export function isOrder(kind: number): boolean {
  return (
    kind === CommandKind.order ||
    kind === CommandKind.delayedOrder ||
    kind === CommandKind.unsettledOrder
  );
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

/** Terms of a market's fees (docs/protocol.md#fees). */
export interface FeeSchedule {
  /** Millionths; 0 = no schedule. */
  readonly rate: number;
  readonly exponent: number;
  /** Part of a taker's fee that its maker may be paid back, in millionths. */
  readonly rebate: number;
}

/** Encodes the fee schedule of a market for the takers that come; it may follow the registration in its batch. */
export function encodeFeeSchedule(
  out: CommandBuffer,
  condition: Int32Array,
  { exponent, rate, rebate }: FeeSchedule,
): number {
  const at = out.begin(CommandKind.feeSchedule, FeeScheduleCommand.words);
  out.i32[at + FeeScheduleCommand.rate] = wholeOr(rate, -1);
  out.i32[at + FeeScheduleCommand.exponent] = wholeOr(exponent, -1);
  out.i32[at + FeeScheduleCommand.rebate] = wholeOr(rebate, -1);
  copyWords(condition, out.i32, at + FeeScheduleCommand.condition, ID_WORDS);
  return at;
}

/** Encodes the taker delay of a market in seconds, 0 = none; it may follow the registration in its batch. */
export function encodeTakerDelay(
  out: CommandBuffer,
  condition: Int32Array,
  seconds: number,
): number {
  const at = out.begin(CommandKind.takerDelay, TakerDelayCommand.words);
  out.i32[at + TakerDelayCommand.seconds] = wholeOr(seconds, -1);
  copyWords(condition, out.i32, at + TakerDelayCommand.condition, ID_WORDS);
  return at;
}

/** 0 = no bound; the exposure is in micro-units. */
export interface WalletLimits {
  readonly openOrdersPerWallet: number;
  readonly exposurePerWallet: number;
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

/** Encodes limits of wallets where they change; so a log without limits has no such command. */
export function encodeWalletLimits(
  out: CommandBuffer,
  now: WalletLimits,
  { exposurePerWallet, openOrdersPerWallet }: WalletLimits,
): void {
  const isSame =
    now.openOrdersPerWallet === openOrdersPerWallet && now.exposurePerWallet === exposurePerWallet;
  if (isSame) return;
  const at = out.begin(CommandKind.walletLimits, WalletLimitsCommand.words);
  out.f64[at / 2 + WalletLimitsCommand.openOrders] = openOrdersPerWallet;
  out.f64[at / 2 + WalletLimitsCommand.exposure] = exposurePerWallet;
}

/** Encodes that a wallet is an account of the house (docs/ledger.md#accounts-of-the-house). */
export function encodeHouse(out: CommandBuffer, wallet: Int32Array): number {
  const at = out.begin(CommandKind.house, HouseCommand.words);
  copyWords(wallet, out.i32, at + HouseCommand.wallet, ADDRESS_WORDS);
  return at;
}

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
  /** takerAmount of a BUY, makerAmount of a SELL; `collateral` is the other amount. */
  readonly shares: MicroShares;
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
  /** Seconds for which it waits at least where it would match (docs/protocol.md#taker-delay); 0 = none. */
  readonly delay?: number;
  /** Terms of its immediate fills; `undefined` = they are settled at once. */
  readonly settlement?: SettlementTerms | undefined;
}

/** Settlement of fills that is decided later (docs/protocol.md#unsettled-trades). */
export interface SettlementTerms {
  /** Until it is decided. */
  readonly ms: number;
  /** True where the fills then fail. */
  readonly fails: boolean;
  /** Number of the fault that asks for it. */
  readonly fault: number;
}

export function encodeOrder(out: CommandBuffer, order: OrderFields): number {
  const { delay = 0, settlement } = order;
  const at =
    settlement !== undefined
      ? out.begin(CommandKind.unsettledOrder, OrderCommand.wordsWithSettlement)
      : delay === 0
        ? out.begin(CommandKind.order, OrderCommand.words)
        : out.begin(CommandKind.delayedOrder, OrderCommand.wordsWithDelay);
  const { i32, f64 } = out;
  if (settlement !== undefined) {
    i32[at + OrderCommand.delay] = delay;
    i32[at + OrderCommand.fails] = settlement.fails ? 1 : 0;
    i32[at + OrderCommand.settleMs] = settlement.ms;
    i32[at + OrderCommand.fault] = settlement.fault;
  } else if (delay !== 0) i32[at + OrderCommand.delay] = delay;
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

/** Encodes the end of the wait of unsettled fills (OrderFields.settlement): of one fault, or with ALL_FAULTS of each. */
export function encodeSettle(out: CommandBuffer, fault: number): number {
  const at = out.begin(CommandKind.settle, SettleCommand.words);
  out.i32[at + SettleCommand.fault] = fault;
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
  /** Addresses. `wallet` is absent in `drawFees` alone; `signer` is for deposits and declarations. */
  readonly wallet?: Int32Array;
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
  | 'payRebate'
  | 'drawFees';

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

export interface RelayCallFields {
  readonly kind: RelayKindCode;
  /** 0 = unknown, or an approval. */
  readonly market: MarketRow | 0;
  /** Micro-units of complete sets; 0 in approvals and in redemptions, which take all. */
  readonly amount: number;
}

export interface RelayFields {
  readonly wallet: Int32Array;
  /** Address whose signature this is: 65 bytes and padding, 17 words, over the digest. */
  readonly owner: Int32Array;
  readonly signature: Int32Array;
  readonly digest: Int32Array;
  /** Batches of the wallet before it. */
  readonly nonce: number;
  readonly calls: readonly RelayCallFields[];
}

/** Encodes calls of a wallet that are applied together or not at all (docs/ledger.md#relayed-batches). */
export function encodeRelay(out: CommandBuffer, fields: RelayFields): number {
  const { calls, digest, nonce, owner, signature, wallet } = fields;
  assert(calls.length >= 1 && calls.length <= RELAY_CALLS_MAX, 'a batch has 1 to 32 calls');
  const at = out.begin(CommandKind.relay, RelayCommand.calls + RelayCall.words * calls.length);
  out.i32[at + RelayCommand.count] = calls.length;
  out.i32[at + RelayCommand.nonce] = wholeOr(nonce, -1);
  copyWords(digest, out.i32, at + RelayCommand.digest, ID_WORDS);
  copyWords(wallet, out.i32, at + RelayCommand.wallet, ADDRESS_WORDS);
  copyWords(owner, out.i32, at + RelayCommand.owner, ADDRESS_WORDS);
  copyWords(signature, out.i32, at + RelayCommand.signature, SIGNATURE_WORDS);
  calls.forEach(({ amount, kind, market }, i) => {
    const call = at + RelayCommand.calls + RelayCall.words * i;
    out.i32[call + RelayCall.kind] = kind;
    out.i32[call + RelayCall.market] = market;
    out.f64[call / 2 + RelayCall.amount] = amount;
  });
  return at;
}

export interface InviteFields {
  /** Digests of codes, 8 words each. */
  readonly digests: readonly Int32Array[];
  /** Micro-units that each code brings. */
  readonly cash: number;
  readonly note: Uint8Array;
}

/** Encodes a batch of new codes (docs/protocol.md#invitations). */
export function encodeInvite(out: CommandBuffer, { cash, digests, note }: InviteFields): number {
  assert(note.length <= INVITE_NOTE_BYTES_MAX, 'a note is short');
  const at = beginInvite(out, digests);
  out.f64[at / 2 + InviteCommand.cash] = cash;
  out.i32[at + InviteCommand.noteBytes] = note.length;
  new Uint8Array(out.i32.buffer).set(note, 4 * (at + InviteCommand.note));
  return at;
}

/** Encodes the end of open codes: of these digests, or with none of all codes of a batch. */
export function encodeRevokeInvites(
  out: CommandBuffer,
  digests: readonly Int32Array[],
  batch = 0,
): number {
  const at = beginInvite(out, digests);
  out.i32[at + InviteCommand.flags] = InviteFlag.revoke;
  out.i32[at + InviteCommand.batch] = batch;
  return at;
}

function beginInvite(out: CommandBuffer, digests: readonly Int32Array[]): number {
  assert(digests.length <= INVITES_OF_BATCH_MAX, 'a batch has 1,000 codes at most');
  const at = out.begin(CommandKind.invite, InviteCommand.digests + ID_WORDS * digests.length);
  out.i32[at + InviteCommand.count] = digests.length;
  digests.forEach((digest, i) => {
    copyWords(digest, out.i32, at + InviteCommand.digests + ID_WORDS * i, ID_WORDS);
  });
  return at;
}

/** Encodes the use of a code by a wallet. */
export function encodeRedeem(out: CommandBuffer, digest: Int32Array, wallet: Int32Array): number {
  const at = out.begin(CommandKind.redeem, RedeemCommand.words);
  copyWords(digest, out.i32, at + RedeemCommand.digest, ID_WORDS);
  copyWords(wallet, out.i32, at + RedeemCommand.wallet, ADDRESS_WORDS);
  return at;
}

export interface AgentFields {
  readonly wallet: Int32Array;
  readonly agent: Int32Array;
  /** Address that proved that the wallet is its own, or the one of the signer that is bound to it. */
  readonly owner: Int32Array;
  readonly isDerived: boolean;
}

export interface AgentTerms {
  /** Micro-units that its purchases may pay on a day; a fraction is refused. */
  readonly cash: number;
  /** Largest order in micro-shares, likewise. */
  readonly size: number;
  /** Unix milliseconds. */
  readonly end: number;
  /** Markets that it may trade, 0 = unknown; none = all of them. */
  readonly markets: readonly (MarketRow | 0)[];
}

/** Encodes the authorisation of an agent (docs/protocol.md#agents). */
export function encodeAgent(out: CommandBuffer, fields: AgentFields, terms: AgentTerms): number {
  const { cash, end, markets, size } = terms;
  const at = beginAgent(out, fields, markets);
  out.f64[at / 2 + AgentCommand.cash] = cash;
  out.f64[at / 2 + AgentCommand.size] = size;
  out.f64[at / 2 + AgentCommand.end] = end;
  return at;
}

export function encodeRevokeAgent(out: CommandBuffer, fields: AgentFields): number {
  const at = beginAgent(out, fields, []);
  out.i32[at + AgentCommand.flags]! |= AgentFlag.revoke;
  return at;
}

function beginAgent(
  out: CommandBuffer,
  { agent, isDerived, owner, wallet }: AgentFields,
  markets: readonly number[],
): number {
  assert(markets.length <= AGENT_MARKETS_MAX, 'an agent is bound to 64 markets at most');
  const words = AgentCommand.markets + markets.length;
  const at = out.begin(CommandKind.agent, words + (words % 2));
  out.i32[at + AgentCommand.flags] = isDerived ? AgentFlag.derivedWallet : 0;
  out.i32[at + AgentCommand.count] = markets.length;
  copyWords(wallet, out.i32, at + AgentCommand.wallet, ADDRESS_WORDS);
  copyWords(agent, out.i32, at + AgentCommand.agent, ADDRESS_WORDS);
  copyWords(owner, out.i32, at + AgentCommand.owner, ADDRESS_WORDS);
  markets.forEach((market, i) => {
    out.i32[at + AgentCommand.markets + i] = market;
  });
  return at;
}

export interface ResolveFields {
  readonly id: RequestIdFields;
  readonly market: MarketRow | 0;
  readonly weights: readonly number[];
  readonly isVoid?: boolean;
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
    out.i32[at + ResolveCommand.weights + i] = wholeOr(weight, -1);
  });
  return at;
}

export interface WithdrawProposalFields {
  readonly id: RequestIdFields;
  readonly market: MarketRow | 0;
}

export function encodeWithdrawProposal(
  out: CommandBuffer,
  { id, market }: WithdrawProposalFields,
): number {
  const { words } = WithdrawProposalCommand;
  const at = beginRequest(out, CommandKind.withdrawProposal, words, id);
  out.i32[at + WithdrawProposalCommand.market] = market;
  return at;
}

export function encodeResolveStep(out: CommandBuffer, market: MarketRow, limit: number): number {
  const at = out.begin(CommandKind.resolveStep, ResolveStepCommand.words);
  out.i32[at + ResolveStepCommand.market] = market;
  out.i32[at + ResolveStepCommand.limit] = limit;
  return at;
}

export interface SeasonFields {
  readonly id: RequestIdFields;
  /** Micro-units; a fraction is refused. */
  readonly startSum: number;
}

/** Encodes the end of a season, which steps complete (docs/ledger.md#seasons). */
export function encodeSeason(out: CommandBuffer, { id, startSum }: SeasonFields): number {
  const at = beginRequest(out, CommandKind.season, SeasonCommand.words, id);
  out.f64[at / 2 + SeasonCommand.startSum] = startSum;
  return at;
}

export function encodeSeasonStep(out: CommandBuffer, limit: number): number {
  const at = out.begin(CommandKind.season, SeasonStepCommand.words);
  out.i32[at + SeasonStepCommand.limit] = limit;
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

/** Returns the value, or another one for what is no whole number of 32 bits. */
function wholeOr(value: number, otherwise: number): number {
  return value === (value | 0) ? value : otherwise;
}

function copyWords(from: Int32Array, to: Int32Array, at: number, words: number): void {
  for (let i = 0; i < words; i++) to[at + i] = from[i]!;
}

assert(OrderCommand.apiKey + API_KEY_WORDS === OrderCommand.words, 'an order command is full');
