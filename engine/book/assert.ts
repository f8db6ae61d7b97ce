/**
 * Assertions: checks of conditions that only a bug can break. They stay on in production, so the
 * process stops before it works on wrong data. Messages are constants, so a check that succeeds
 * costs one comparison.
 */
class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

/** The function is short, so that V8 always inlines it. */
export function assert(condition: boolean, fact: string): asserts condition {
  if (!condition) fail(fact);
}

function fail(fact: string): never {
  throw new AssertionFailure(`broken: ${fact}`);
}
