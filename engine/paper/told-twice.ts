/**
 * A source says a trade twice, as a print and as a decrease of the level, in either order and within some time.
 * So a print explains decreases that came shortly before it, and decreases that come shortly after it, up to its
 * size. What no print explains was cancelled.
 *
 * Thread: that of its owner.
 */

/** Within so many milliseconds, by the source's clock, it says both. */
const TOLD_TWICE_MS = 2_000;

export class ToldTwice {
  /** Of prints: what no decrease has shown yet. */
  printed = 0;
  /** Of decreases: what no print has explained yet. */
  decreased = 0;
  /** Unix milliseconds of the newest of both. */
  private since: number;

  constructor(time: number) {
    this.since = time;
  }

  isOver(time: number): boolean {
    return time - this.since > TOLD_TWICE_MS;
  }

  forget(): void {
    this.printed = 0;
    this.decreased = 0;
  }

  /** Returns how much of the decrease no print before it explains. */
  decrease(size: number, time: number): number {
    const explained = Math.min(size, this.printed);
    this.printed -= explained;
    if (explained < size) {
      this.decreased += size - explained;
      this.since = time;
    }
    return size - explained;
  }

  /** Returns how much of the decreases before it the print explains. */
  print(size: number, time: number): number {
    const explained = Math.min(size, this.decreased);
    this.decreased -= explained;
    this.printed += size - explained;
    this.since = time;
    return explained;
  }
}
