/**
 * Double reports: a source reports a trade as a trade print and as a decrease of the level, in either order and
 * within some time. A print explains decreases shortly before it, the oldest first, and decreases shortly after it,
 * up to its size. A decrease without a print in that time was a cancel.
 *
 * Thread: that of its owner.
 */

/** Milliseconds of the source's clock within which it sends both. */
const REPORTED_WITHIN_MS = 2_000;
/** Waiting prints, and waiting decreases, of one source level: a source with a stopped clock fills no memory. */
const WAITING_MAX = 1_000;

export interface Decrease {
  left: number;
  /** Size of the level before this part of the decrease. */
  before: number;
  readonly after: number;
  readonly time: number;
}

export class DoubleReports {
  private prints: { left: number; readonly time: number }[] = [];
  private decreases: Decrease[] = [];
  private readonly onDone: (decrease: Decrease) => void;

  /** @param onDone called once for each decrease: when it is explained, or with the cancelled size */
  constructor(onDone: (decrease: Decrease) => void) {
    this.onDone = onDone;
  }

  /** Copy with the decreases alone, for a new order. */
  decreasesOf(): DoubleReports {
    const copy = new DoubleReports(() => undefined);
    copy.decreases = this.decreases.map((decrease) => ({ ...decrease }));
    return copy;
  }

  /** Micro-shares of decreases that a print may still explain. */
  get unexplained(): number {
    return this.decreases.reduce((sum, { left }) => sum + left, 0);
  }

  decrease(before: number, after: number, time: number): void {
    let left = before - after;
    for (const print of this.prints) {
      const explained = Math.min(left, print.left);
      print.left -= explained;
      left -= explained;
    }
    this.decreases.push({ left, before: after + left, after, time });
    if (this.decreases.length > WAITING_MAX) this.onDone(this.decreases.shift()!);
    if (this.prints.length > 0) this.sweep();
  }

  print(size: number, time: number): void {
    let left = size;
    for (const decrease of this.decreases) {
      const explained = Math.min(left, decrease.left);
      decrease.left -= explained;
      decrease.before -= explained;
      left -= explained;
    }
    if (left > 0) this.prints.push({ left, time });
    if (this.prints.length > WAITING_MAX) this.prints.shift();
    if (this.decreases.length > 0) this.sweep();
  }

  /** Drops reports that are too old, or far ahead in time. Called before each message. */
  pass(time: number): void {
    const { decreases, prints } = this;
    // Most calls find nothing, so that the lists are looked through without a closure.
    if (hasOver(prints, time)) this.prints = prints.filter((print) => !isOver(print, time));
    if (!hasOver(decreases, time)) return;
    this.decreases = decreases.filter((decrease) => !isOver(decrease, time));
    for (const decrease of decreases) if (isOver(decrease, time)) this.onDone(decrease);
  }

  private sweep(): void {
    const { decreases, prints } = this;
    if (prints.some(isDone)) this.prints = prints.filter(isOpen);
    if (!decreases.some(isDone)) return;
    this.decreases = decreases.filter(isOpen);
    for (const decrease of decreases) if (isDone(decrease)) this.onDone(decrease);
  }
}

function hasOver(reports: readonly { readonly time: number }[], time: number): boolean {
  for (let i = 0; i < reports.length; i++) if (isOver(reports[i]!, time)) return true;
  return false;
}

function isOver(report: { readonly time: number }, time: number): boolean {
  return Math.abs(time - report.time) > REPORTED_WITHIN_MS;
}

function isOpen({ left }: { readonly left: number }): boolean {
  return left > 0;
}

function isDone({ left }: { readonly left: number }): boolean {
  return left === 0;
}
