/** Error of a strategy, with the original as its `cause`; the message names the function and the time. */
export class StrategyError extends Error {
  override readonly name = 'StrategyError';
}

/** Error for a value that is no strategy; the message names the wrong member. */
export class NoStrategy extends TypeError {
  override readonly name = 'NoStrategy';
}
