/**
 * Market time of a recording: it runs at a speed, or stands until it is set. It never passes work that is due and not
 * done, so nobody trades at a time whose books are missing.
 *
 * Thread: the I/O thread.
 */
import type { NodeClock } from '../common/node-clock.ts';

export class PlayClock implements NodeClock {
  onProblem: NodeClock['onProblem'] = () => undefined;
  readonly wall = Date.now;
  /** Milliseconds of market time in a millisecond; 0 = it stands. */
  readonly speed: number;
  private readonly steady: () => number;
  private time: number;
  /** Steady time at which `time` was set. */
  private at: number;
  private limit: number;

  /** Market time stands at `time`, in unix milliseconds, until release(). */
  constructor(time: number, speed: number, steady: () => number = () => performance.now()) {
    this.time = time;
    this.limit = time;
    this.speed = speed;
    this.steady = steady;
    this.at = steady();
  }

  readonly now = (): number => Math.floor(Math.min(this.limit, this.runs()));

  /** Lets time run to `limit`, because all work before it is done. */
  release(limit: number): void {
    // Time continues from where it stood: late work must not make it jump.
    this.set(this.now());
    this.limit = Math.max(limit, this.time);
  }

  set(time: number): void {
    this.time = Math.max(time, this.now());
    this.limit = Math.max(this.limit, this.time);
    this.at = this.steady();
  }

  /** Milliseconds of the machine until a market time; Infinity while it stands. */
  until(time: number): number {
    const rest = time - this.now();
    return rest <= 0 ? 0 : rest / this.speed;
  }

  accept(): undefined {
    return undefined;
  }

  jumpMs(): number {
    return 0;
  }

  problem(): undefined {
    return undefined;
  }

  stop(): void {
    this.limit = this.now();
  }

  private runs(): number {
    return this.time + (this.steady() - this.at) * this.speed;
  }
}
