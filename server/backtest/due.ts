/** Actions at times of the recording: the earliest first, and at one time in the order in which they were added. */

interface Due {
  readonly time: number;
  readonly act: () => unknown;
}

export class DueList {
  private readonly list: Due[] = [];
  private done = 0;

  /** Time of the next action; Infinity if there is none. */
  get next(): number {
    return this.list[this.done]?.time ?? Number.POSITIVE_INFINITY;
  }

  add(time: number, act: () => unknown): void {
    let at = this.list.length;
    // Most come in their order.
    while (at > this.done && this.list[at - 1]!.time > time) at -= 1;
    this.list.splice(at, 0, { time, act });
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
