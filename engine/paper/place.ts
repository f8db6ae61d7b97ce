/**
 * The place of one paper order in the queue of the source's level: how much of the source is ahead of it. Prints
 * move it by their size. What a decrease of the level moves that no print explains (told-twice.ts) is the rule:
 *
 *   pessimistic    as if all that was cancelled stood behind it: never more ahead than the level has
 *   proportional   as if what was cancelled stood anywhere in the level with the same probability
 *
 * A decrease moves the order when it is too late for a print that explains it.
 *
 * Thread: that of its owner.
 */
import { ToldTwice } from './told-twice.ts';

export type QueueRule = 'pessimistic' | 'proportional';

export class Place {
  /** Micro-shares of the source that trade before it. */
  private ahead: number;
  /** What came since the order did. */
  private readonly told: ToldTwice;
  /** The size of the level before the first decrease that is not explained, and the smallest since then. */
  private base = 0;
  private low = Number.POSITIVE_INFINITY;
  /** Decreases before the order came: a print that explains them is no trade behind it. */
  private earlier: number;

  /**
   * @param ahead what the source has at the level when the order comes
   * @param earlier decreases that a print may still explain
   */
  constructor(ahead: number, earlier: number, time: number) {
    this.ahead = ahead;
    this.earlier = earlier;
    this.told = new ToldTwice(time);
  }

  /** The level of the source has another size. */
  resized(before: number, after: number, time: number, rule: QueueRule): void {
    this.settleOld(time, rule);
    if (after >= before) return;
    const isFirst = this.told.decreased === 0;
    const unexplained = this.told.decrease(before - after, time);
    if (isFirst) this.base = after + unexplained;
    this.low = Math.min(this.low, after);
    if (this.told.decreased === 0) this.settle(rule);
  }

  /** The source traded `size` at this price. Returns how much of it was left for the order. */
  print(size: number, time: number, rule: QueueRule): number {
    this.settleOld(time, rule);
    const ofEarlier = Math.min(size, this.earlier);
    this.earlier -= ofEarlier;
    const later = size - ofEarlier;
    const reached = Math.max(0, later - this.ahead);
    this.ahead = Math.max(0, this.ahead - later);
    this.base -= this.told.print(later, time);
    if (this.told.decreased === 0) this.settle(rule);
    return reached;
  }

  private settleOld(time: number, rule: QueueRule): void {
    if (!this.told.isOver(time)) return;
    this.settle(rule);
    this.told.forget();
    this.earlier = 0;
  }

  /** Lets the decreases that no print explains move the order. */
  private settle(rule: QueueRule): void {
    const { decreased } = this.told;
    if (decreased > 0 && rule === 'proportional') {
      // Rounded up: never nearer to its turn than the rule says.
      this.ahead = Math.ceil(this.ahead * (1 - decreased / this.base));
    }
    this.ahead = Math.min(this.ahead, this.low);
    this.low = Number.POSITIVE_INFINITY;
  }
}
