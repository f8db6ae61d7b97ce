/** Each fault of requests over real sockets: what a client sees, and what the books hold afterwards. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { seededRandom } from '../../server/common/seeded-random.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { get, type Reply, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { type Terms, Trader } from '../common/traders.ts';
import { clearFaults, type Fault, faultsOf, makeFault } from './key-faults.ts';

const dataDir = temporaryDirectory();
const [market, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(market && other);
// A fast machine makes more faults in ten seconds than a client may.
const operator = await OperatorNode.start(dataDir, {
  FAULTS: 'on',
  RATE_LIMITS: 'on',
  RATE_LIMITS_OVERRIDES: 'faults=6000/10',
});
const { node } = operator;
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

let ticks = 0;

/** Terms of a further order that matches nothing. */
function buy(of = market, postOnly?: boolean): Terms {
  assert(of);
  ticks += 1;
  const terms = { market: of, side: 'BUY', ticks: (ticks % 40) + 1, shares: 10 } as const;
  return postOnly === undefined ? terms : { ...terms, postOnly };
}

/** Sends an order; a 200 means that it was taken. */
async function ask(trader: Trader, terms = buy()): Promise<Reply> {
  const reply = await trader.ask(node, 'POST', '/order', JSON.stringify(trader.sign(terms).item));
  if (reply.status === 200) assert.match(reply.text, /"success":true/);
  return reply;
}

const make = (trader: Trader, fault: object): Promise<Fault> => makeFault(node, trader, fault);
const clear = (trader: Trader): Promise<number> => clearFaults(node, trader);

async function openOf(trader: Trader): Promise<string[]> {
  const { json } = await trader.ask(node, 'GET', '/data/orders');
  const rows = (json as { data?: { id: string }[] }).data ?? (json as { id: string }[]);
  return rows.map(({ id }) => id);
}

const errorOf = ({ json, status }: Reply): unknown[] => [
  status,
  (json as { error?: string }).error,
];

test('a lost answer closes the connection after the order was taken, once for each count', async () => {
  const fault = await make(alice, { kind: 'lost-answer', count: 1 });
  assert.deepEqual([fault.count, fault.uses, fault.by], [1, 0, 'key']);
  // A refused order is answered, and uses nothing up.
  const signed = alice.sign(buy());
  const wrong = { ...signed.item, owner: bob.trio.apiKey };
  const refusal = await alice.ask(node, 'POST', '/order', JSON.stringify(wrong));
  assert.match(refusal.text, /"success":false/);
  await assert.rejects(
    alice.ask(node, 'POST', '/order', JSON.stringify(signed.item)),
    /socket hang up|ECONNRESET/,
  );
  assert.deepEqual(await openOf(alice), [signed.id]);
  // The client sends it again: it is known, and there is one.
  const again = await alice.ask(node, 'POST', '/order', JSON.stringify(signed.item));
  assert.match(again.text, /Duplicated/);
  assert.deepEqual(await openOf(alice), [signed.id]);
  assert.equal((await ask(bob)).status, 200);
  assert.equal(await clear(alice), 0);
});

test('a lost answer of a batch leaves each of its orders in the books', async () => {
  await make(alice, { kind: 'lost-answer', count: 1 });
  const before = await openOf(alice);
  const signed = [alice.sign(buy()), alice.sign(buy())];
  await assert.rejects(alice.post(node, signed), /socket hang up|ECONNRESET/);
  const open = await openOf(alice);
  assert.equal(open.length, before.length + 2);
  for (const { id } of signed) assert(open.includes(id));
});

test('a delay holds the requests of its key back, not those of others, and a clear lets them go', async () => {
  await make(alice, { kind: 'delay', seconds: 600, ms: 300 });
  const begun = performance.now();
  const [late, soon] = [ask(alice), ask(bob)];
  assert.equal((await soon).status, 200);
  const first = performance.now() - begun;
  assert.equal((await late).status, 200);
  const second = performance.now() - begun;
  assert(second >= 295 && first < second, `${first} and ${second} ms`);
  await clear(alice);
  await make(alice, { kind: 'delay', seconds: 600, ms: 60_000 });
  const waiting = ask(alice);
  await until(async () => {
    const [fault] = await faultsOf(node, alice);
    return fault?.uses === 1;
  });
  assert.equal(await clear(alice), 1);
  assert.equal((await waiting).status, 200);
});

for (const bound of [{ count: 1 }, { seconds: 1 }]) {
  test(`a clear ends the waits of a delay that ${JSON.stringify(bound)} has ended`, async () => {
    const { id } = await make(alice, { kind: 'delay', ms: 60_000, ...bound });
    const begun = performance.now();
    const waiting = ask(alice);
    await until(() => new RegExp(`fault ${id}: delay ended`).test(node.log));
    assert.deepEqual(await faultsOf(node, alice), []);
    // Neither another key nor another fault is cleared.
    assert.equal(await clear(bob), 0);
    const foreign = await alice.ask(node, 'DELETE', '/faults', '{"id":"f0"}');
    assert.deepEqual(foreign.json, { cleared: 0 });
    assert.equal(await Promise.race([waiting, setTimeout(50, 'waits')]), 'waits');
    assert.equal(await clear(alice), 1);
    assert.equal((await waiting).status, 200);
    assert(performance.now() - begun < 30_000);
    assert.equal(await clear(alice), 0);
  });
}

test('a node that stops carries delayed requests out first', async () => {
  const directory = temporaryDirectory();
  const [only] = await withMarkets(directory, [{ id: 1 }]);
  const stopping = await OperatorNode.start(directory, { FAULTS: 'operator' });
  const carol = await Trader.join(stopping.node, 'carol');
  for (const bound of [{ count: 1 }, {}]) {
    await stopping.done('POST /admin/faults', { kind: 'delay', ms: 60_000, ...bound });
  }
  const waiting = [1, 2].map(() => carol.place(stopping.node, buy(only)));
  await until(async () => {
    const metrics = await (await fetch(`${stopping.base}/metrics`)).text();
    return /exchange_fault_uses_total\{kind="delay"\} 2/.test(metrics);
  });
  const begun = performance.now();
  await stopping.node.stop();
  // The port waits for ten seconds, and then for nobody.
  assert(performance.now() - begun < 9_000, `${performance.now() - begun} ms`);
  for (const { status } of await Promise.all(waiting)) assert.equal(status, 'live');
});

test('a restart answers 425, then takes post-only orders and cancels alone, then everything', async () => {
  const fault = await make(alice, { kind: 'restart', seconds: 1 });
  const ends = Date.parse(fault.ends as string);
  const since = Date.parse(fault.since as string);
  assert.equal(ends - since, 11_000);
  const early = await ask(alice);
  assert.deepEqual(errorOf(early), [425, 'the matching engine is restarting']);
  assert.equal(early.headers['retry-after'], '1');
  assert.equal((await alice.ask(node, 'DELETE', '/cancel-all')).status, 425);
  assert.equal((await ask(bob)).status, 200);
  assert.equal((await alice.ask(node, 'GET', '/data/orders')).status, 200);
  await until(async () => (await ask(alice)).status !== 425);
  const { json, status, headers } = await ask(alice);
  const body = json as Record<string, unknown>;
  assert.equal(status, 503);
  assert.deepEqual(
    [body.error, body.code],
    ['post-only mode: only post-only orders and cancels are allowed', 'post_only_mode'],
  );
  const left = body.retry_after_seconds as number;
  assert(left >= 1 && left <= 10, String(left));
  assert.equal(headers['retry-after'], String(left));
  assert.equal((await ask(alice, buy(market, true))).status, 200);
  const mixed = [alice.sign(buy(market, true)), alice.sign(buy())];
  assert.equal(
    (await alice.postText(node, JSON.stringify(mixed.map(({ item }) => item)))).status,
    503,
  );
  assert.equal((await alice.ask(node, 'DELETE', '/cancel-all')).status, 200);
  assert.equal(await clear(alice), 1);
  assert.equal((await ask(alice)).status, 200);
});

test('cancel-only refuses orders, disabled refuses cancels too', async () => {
  await make(alice, { kind: 'cancel-only', seconds: 600 });
  assert.deepEqual(errorOf(await ask(alice)), [
    503,
    'Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.',
  ]);
  assert.equal((await alice.ask(node, 'DELETE', '/cancel-all')).status, 200);
  await make(alice, { kind: 'disabled', count: 2 });
  const disabled = [503, 'Trading is currently disabled. Check polymarket.com for updates'];
  assert.deepEqual(errorOf(await ask(alice)), disabled);
  assert.deepEqual(errorOf(await alice.ask(node, 'DELETE', '/cancel-all')), disabled);
  // Its count is used up, and the other one is still there.
  assert.equal((await alice.ask(node, 'DELETE', '/cancel-all')).status, 200);
  assert.equal((await ask(alice)).status, 503);
  assert.equal(await clear(alice), 1);
});

test('a rate limit answers 429 with the headers of a real one', async () => {
  await make(alice, { kind: 'rate-limit', count: 1, ms: 2_500 });
  const { headers, status, text } = await ask(alice);
  assert.deepEqual([status, JSON.parse(text).error], [429, 'Too Many Requests']);
  assert.equal(headers['retry-after'], '3');
  assert.equal(headers['x-ratelimit-remaining'], '0');
  assert(Number(headers['x-ratelimit-reset']) * 1_000 > Date.now());
  assert.equal((await ask(alice)).status, 200);
});

test('a fault of a market strikes orders of that market alone', async () => {
  const { conditionId } = market;
  await make(alice, {
    kind: 'cancel-only',
    market: conditionId.toUpperCase().replace('0X', '0x'),
    seconds: 600,
  });
  assert.equal((await ask(alice, buy(market))).status, 503);
  assert.equal((await ask(alice, buy(other))).status, 200);
  const batch = JSON.stringify([alice.sign(buy(other)).item, alice.sign(buy(market)).item]);
  assert.equal((await alice.postText(node, batch)).status, 503);
  // As deep as the route reads it.
  const deep = `${'['.repeat(20)}${']'.repeat(20)}`;
  const text = JSON.stringify(alice.sign(buy(market)).item).replace('{', `{"more":${deep},`);
  assert.equal((await alice.ask(node, 'POST', '/order', text)).status, 503);
  assert.equal(await clear(alice), 1);
  const short = `0x${'Ab'.repeat(31)}`;
  const stored = await make(alice, { kind: 'cancel-only', market: short, count: 1 });
  assert.equal(stored.market, `${short.toLowerCase()}00`);
  assert.equal(await clear(alice), 1);
});

test('a fault strikes the requests that its seed draws below its probability', async () => {
  const drawn = async (probability: number): Promise<string> => {
    await make(alice, { kind: 'rate-limit', probability, seed: 7, count: 1_000 });
    let text = '';
    for (let i = 0; i < 24; i += 1) {
      const { status } = await alice.ask(node, 'DELETE', '/cancel-all');
      text += status === 429 ? 'x' : '.';
    }
    await clear(alice);
    return text;
  };
  for (const probability of [0.5, 0.5, 0.2]) {
    const draw = seededRandom(7);
    const expected = Array.from({ length: 24 }, () => (draw() < probability ? 'x' : '.')).join('');
    assert.equal(await drawn(probability), expected, String(probability));
  }
});

test('a stale book is repeated until the fault ends, and other markets are current', async () => {
  const { conditionId, tokenIds } = market;
  const [token = ''] = tokenIds;
  const path = `/book?token_id=${token}`;
  await operator.done('POST /admin/faults', { kind: 'stale-book', market: conditionId });
  const before = await get(node, path);
  await alice.place(node, buy(market));
  assert.equal((await get(node, path)).text, before.text);
  const elsewhere = `/book?token_id=${other.tokenIds[0]}`;
  const first = await get(node, elsewhere);
  await alice.place(node, buy(other));
  assert.notEqual((await get(node, elsewhere)).text, first.text);
  await operator.done('POST /admin/faults/clear', {});
  assert.notEqual((await get(node, path)).text, before.text);
});

test('a skewed clock is ahead in /time alone', async () => {
  await operator.done('POST /admin/faults', { kind: 'clock-skew', ms: -90_000, seconds: 600 });
  const shown = Number((await get(node, '/time')).text);
  assert(Math.abs(Date.now() / 1_000 - 90 - shown) < 5, String(shown));
  assert.equal((await ask(alice)).status, 200);
  await operator.done('POST /admin/faults/clear', {});
  assert(Math.abs(Date.now() / 1_000 - Number((await get(node, '/time')).text)) < 5);
});

test('a fault by wallet or key of the operator strikes nobody else', async () => {
  const wallet = alice.address;
  await operator.done('POST /admin/faults', { kind: 'disabled', wallet, seconds: 60 });
  const key = bob.trio.apiKey;
  await operator.done('POST /admin/faults', { kind: 'rate-limit', key, count: 1 });
  assert.deepEqual([(await ask(alice)).status, (await ask(bob)).status], [503, 429]);
  assert.equal((await ask(bob)).status, 200);
  // A key does not end what the operator made.
  assert.equal(await clear(alice), 0);
  assert.equal((await ask(alice)).status, 503);
  await operator.done('POST /admin/faults/clear', {});
  assert.equal((await ask(alice)).status, 200);
});

/** Members of GET /status. */
async function shownFaults(): Promise<unknown[]> {
  const { json } = await get(node, '/status');
  const { faults, key_faults: ofKeys } = json as { faults: unknown; key_faults: unknown };
  return [faults, ofKeys];
}

test('faults in force are in GET /status without names, in the metrics and in the log', async () => {
  const fault = await make(alice, { kind: 'cancel-only', count: 5, seconds: 600 });
  await make(bob, { kind: 'cancel-only', count: 5 });
  const key = bob.trio.apiKey;
  const made = { kind: 'stream-gap', key, seconds: 60 };
  const { ends, id } = await operator.done('POST /admin/faults', made);
  await ask(alice);
  assert.deepEqual(await shownFaults(), [
    [{ id, kind: 'stream-gap', of: 'key', phase: 'on', ends }],
    [{ kind: 'cancel-only', count: 2 }],
  ]);
  assert.equal(await clear(bob), 1);
  await operator.done('POST /admin/faults/clear', { id });
  assert.deepEqual(await shownFaults(), [[], [{ kind: 'cancel-only', count: 1 }]]);
  const metrics = await (await fetch(`${operator.base}/metrics`)).text();
  assert.match(metrics, /exchange_faults\{kind="cancel-only"\} 1/);
  const uses = Number(/exchange_fault_uses_total\{kind="cancel-only"\} (\d+)/.exec(metrics)?.[1]);
  assert(uses >= 1);
  assert.match(node.log, new RegExp(`fault ${fault.id}: cancel-only begins`));
  await clear(alice);
  await until(() => new RegExp(`fault ${fault.id}: cancel-only ended: cleared`).test(node.log));
});

test('a fault ends by itself after its seconds', async () => {
  await make(alice, { kind: 'disabled', seconds: 1 });
  assert.equal((await ask(alice)).status, 503);
  await until(async () => (await ask(alice)).status === 200);
  assert.deepEqual(await shownFaults(), [[], []]);
  assert.deepEqual(await faultsOf(node, alice), []);
});

const REFUSED: readonly (readonly [fault: object, member: string])[] = [
  [{ kind: 'stale-book', count: 1 }, 'kind'],
  [{ kind: 'clock-skew', count: 1 }, 'kind'],
  [{ kind: 'none', count: 1 }, 'kind'],
  [{ kind: 'delay' }, 'count'],
  [{ kind: 'delay', count: 0 }, 'count'],
  [{ kind: 'delay', count: 1_001 }, 'count'],
  [{ kind: 'delay', seconds: 601 }, 'seconds'],
  [{ kind: 'delay', count: 1, ms: 60_001 }, 'ms'],
  [{ kind: 'delay', count: 1, ms: 0 }, 'ms'],
  [{ kind: 'disabled', count: 1, ms: 5 }, 'ms'],
  [{ kind: 'restart', count: 1 }, 'seconds'],
  [{ kind: 'delay', count: 1, seed: 1 }, 'seed'],
  [{ kind: 'delay', count: 1, probability: 1.5 }, 'probability'],
  [{ kind: 'delay', count: 1, market: 'one' }, 'market'],
];

for (const [fault, member] of REFUSED) {
  test(`${JSON.stringify(fault)} of a key is refused, and names ${member}`, async () => {
    const reply = await alice.ask(node, 'POST', '/faults', JSON.stringify(fault));
    assert.deepEqual(errorOf(reply), [400, `invalid_field: ${member}`]);
    assert.deepEqual(await faultsOf(node, alice), []);
  });
}

test('a key names no other one, and has at most eight faults', async () => {
  const foreign = { kind: 'disabled', count: 1, wallet: bob.address, key: bob.trio.apiKey };
  assert.equal((await make(alice, foreign)).key, alice.trio.apiKey);
  assert.deepEqual([(await ask(bob)).status, (await ask(alice)).status], [200, 503]);
  for (let i = 0; i < 8; i += 1) await make(alice, { kind: 'stream-gap', count: 1 });
  const ninth = await alice.ask(node, 'POST', '/faults', '{"kind":"stream-gap","count":1}');
  assert.deepEqual(errorOf(ninth), [409, 'too many faults']);
  assert.equal(await clear(alice), 8);
});

test('a count or a probability of the whole venue is refused to the operator', async () => {
  for (const member of ['count', 'probability']) {
    const fault = { kind: 'disabled', [member]: 1 };
    const { json, status } = await operator.call('POST /admin/faults', fault);
    assert.deepEqual([status, json.error], [400, `invalid_field: ${member}`]);
  }
  const { json, status } = await operator.call('POST /admin/faults/clear', { id: 'f999999' });
  assert.deepEqual([status, json.error], [404, 'fault not found']);
});
