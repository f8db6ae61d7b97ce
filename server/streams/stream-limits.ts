/** The settings that bound what stream connections may keep waiting and ask for. */

export interface StreamLimits {
  /** A connection that says nothing for so long is closed. */
  readonly idleSeconds: number;
  /** Tokens, or markets, of one connection. */
  readonly subscriptionsMax: number;
  readonly connectionsMax: number;
  /** Bytes that may wait for one reader. */
  readonly backpressureBytes: number;
  /** All connections of one caller may send and ask for as much as so many of them. */
  readonly callerFactor: number;
}
