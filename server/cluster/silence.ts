/**
 * How long nothing was received from another node. Time during which this process itself stood still does not count, or
 * a node that was stopped would take the lead from one that is well.
 *
 * Thread: the I/O thread.
 */

export class Silence {
  ms = 0;
  private readonly stepMax: number;
  private readonly steady: () => number;
  private seen: number;

  /** @param stepMax milliseconds between two looks, at most; what is beyond counts for nothing */
  constructor(stepMax: number, steady: () => number = () => performance.now()) {
    this.stepMax = stepMax;
    this.steady = steady;
    this.seen = steady();
  }

  /** To be called again and again; returns for how long. */
  look(): number {
    const now = this.steady();
    this.ms += Math.min(this.stepMax, now - this.seen);
    this.seen = now;
    return this.ms;
  }

  /** There was a sign of it. */
  end(): void {
    this.ms = 0;
    this.seen = this.steady();
  }
}
