/**
 * The clocks of a node. Market time stamps batches: orders expire, trades and candles are dated by it. The wall
 * clock judges credentials. They differ only where a recording is played (server/paper/play-clock.ts).
 */
export interface NodeClock {
  /** Market time, in unix milliseconds. */
  readonly now: () => number;
  /** Unix milliseconds by which credentials are judged. */
  readonly wall: () => number;
  /**
   * Called with the reason when the clock becomes doubtful, and with `undefined` when it is trusted again.
   */
  onDoubt: (problem: string | undefined) => void;
  /** Trusts the wall clock. Returns the milliseconds it had jumped; undefined if it is not in doubt. */
  accept(): number | undefined;
  /** Milliseconds that the wall clock is ahead of market time after a jump; 0 if it is not in doubt. */
  jumpMs(): number;
  /** Reason of the doubt; `undefined` while the clock is trusted. */
  problem(): string | undefined;
  stop(): void;
}
