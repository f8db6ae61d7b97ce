/** Reading an own write on a single node (docs/protocol.md#reading-an-own-write). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { level2 } from '../../client/credentials.ts';
import {
  get,
  type Reply,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, seconds, Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
const node = await TestNode.start(dataDir, {
  LEDGER: 'off',
  CORS_ORIGINS: 'https://app.example',
  // No order is cancelled in between.
  HEARTBEAT_SECONDS: '3600',
});
const alice = await Trader.join(node, 'alice');
const [tokenId = ''] = market!.tokenIds;

const sequenceOf = ({ headers }: Reply): number => Number(headers['x-sequence']);
const after = (sequence: number | string) => ({ 'X-Min-Sequence': String(sequence) });
const signed = (ticks: number) => alice.sign({ market: market!, side: 'BUY', ticks, shares: 10 });

async function logSequence(): Promise<number> {
  const { log } = (await get(node, '/status')).json as { log: { sequence: number } };
  return log.sequence;
}

test('answers to requests that write name the batch that holds the write', async () => {
  const first = signed(10);
  const placed = await alice.postText(node, bodyOf([first]));
  assert.equal(sequenceOf(placed), await logSequence());
  const again = await alice.postText(node, bodyOf([first]));
  assert.equal(sequenceOf(again), sequenceOf(placed));
  const one = await alice.ask(node, 'POST', '/order', JSON.stringify(signed(11).item));
  assert.equal(sequenceOf(one), sequenceOf(placed) + 1);
  const replacing = JSON.stringify({ orderID: first.id, ...signed(12).item });
  const others = [
    await alice.ask(node, 'POST', '/replace', replacing),
    await alice.ask(node, 'DELETE', '/cancel-all'),
    await alice.ask(node, 'POST', '/heartbeats'),
    await alice.ask(node, 'POST', '/auth/readonly-api-key'),
  ];
  const sequences = others.map(sequenceOf);
  assert.deepEqual(
    sequences,
    [1, 2, 3, 4].map((i) => sequenceOf(one) + i),
  );
  assert.equal(await logSequence(), sequences.at(-1));
  // Nothing was written; what is named is there all the same.
  const malformed = await alice.postText(node, '[');
  assert.deepEqual([malformed.status, sequenceOf(malformed)], [400, sequences.at(-1)]);
});

async function nextBatch() {
  const newest = await logSequence();
  const books = JSON.stringify([{ token_id: tokenId }]);
  const path = '/data/orders';
  const key = level2('SERVICE', alice.address, alice.trio, 'GET', path, '', seconds());
  const asking = [
    send(node, 'GET', `/book?token_id=${tokenId}`, after(newest + 1)),
    send(
      node,
      'POST',
      '/books',
      { ...after(newest + 1), 'Content-Type': 'application/json' },
      books,
    ),
    send(node, 'GET', path, { ...key, ...after(newest + 1) }),
  ];
  let answered = 0;
  for (const each of asking) void each.then(() => (answered += 1));
  // What is there already is answered at once, in the meantime.
  const known = await send(node, 'GET', `/book?token_id=${tokenId}`, after(newest));
  const early = answered;
  const order = signed(33);
  assert.equal(sequenceOf(await alice.postText(node, bodyOf([order]))), newest + 1);
  return { known, early, order, waited: await Promise.all(asking) };
}

test('answers to reads name no batch, and requests that write nothing wait for the batch that they name', async () => {
  let seen = await nextBatch();
  // They wait for a second, in which a stalled machine does not place an order.
  for (let tries = 0; tries < 60 && seen.waited.some(({ status }) => status === 503); tries++) {
    seen = await nextBatch();
  }
  const { early, known, order, waited } = seen;
  assert.deepEqual([known.status, known.headers['x-sequence'], early], [200, undefined, 0]);
  const [book, list, own] = waited;
  assert.match(book!.text, /"price":"0.33"/);
  assert.match(list!.text, /"price":"0.33"/);
  assert(own!.text.includes(order.id), own!.text);
});

test('a request for a batch that does not come is answered 503 after a second, by each of the APIs', async () => {
  const far = after((await logSequence()) + 1_000);
  const text = 'this node has not applied X-Min-Sequence yet';
  const all = await Promise.all(
    [`/book?token_id=${tokenId}`, '/gamma/markets', '/data/trades'].map((path) =>
      send(node, 'GET', path, far),
    ),
  );
  for (const { headers, json, status } of all) {
    const { code, error } = json as { code: string; error: string };
    assert.deepEqual(
      [status, headers['retry-after'], error, code],
      [503, '1', text, 'NOT_APPLIED_YET'],
    );
  }
});

test('an invalid batch number is answered 400, which names the header', async () => {
  for (const wrong of ['-1', '1.5', 'x', '1 2', '9007199254740992', '10000000000000000']) {
    const { json, status } = await send(node, 'GET', '/time', after(wrong));
    const { code, error } = json as { code: string; error: string };
    assert.deepEqual(
      [status, error, code],
      [400, 'invalid_field: X-Min-Sequence', 'INVALID_FIELD'],
      wrong,
    );
  }
  const catalog = await send(node, 'GET', '/gamma/markets', after('x'));
  assert.equal(catalog.status, 400);
  assert.match(catalog.text, /"type":"bad request".*X-Min-Sequence must be a whole number/);
  // A write does not read it.
  const body = bodyOf([signed(34)]);
  assert.equal((await alice.postText(node, body, after('x'))).status, 200);
});

test('a page may read the header of the batch', async () => {
  const Origin = 'https://app.example';
  const { headers } = await alice.postText(node, bodyOf([signed(35)]), { Origin });
  assert.match(String(headers['access-control-expose-headers']), /X-Sequence/);
  assert.match(String(headers['x-sequence']), /^\d+$/);
});
