/**
 * Newest batch whose effect this node shows, by its batch sequence, and waits for later ones. Rules:
 * docs/protocol.md#reading-an-own-write
 *
 * Thread: I/O.
 */

interface Wait {
  readonly sequence: number;
  readonly reached: () => void;
}

export class AppliedSequence {
  newest: number;
  private readonly waits = new Set<Wait>();
  /** Earliest awaited sequence: a batch before it costs nothing, even with many waits for later ones. */
  private earliest = Number.POSITIVE_INFINITY;

  constructor(newest: number) {
    this.newest = newest;
  }

  /**
   * Announces a durable batch. Waits resolve after the current callback has passed the batch to all
   * projections.
   */
  reach(sequence: number): void {
    this.newest = sequence;
    if (sequence < this.earliest) return;
    this.earliest = Number.POSITIVE_INFINITY;
    for (const wait of this.waits) {
      if (wait.sequence > sequence) this.earliest = Math.min(this.earliest, wait.sequence);
      else {
        this.waits.delete(wait);
        wait.reached();
      }
    }
  }

  /** Resolves once `isThere` returns true, tested again after each batch, or after `msMax`. */
  async until(isThere: () => boolean, msMax: number): Promise<void> {
    const end = performance.now() + msMax;
    for (let left = msMax; left > 0 && !isThere(); left = end - performance.now()) {
      await this.when(this.newest + 1, left);
    }
  }

  /** Resolves with true once the batch is reached, with false after `msMax`. */
  when(sequence: number, msMax: number): Promise<boolean> {
    if (sequence <= this.newest) return Promise.resolve(true);
    return new Promise((resolve) => {
      const wait = { sequence, reached: () => end(true) };
      const timer = setTimeout(() => {
        this.waits.delete(wait);
        end(false);
      }, msMax);
      const end = (isReached: boolean): void => {
        clearTimeout(timer);
        resolve(isReached);
      };
      this.waits.add(wait);
      this.earliest = Math.min(this.earliest, sequence);
    });
  }
}
