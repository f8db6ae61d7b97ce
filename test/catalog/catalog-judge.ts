/**
 * Compares a served catalog with the naive one: requests over real sockets, status and body.
 *
 * Non-goals: caching headers and compression (catalog-routes.test.ts, catalog-compressed.slow.test.ts).
 */
import assert from 'node:assert/strict';
import { type Answer, Client } from '../common/http-client.ts';
import { freshSeed, Random } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { type Expected, eventEntry, expectedAnswer } from './naive-answers.ts';
import type { NaiveCatalog } from './naive-catalog.ts';

const CONNECTIONS = 8;

export type Ask = (target: string) => Promise<Answer>;

/** Runs a random test over sockets; a failure prints the seed that replays it. */
export async function seeded(body: (random: Random, seed: number) => Promise<void>): Promise<void> {
  const seed = freshSeed();
  try {
    await body(new Random(seed), seed);
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
}

export async function askAll(
  port: number,
  targets: readonly string[],
  judge: (target: string, answer: Answer) => void,
): Promise<void> {
  let next = 0;
  const walk = async () => {
    await withAsk(port, async (ask) => {
      while (next < targets.length) {
        const target = targets[next++]!;
        judge(target, await ask(target));
      }
    });
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, walk));
}

export async function withAsk<T>(port: number, body: (ask: Ask) => Promise<T>): Promise<T> {
  const client = new Client(port);
  try {
    return await body((target) =>
      client.send(`GET ${target} HTTP/1.1\r\nHost: node\r\n\r\n`).answer(),
    );
  } finally {
    client.socket.destroy();
  }
}

/** Fails when an answer is not what the naive catalog says, naming the request. */
export function judgeAnswer(catalog: NaiveCatalog, target: string, answer: Answer): void {
  const expected = expectedAnswer(catalog, target);
  const text = String(answer.body);
  const context = `GET ${target}`;
  assert.equal(answer.headers.get('content-type'), 'application/json', context);
  if (expected.kind === 'body') {
    assert.equal(answer.status, expected.status, `${context}: ${text.slice(0, 300)}`);
    if (text === expected.text) return;
    if (expected.status === 400) {
      assert.deepEqual(plainRefusal(JSON.parse(text)), JSON.parse(expected.text), context);
      return;
    }
    // Only the spelling of texts may differ.
    const anyCursor = (name: string, value: unknown): unknown =>
      name === 'next_cursor' ? 'any' : value;
    const json: unknown = JSON.parse(text);
    // Calling a function for each value takes several times as long.
    const served = expected.text.endsWith('"any"}')
      ? JSON.stringify(json, anyCursor)
      : JSON.stringify(json);
    if (served === expected.text) {
      const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
      assert.doesNotMatch(outside, / {2}/, `${context}: a run of blanks`);
      return;
    }
    assert.fail(`${context}: ${firstDifference(served, expected.text)}`);
  } else if (expected.kind === 'bad request') {
    judgeFault(expected.faults, context, answer);
  } else {
    judgeSearchPage(expected, context, answer);
  }
}

/** Returns the place of the first difference: a page may be a megabyte. */
function firstDifference(served: string, expected: string): string {
  let at = 0;
  while (served[at] === expected[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 80), at + 80);
  return `at ${at} ...${around(served)}... should be ...${around(expected)}...`;
}

function judgeFault(
  faults: readonly (readonly string[])[],
  context: string,
  { status, body }: Answer,
): void {
  const wanted = JSON.stringify(faults);
  assert.equal(status, 400, `${context}: ${wanted}, and not ${String(body.subarray(0, 300))}`);
  const { type, error, detail, ...more } = JSON.parse(String(body));
  assert.deepEqual(
    { type, error, more },
    { type: 'bad request', error: 'q is required', more: { code: 'BAD_REQUEST' } },
  );
  assert.match(String(body), /^\{"type":/, context);
  const words = new Set(String(detail).match(/[\w[\]]+/g));
  const isNamed = faults.some((names) => names.every((name) => words.has(name)));
  assert(isNamed, `${context}: "${detail}" names none of ${wanted}`);
}

/** Checks the members and size of a page of search; ranking decides the order. */
function judgeSearchPage(
  expected: Expected & { readonly kind: 'search' },
  context: string,
  { status, body }: Answer,
): void {
  assert.equal(status, 200, `${context}: ${String(body.subarray(0, 300))}`);
  const { events, tags, pagination, ...more } = JSON.parse(String(body));
  const { limit, page } = expected;
  const shown = (total: number) => Math.max(0, Math.min(limit, total - (page - 1) * limit));
  assert.deepEqual(
    { pagination, more, events: events.length, tags: tags.length },
    {
      pagination: {
        hasMore: page * limit < expected.events.length,
        totalResults: expected.events.length,
      },
      more: {},
      events: shown(expected.events.length),
      tags: shown(expected.tags.length),
    },
    context,
  );
  const matching = {
    events: new Set(expected.events.map((event) => JSON.stringify(eventEntry(event)))),
    tags: new Set(expected.tags.map((tag) => JSON.stringify(tag))),
  };
  if (expected.isSorted) {
    const first = (page - 1) * limit;
    const wanted = expected.events.slice(first, first + limit).map(({ shown }) => shown.id);
    assert.deepEqual(
      events.map(({ id }: { readonly id: string }) => id),
      wanted,
      context,
    );
  }
  // Taken out as they come: an object twice on one page is a fault too.
  for (const event of events) {
    assert(matching.events.delete(JSON.stringify(event)), `${context}: event ${event.id}`);
  }
  for (const tag of tags) {
    assert(matching.tags.delete(JSON.stringify(tag)), `${context}: tag ${JSON.stringify(tag)}`);
  }
}
