/** What a strategy threw, which is its `cause`; the message says in which function, and when. */
export class StrategyError extends Error {
  override readonly name = 'StrategyError';
}

/** Error for a value that is no strategy; the message says which member is wrong. */
export class NoStrategy extends TypeError {
  override readonly name = 'NoStrategy';
}
