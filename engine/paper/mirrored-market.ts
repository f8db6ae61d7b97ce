/**
 * Binary market that mirrors one of a source: messages about its tokens become commands for its book. Of the second
 * outcome only trade prints count: each comes once, by the taker's token, and the rest repeats the first outcome.
 *
 * Thread: that of its caller.
 */
import type { CommandBuffer } from '../commands.ts';
import { isTickGrid, PIPS_PER_UNIT } from '../tables/units.ts';
import { inferTrades } from './infer-trades.ts';
import type { MirroredBook } from './mirrored-book.ts';
import { OnePrint } from './one-print.ts';
import type { SourceStep } from './source-step.ts';

export class MirroredMarket {
  readonly book: MirroredBook;
  private readonly first: string;
  private readonly infersTrades: boolean;
  private readonly prints = new OnePrint();

  /**
   * @param first id of the first outcome's token @param infersTrades true when the source sends no prints
   * (infer-trades.ts)
   */
  constructor(book: MirroredBook, first: string, infersTrades = false) {
    this.book = book;
    this.first = first;
    this.infersTrades = infersTrades;
  }

  apply(step: SourceStep, out: CommandBuffer): void {
    const { book, prints } = this;
    const isSecond = step.kind !== 'clear' && step.token !== this.first;
    if (isSecond && step.kind !== 'print') return;
    book.time = step.at;
    if (step.kind === 'clear') book.clear(out);
    else if (step.kind === 'book') {
      if (this.infersTrades) book.prints(inferTrades(book.source, step.bids, step.asks), out);
      book.snapshot(step.bids, step.asks, out);
    } else if (step.kind === 'changes') {
      prints.note(book.source, step.changes, step.at);
      book.changes(step.changes, out);
    } else if (step.kind === 'print') {
      const trade = step.size === 0 ? undefined : prints.of(step, isSecond, step.at);
      if (trade !== undefined) book.print(trade.side, trade.pips, trade.size, out);
    } else {
      const ticksPerUnit = PIPS_PER_UNIT / step.pips;
      if (isTickGrid(ticksPerUnit)) book.changeTicks(ticksPerUnit, out);
    }
  }
}
