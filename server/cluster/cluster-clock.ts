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

  /**
   * A record of this time has come; or nobody has led since this node started, and this is the time of the machine.
   * The first record of an epoch has the time of the one before it.
   */
  reach(time: number): void {
    if (time <= this.now()) return;
    this.time = time;
    this.at = this.steady();
  }

  readonly now = (): number => Math.floor(this.time + this.steady() - this.at);
}
