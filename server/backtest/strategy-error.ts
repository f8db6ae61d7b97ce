/** What a strategy threw, which is its `cause`; the message says in which function, and when. */
export class StrategyError extends Error {
  override readonly name = 'StrategyError';
}
