/**
 * The clocks of a node. Market time stamps batches: orders expire, trades and candles are dated by it. The wall
 * clock judges credentials. They differ only where a recording is played (server/paper/play-clock.ts).
 */
export interface NodeClock {
  /** Unix milliseconds: market time, and the time by which credentials are judged. */
  readonly now: () => number;
  readonly wall: () => number;
  /** Called with the problem when the wall clock jumps, and with `undefined` when it is trusted again. */
  onProblem: (problem: string | undefined) => void;
  /** Trusts the wall clock. Returns the milliseconds of the jump; undefined without one. */
  accept(): number | undefined;
  /** Milliseconds that the wall clock is ahead of market time after a jump; 0 without a jump. */
  jumpMs(): number;
  /** Text of the jump for the operator; `undefined` while the clock is trusted. */
  problem(): string | undefined;
  stop(): void;
}
