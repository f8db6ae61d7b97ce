/** Checks of the answers of a client. Each rejects a wrong answer. */
import assert from 'node:assert/strict';

export type Client = Readonly<
  Partial<Record<string, (...parts: readonly unknown[]) => Promise<unknown>>>
>;

type Json = Readonly<Record<string, unknown>>;

/**
 * Resolves with the answer; rejects on `{error}`, with which these clients resolve after a refusal.
 */
export async function answered(asked: Promise<unknown> | undefined): Promise<Json> {
  const answer = (await asked) as Json | null | undefined;
  assert(answer !== undefined && answer !== null, 'an answer');
  const isRefused = typeof answer === 'object' && 'error' in answer;
  assert(!isRefused, JSON.stringify(answer));
  return answer;
}

export async function texts(asked: Promise<Json>, ...names: readonly string[]): Promise<void> {
  const answer = await asked;
  for (const name of names) {
    assert(
      typeof answer[name] === 'string' && answer[name] !== '',
      `${name} in ${JSON.stringify(answer)}`,
    );
  }
}

/** Checks an array of `least` rows or more; 0 = exactly none. */
export async function rows(asked: Promise<unknown>, least: number): Promise<readonly Json[]> {
  const answer = (await asked) as readonly Json[];
  assert(Array.isArray(answer), `an array, not ${JSON.stringify(answer)}`);
  assert(least === 0 ? answer.length === 0 : answer.length >= least, `${answer.length} rows`);
  return answer;
}

/** Checks a page by cursor whose rows have a member. */
export async function page(asked: Promise<Json>, member = 'condition_id'): Promise<void> {
  const { count, data, limit, next_cursor } = await asked;
  const found = data as readonly Json[];
  assert(found.length > 0 && member in found[0]!, `rows with ${member}`);
  assert(typeof next_cursor === 'string' && typeof limit === 'number' && count === found.length);
}
