/**
 * Checks of what only a bug can cause. They stay on in production: the process stops before it can be
 * wrong. Messages are constants, so that a check that holds costs a comparison.
 */
class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

/** Short, so that the compiler puts it into every caller without counting it. */
export function assert(condition: boolean, fact: string): asserts condition {
  if (!condition) fail(fact);
}

function fail(fact: string): never {
  throw new AssertionFailure(`broken: ${fact}`);
}
