/**
 * Commands and outcomes of an exchange as plain objects, shared by the naive exchange, the engine's
 * driver and the scripts of the tests. Amounts are micro-units in bigints, prices are pips
 * (ten-thousandths), and accounts, orders and tokens are numbers.
 */
import type { RejectReasonCode } from '../../engine/orders/reject-reasons.ts';

export type SideName = 'BUY' | 'SELL';
export type TypeName = 'GTC' | 'GTD' | 'FOK' | 'FAK';
export type Policy = 'allow' | 'cancel-taker' | 'cancel-maker' | 'cancel-both';
export const POLICIES: readonly Policy[] = ['allow', 'cancel-taker', 'cancel-maker', 'cancel-both'];

/** Faults that a request alone shows (docs/protocol.md#order-of-checks). */
export type Fault =
  | 'foreign-key'
  | 'unknown-condition'
  | 'other-condition'
  | 'private'
  | 'forged'
  | 'known';
export const FAULTS: readonly Fault[] = [
  'foreign-key',
  'unknown-condition',
  'other-condition',
  'private',
  'forged',
  'known',
];

export const NO_LIMIT = 2 ** 31 - 1;

export interface OrderLine {
  readonly kind: 'order';
  readonly id: number;
  readonly token: number;
  readonly side: SideName;
  readonly type: TypeName;
  readonly postOnly: boolean;
  readonly shares: bigint;
  readonly collateral: bigint;
  /** Seconds; 0 = never. */
  readonly expiration: number;
  readonly feeRateBps: number;
  readonly maker: number;
  readonly signer: number;
  readonly signatureType: number;
  readonly faults: readonly Fault[];
  /** True when its maker is the wallet that follows from its signer. */
  readonly derived?: true;
  /** True when its maker cannot be a wallet of its signer. */
  readonly foreign?: true;
  /** Seconds for which it waits at least where it would match. */
  readonly delay?: number;
  /** Terms of its immediate fills, which are decided after these milliseconds. */
  readonly settlement?: { readonly ms: number; readonly fails: boolean; readonly fault: number };
}

export interface Terms {
  readonly grid: number;
  readonly baseFeeBps: number;
  readonly minSize: bigint;
  readonly tradable: boolean;
  readonly ended: boolean;
  readonly negRisk: boolean;
  /**
   * Unix milliseconds at which the market ends, 0 = never; `undefined` in a command leaves it
   * unchanged.
   */
  readonly end?: number;
}

/** Fee schedule: rate and rebate in millionths. */
export interface Schedule {
  readonly rate: number;
  readonly exponent: number;
  readonly rebate: number;
}

/** Wallet of the source: the last word of SOURCE_ADDRESS. */
export const SOURCE = 0x75726365;

/** A source level with its own side, or a trade print with the side of the taker. */
export interface LevelLine {
  readonly kind: 'level' | 'print';
  readonly token: number;
  readonly side: SideName;
  readonly pips: number;
  readonly size: number;
}

export type SourceLine =
  | LevelLine
  | { readonly kind: 'fill'; readonly id: number; readonly size: number };

export type Command =
  | OrderLine
  | SourceLine
  | { readonly kind: 'cancel'; readonly id: number; readonly signer: number }
  | {
      readonly kind: 'cancel-all';
      readonly signer: number;
      readonly market: number;
      readonly token: number;
      /** Number of the signer's newest open orders to visit. */
      readonly limit: number;
    }
  | ({ readonly kind: 'market'; readonly condition: number; readonly outcomes: number } & Terms)
  | ({ readonly kind: 'change'; readonly market: number } & Terms)
  | ({ readonly kind: 'fees'; readonly condition: number } & Schedule)
  | { readonly kind: 'delay'; readonly condition: number; readonly seconds: number }
  | { readonly kind: 'policy'; readonly policy: Policy }
  /** Ends the wait of the unsettled fills of a fault; -1 = of all. */
  | { readonly kind: 'settle'; readonly fault: number }
  /** Opens the batch of this time, in milliseconds. */
  | { readonly kind: 'at'; readonly time: number };

export type FillKind = 'fills' | 'mints' | 'merges';

export interface FillLine {
  readonly kind: FillKind;
  /** Fill sequence of the first fill of the same taker. */
  readonly match: number;
  readonly size: bigint | number;
  readonly taker: number;
  readonly takerAccount: number;
  readonly takerOwner: number;
  readonly takerToken: number;
  readonly takerSide: SideName;
  readonly takerPrice: number;
  readonly takerCollateral: bigint | number;
  readonly fee: bigint | number;
  /** The fee is collateral of a schedule, of which the maker may be paid back these millionths. */
  readonly isScheduled: boolean;
  readonly rebate: number;
  readonly maker: number;
  readonly makerAccount: number;
  readonly makerOwner: number;
  readonly makerToken: number;
  readonly makerPrice: number;
  readonly makerCollateral: bigint | number;
}

export type EndWord =
  | 'filled'
  | 'fakRemainder'
  | 'canceled'
  | 'expired'
  | 'marketEnded'
  | 'tickChange'
  | 'selfTrade'
  | 'resolved'
  | 'endReached'
  | 'unmatched';

export interface EndLine {
  readonly id: number;
  readonly reason: EndWord;
  readonly status: string;
  readonly remaining: bigint | number;
}

/** Outcome of one command. Only an accepted order has amounts. */
export interface Outcome {
  readonly reason: RejectReasonCode;
  readonly making: bigint | number;
  readonly taking: bigint | number;
  readonly fills: readonly FillLine[];
  readonly ended: readonly EndLine[];
  /** True for an accepted order that waits for a taker delay. */
  readonly waits: boolean;
}

/** The book of a token in the order of POST /books: best level last on both sides. */
export interface BookView {
  readonly bids: readonly (readonly [price: number, size: bigint | number])[];
  readonly asks: readonly (readonly [price: number, size: bigint | number])[];
  readonly changedAt: number;
  readonly grid: number;
  readonly minSize: bigint | number;
  /** Pips; 0 = never traded. */
  readonly lastPrice: number;
  readonly lastSide: SideName;
}

/** True for commands whose cancellations have no documented order among themselves. */
function endsAsASet({ kind }: Command): boolean {
  return kind === 'at' || kind === 'cancel-all' || kind === 'change';
}

/** Orders that a command ended, in an order that two exchanges share. */
export function comparableEnds(command: Command, outcome: Outcome): readonly EndLine[] {
  const byId = (ended: readonly EndLine[]): EndLine[] => [...ended].sort((a, b) => a.id - b.id);
  if (endsAsASet(command)) return byId(outcome.ended);
  // An order that binds its wallet to another signer cancels those of agents, in no documented order.
  const isOfAgent = ({ reason }: EndLine): boolean => reason === 'canceled';
  const others = outcome.ended.filter((end) => !isOfAgent(end));
  return [...others, ...byId(outcome.ended.filter(isOfAgent))];
}

/** An outcome as one line of text: two exchanges agree when their lines do. */
export function outcomeText(command: Command, outcome: Outcome): string {
  let text = `rule ${outcome.reason} gives ${outcome.making} gets ${outcome.taking}`;
  if (outcome.waits) text += ' waits';
  for (const f of outcome.fills) {
    text +=
      ` | ${f.match} ${f.kind} ${f.size} fee ${f.fee}` +
      ` ${f.isScheduled ? `of a schedule, rebate ${f.rebate}` : ''}` +
      ` taker #${f.taker} ${f.takerAccount}/${f.takerOwner} ${f.takerSide} ${f.takerToken}` +
      ` @ ${f.takerPrice} = ${f.takerCollateral}` +
      ` maker #${f.maker} ${f.makerAccount}/${f.makerOwner} ${f.makerToken}` +
      ` @ ${f.makerPrice} = ${f.makerCollateral}`;
  }
  for (const e of comparableEnds(command, outcome))
    text += ` | #${e.id} ${e.reason} ${e.status} ${e.remaining}`;
  return text;
}

export function bookText(book: BookView): string {
  const side = (levels: BookView['bids']) => levels.map(([p, s]) => `${s} @ ${p}`).join(', ');
  const last = book.lastPrice === 0 ? 'none' : `${book.lastPrice} ${book.lastSide}`;
  return (
    `bids ${side(book.bids)}; asks ${side(book.asks)}; last ${last}` +
    `; grid ${book.grid}; min ${book.minSize}; changed ${book.changedAt}`
  );
}
