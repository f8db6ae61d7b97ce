/**
 * A worker that dies before its turn fails its batch alone. One that dies inside its turn stops the
 * process, and the next start recovers every acknowledged order.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  type Reply,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { bodyOf, type Result, type Signed, Trader } from '../common/traders.ts';

useCompiledNodes();

const INTERNAL = { error: 'internal_error', code: 'INTERNAL_ERROR' };
const WORKERS = { WORKERS: '3' };
const NODE = 'test/node/dying-node';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const token = market.tokenIds[0] ?? '';
const taken: Signed[] = [];
let node: TestNode;
let alice: Trader;

function order(fate = ''): Signed {
  assert(market);
  const signed = alice.sign({ market, side: 'BUY', ticks: 40, shares: 5 });
  return fate === '' ? signed : { ...signed, item: { ...signed.item, fate } };
}

/** Sends each order as a request of its own, all at once; `undefined` where no answer came. */
function send(orders: readonly Signed[]): Promise<(Reply | undefined)[]> {
  return Promise.all(
    orders.map((one) => alice.postText(node, bodyOf([one])).catch(() => undefined)),
  );
}

function isTaken(reply: Reply | undefined): boolean {
  return reply?.status === 200 && (reply.json as Result[])[0]?.status === 'live';
}

/** Checks the shares in the book: five for each accepted order. */
async function assertAllStandOnce(): Promise<void> {
  const { bids } = await book(node, token);
  const shares = bids.reduce((sum, { size }) => sum + Number(size), 0);
  assert.equal(shares, 5 * taken.length);
}

/** Sends batches of which one meets its fate before its turn; all others must be accepted. */
async function assertOnlyItsBatchFails(fate: string): Promise<void> {
  const doomed = order(fate);
  const orders = [...Array.from({ length: 4 }, () => order()), doomed];
  orders.push(...Array.from({ length: 7 }, () => order()));
  const replies = await send(orders);
  for (const [i, reply] of replies.entries()) {
    const one = orders[i];
    assert(one !== undefined && reply !== undefined);
    // Requests that travelled in the same batch share its fate.
    if (reply.status === 500) assert.deepEqual(reply.json, INTERNAL);
    else assert(isTaken(reply), reply.text);
    if (isTaken(reply)) taken.push(one);
  }
  assert.equal(replies[4]?.status, 500);
  await assertAllStandOnce();
  const [again] = await send([{ ...doomed, item: { ...doomed.item, fate: '' } }]);
  assert(isTaken(again), 'it was not placed, and can be sent again');
  taken.push(doomed);
}

test('a batch gets an error when its worker fails or dies before the writer turn', async () => {
  node = await TestNode.start(dataDir, { WORKERS: '1' }, [], NODE);
  alice = await Trader.join(node, 'alice');
  await assertOnlyItsBatchFails('throw-before');
  await assertOnlyItsBatchFails('die-before');
  const says = /warn a worker failed on batch \d+: told to fail while verifying/;
  await until(() => says.test(node.log));
});

test('later batches go on when a worker dies before its writer turn', { skip: SHORT }, async () => {
  await node.stop();
  node = await TestNode.start(dataDir, WORKERS, [], NODE);
  await assertAllStandOnce();
  await assertOnlyItsBatchFails('throw-before');
  await assertOnlyItsBatchFails('die-before');
  // Two at once leave one worker for three batches.
  const two = [order('die-before'), order('die-before'), order(), order(), order()];
  for (const [i, reply] of (await send(two)).entries()) {
    if (!isTaken(reply)) assert.equal(reply?.status, 500);
    else taken.push(two[i] as Signed);
  }
  const after = Array.from({ length: 6 }, () => order());
  assert((await send(after)).every(isTaken));
  taken.push(...after);
  await assertAllStandOnce();
});

test('answers are complete when a worker dies after its writer turn', async () => {
  const last = order('die-after');
  const [reply] = await send([last]);
  assert(isTaken(reply), reply?.text);
  taken.push(last);
  const next = order();
  assert(isTaken((await send([next]))[0]));
  taken.push(next);
});

for (const fate of SHORT === false
  ? ['die-inside', 'throw-inside', 'die-entering']
  : ['die-inside']) {
  test(`${fate}: the process stops with the reason, and the next start has every acknowledged order`, async () => {
    const orders = Array.from({ length: 9 }, (_, i) => order(i === 5 ? fate : ''));
    const replies = await send(orders);
    assert.equal((await node.exit()).code, 1, node.log);
    assert.match(node.log, /stopping: a worker died inside its turn/);
    assert(!isTaken(replies[5]), 'what was half done is not acknowledged');
    node = await TestNode.start(dataDir, WORKERS, [], NODE);
    const plain = orders.map((one) => ({ ...one, item: { ...one.item, fate: '' } }));
    for (const [i, result] of (await alice.post(node, plain)).entries()) {
      if (isTaken(replies[i])) assert.match(result.errorMsg, /Duplicated/, 'it was acknowledged');
      else assert(result.success || result.errorMsg.includes('Duplicated'), result.errorMsg);
    }
    taken.push(...orders);
    await assertAllStandOnce();
  });
}

test('the node ends with 0 after the deaths of workers', () => node.stop());
