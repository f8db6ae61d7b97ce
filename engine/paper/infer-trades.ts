/**
 * Trades that a source does not say. It sends a `book` of its own after each trade, with the decrease in it. So a
 * `book` that differs from what the messages before it made is a trade if:
 *
 *   on one side, and on that side alone, the best levels are gone or smaller: from the best on, those that are
 *   gone, and the first that is left if it is smaller; these decreases are the trade, by a taker of the other side;
 *   at most OTHERS_MAX levels beside these differ. With more it is a new start after messages that were lost.
 *
 * Levels beside them differ where an order came or left between two messages, or where the taker's rest stands.
 *
 * Thread: any; pure.
 */
import { Side } from '../commands.ts';
import { keyOf, pipsOfKey } from './levels.ts';
import type { SourceBook, SourceChange, SourceLevel } from './source-book.ts';

const OTHERS_MAX = 3;

/** Returns the prints of the trade by its taker, best price first; none when the message is no trade. */
export function inferTrades(
  before: SourceBook,
  bids: readonly SourceLevel[],
  asks: readonly SourceLevel[],
): readonly SourceChange[] {
  // The first book has nothing before it.
  if (before.sides.every((levels) => levels.best === 0)) return [];
  const taken = [takenOf(before, Side.buy, bids), takenOf(before, Side.sell, asks)] as const;
  const [ofBids, ofAsks] = taken;
  if (ofBids.prints.length > 0 === ofAsks.prints.length > 0) return [];
  if (ofBids.others + ofAsks.others > OTHERS_MAX) return [];
  return ofBids.prints.length > 0 ? ofBids.prints : ofAsks.prints;
}

interface Taken {
  readonly prints: readonly SourceChange[];
  readonly others: number;
}

function takenOf(before: SourceBook, side: 0 | 1, now: readonly SourceLevel[]): Taken {
  const { keys, sizes } = before.sides[side];
  const left = new Map(now.map(({ pips, size }) => [keyOf(side, pips), size]));
  const prints: SourceChange[] = [];
  let others = 0;
  let isBest = true;
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i]!;
    const size = left.get(key) ?? 0;
    left.delete(key);
    if (isBest && size < sizes[i]!) {
      const taker = side === Side.buy ? Side.sell : Side.buy;
      prints.push({ side: taker, pips: pipsOfKey(side, key), size: sizes[i]! - size });
    } else if (size !== sizes[i]) {
      others += 1;
    }
    if (size > 0) isBest = false;
  }
  return { prints, others: others + left.size };
}
