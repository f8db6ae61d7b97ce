/** Actions at times of the recording: the earliest first, and at one time in the order in which they were added. */

interface Due {
  readonly time: number;
  /** Time at which the strategy sees what the action did; `time` for a timer of its own. */
  readonly seen: number;
  /** Number by which actions of several lists were added. */
  readonly turn: number;
  readonly act: () => unknown;
}

export class DueList {
  private readonly list: Due[] = [];
  private done = 0;

  /** The next action; undefined if there is none. */
  get first(): Due | undefined {
    return this.list[this.done];
  }

  /** Time of the next action; Infinity if there is none. */
  get next(): number {
    return this.first?.time ?? Number.POSITIVE_INFINITY;
  }

  add(due: Due): void {
    let at = this.list.length;
    // Most come in their order.
    while (at > this.done && this.list[at - 1]!.time > due.time) at -= 1;
    if (at === this.list.length) this.list.push(due);
    else this.list.splice(at, 0, due);
  }

  take(): Due {
    const due = this.list[this.done]!;
    this.done += 1;
    if (this.done === this.list.length || this.done > 1_024) {
      this.list.splice(0, this.done);
      this.done = 0;
    }
    return due;
  }
}
