/**
 * Time since something was received from another node. A stall of this process does not count: a node that was stopped
 * would take the lead from a healthy one.
 *
 * Thread: the I/O thread.
 */

export class HeartbeatTimeout {
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

  /** Adds the time since the last call, and returns the sum in milliseconds. */
  look(): number {
    const now = this.steady();
    this.ms += Math.min(this.stepMax, now - this.seen);
    this.seen = now;
    return this.ms;
  }

  /** Restarts the timeout. */
  end(): void {
    this.ms = 0;
    this.seen = this.steady();
  }
}
