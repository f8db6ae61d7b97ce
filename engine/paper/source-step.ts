/** Message of a source about a market in numbers: prices in pips, sizes in micro-shares. */
import type { SourceChange, SourceLevel } from './source-book.ts';

interface Said {
  /** Unix milliseconds by the source's clock. */
  readonly at: number;
  readonly token: string;
}

export interface SourceLevels {
  readonly bids: readonly SourceLevel[];
  readonly asks: readonly SourceLevel[];
}

/** Step for a book, in the order in which it came; `side` of a print is its taker's. */
export type BookStep =
  | ({ readonly kind: 'book' } & Said & SourceLevels)
  | ({ readonly kind: 'changes'; readonly changes: readonly SourceChange[] } & Said)
  | ({ readonly kind: 'print' } & Said & SourceChange);

export type SourceStep =
  | BookStep
  /** Pips of the source's new tick. */
  | ({ readonly kind: 'tick'; readonly pips: number } & Said)
  /** The state of the source is unknown: its levels leave, and queue positions begin again. */
  | { readonly kind: 'clear'; readonly at: number };
