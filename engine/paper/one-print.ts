/**
 * Trade prints of a binary market as trades of its first outcome. A source reports a mint or merge for both tokens,
 * each at its own price and with one side. Here it is one trade, and the level that shrank tells its taker's side.
 *
 * Thread: that of its owner.
 */
import { Side } from '../commands.ts';
import { PIPS_PER_UNIT } from '../tables/units.ts';
import type { SourceBook, SourceChange } from './source-book.ts';

/** Prints of one time: a source with a stopped clock fills no memory. */
const PRINTS_MAX = 10_000;

export class OnePrint {
  /** Unix milliseconds, by the source's clock, of the fields below. */
  private time = 0;
  /** Prints of the first token without one of the second, less those the other way round. */
  private readonly unmatched = new Map<string, number>();
  private readonly shrunk = new Map<number, number>();

  /** Records the changes of a message before they are applied. */
  note(before: SourceBook, changes: readonly SourceChange[], time: number): void {
    this.begin(time);
    for (const { pips, side, size } of changes) {
      const key = side === Side.buy ? pips : PIPS_PER_UNIT - pips;
      if (size < before.sides[side as 0 | 1].get(key)) this.shrunk.set(pips, side);
    }
  }

  /** Returns the trade of a print of either token; `undefined` for its second report. */
  of(print: SourceChange, isSecond: boolean, time: number): SourceChange | undefined {
    this.begin(time);
    const { size } = print;
    const pips = isSecond ? PIPS_PER_UNIT - print.pips : print.pips;
    const name = `${pips} ${size}`;
    const unmatched = this.unmatched.get(name) ?? 0;
    if (this.unmatched.size >= PRINTS_MAX) this.unmatched.clear();
    this.unmatched.set(name, unmatched + (isSecond ? -1 : 1));
    if (isSecond ? unmatched > 0 : unmatched < 0) return undefined;
    const shrunk = this.shrunk.get(pips);
    if (shrunk !== undefined) return { side: 1 - shrunk, pips, size };
    return { side: isSecond ? 1 - print.side : print.side, pips, size };
  }

  private begin(time: number): void {
    if (time === this.time) return;
    this.time = time;
    // Clearing an empty map costs as much as a full one.
    if (this.unmatched.size > 0) this.unmatched.clear();
    if (this.shrunk.size > 0) this.shrunk.clear();
  }
}
