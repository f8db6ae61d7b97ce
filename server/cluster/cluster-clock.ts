/**
 * The time of a cluster: that of its newest record, and what has passed since by the steady clock of this node. So
 * it goes on where the leader before was, whatever the clocks of the machines say.
 *
 * Thread: the I/O thread.
 */

export class ClusterClock {
  private readonly steady: () => number;
  private time: number;
  private at: number;

  /** @param time of the newest record that this node has, in unix milliseconds */
  constructor(time: number, steady: () => number = () => performance.now()) {
    this.steady = steady;
    this.time = time;
    this.at = steady();
  }

  /** A record of this time has come. */
  record(time: number): void {
    this.time = time;
    this.at = this.steady();
  }

  /** Nobody has led since this node started, so nobody knows how long: the clock of the machine counts, if it is ahead. */
  begin(wall: number): void {
    if (wall > this.now()) this.record(wall);
  }

  /** Unix milliseconds. */
  readonly now = (): number => Math.floor(this.time + this.steady() - this.at);
}
