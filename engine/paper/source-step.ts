/** What a source says of a market, in numbers: prices in pips, sizes in micro-shares. */
import type { SourceChange, SourceLevel } from './source-book.ts';

interface Said {
  /** Unix milliseconds, by the clock of the source. */
  readonly at: number;
  readonly token: string;
}

export interface SourceLevels {
  readonly bids: readonly SourceLevel[];
  readonly asks: readonly SourceLevel[];
}

/** What goes to a book in the order in which it came; `side` of a print is its taker's. */
export type BookStep =
  | ({ readonly kind: 'book' } & Said & SourceLevels)
  | ({ readonly kind: 'changes'; readonly changes: readonly SourceChange[] } & Said)
  | ({ readonly kind: 'print' } & Said & SourceChange);

export type SourceStep =
  | BookStep
  /** The source has other ticks, of so many pips. */
  | ({ readonly kind: 'tick'; readonly pips: number } & Said)
  /** Nothing is known of the source: its levels leave, and what waited for its queues begins again. */
  | { readonly kind: 'clear'; readonly at: number };
