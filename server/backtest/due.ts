/** What is to be done at a time of the recording: earliest first, and what is due at once in the order in which it came. */

interface Due {
  readonly time: number;
  readonly act: () => unknown;
}

export class DueList {
  private readonly list: Due[] = [];
  private done = 0;

  /** When the next one is due; Infinity = there is none. */
  get next(): number {
    return this.list[this.done]?.time ?? Number.POSITIVE_INFINITY;
  }

  add(time: number, act: () => unknown): void {
    let at = this.list.length;
    // Most come in their order.
    while (at > this.done && this.list[at - 1]!.time > time) at -= 1;
    this.list.splice(at, 0, { time, act });
  }

  /** Takes the next one out, and returns it. */
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
