/**
 * POST /replace of a whole node: a cancel and an order in one turn, in answers, books and after a
 * kill, and refusals of either (docs/protocol.md#replacing-an-order).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import { book, levels, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { type Canceled, type Result, type Signed, type Terms, Trader } from '../common/traders.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const [coin] = await withMarkets(dataDir, [{ id: 1 }]);
assert(coin);
const [token = ''] = coin.tokenIds;
let node = await TestNode.start(dataDir);
const alice = await Trader.join(node, 'replace alice');
const bob = await Trader.join(node, 'replace bob');

interface Replaced {
  readonly cancel: Canceled;
  readonly order: Result | null;
}

const GONE = "order can't be found - already canceled or matched";
const UNKNOWN = `0x${'ab'.repeat(32)}`;

const sign = (trader: Trader, terms: Partial<Terms> = {}): Signed =>
  trader.sign({ market: coin, side: 'BUY', ticks: 20, shares: 5, ...terms });

async function resting(trader: Trader, terms: Partial<Terms> = {}): Promise<Signed> {
  const order = sign(trader, terms);
  assert.equal((await trader.post(node, [order]))[0]?.status, 'live');
  return order;
}

const send = (trader: Trader, body: unknown) =>
  trader.ask(node, 'POST', '/replace', JSON.stringify(body));

async function replace(trader: Trader, orderID: string, { item }: Signed): Promise<Replaced> {
  const reply = await send(trader, { orderID, ...item });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Replaced;
}

const bids = async () => levels((await book(node, token)).bids);

test('one order is cancelled and another one placed in one turn, also over a kill', async () => {
  const old = await resting(alice, { shares: 20 });
  await bob.place(node, { market: coin, side: 'SELL', ticks: 20, shares: 7.25, type: 'FAK' });
  const next = sign(alice, { ticks: 21, shares: 7 });
  assert.deepEqual(await replace(alice, old.id, next), {
    cancel: { canceled: [old.id], not_canceled: {}, filled: { [old.id]: '7.25' } },
    order: {
      success: true,
      errorMsg: '',
      orderID: next.id,
      takingAmount: '',
      makingAmount: '',
      status: 'live',
    },
  });
  assert.deepEqual(await bids(), ['7@0.21']);
  await node.end('SIGKILL');
  node = await TestNode.start(dataDir);
  assert.deepEqual(await bids(), ['7@0.21']);
});

test('no order is placed when the cancel fails: unknown, closed, or of another owner', async () => {
  const before = await bids();
  const closed = await resting(alice);
  await alice.cancel(node, '/order', { orderID: closed.id });
  const foreign = await resting(alice, { ticks: 3 });
  for (const [trader, id] of [
    [alice, UNKNOWN],
    [alice, closed.id],
    [bob, foreign.id],
  ] as const) {
    assert.deepEqual(await replace(trader, id, sign(trader, { ticks: 22 })), {
      cancel: { canceled: [], not_canceled: { [id]: GONE }, filled: {} },
      order: null,
    });
  }
  await alice.cancel(node, '/order', { orderID: foreign.id });
  assert.deepEqual(await bids(), before);
});

test('a repeated request reports the order as known, and changes nothing', async () => {
  const old = await resting(bob, { ticks: 5 });
  const next = sign(bob, { ticks: 6 });
  assert.equal((await replace(bob, old.id, next)).order?.status, 'live');
  const again = await replace(bob, old.id, next);
  assert.deepEqual(again.cancel.not_canceled, { [old.id]: GONE });
  assert.deepEqual([again.order?.success, again.order?.orderID], [false, next.id]);
  assert.equal(again.order?.status, 'live');
  assert.deepEqual((await bob.cancel(node, '/cancel-all')).canceled, [next.id]);
});

test('an order that is refused, or matches at once, is answered like POST /order', async () => {
  const small = await resting(bob, { ticks: 7 });
  const { cancel, order } = await replace(bob, small.id, sign(bob, { shares: 1 }));
  assert.deepEqual(cancel.canceled, [small.id]);
  assert.equal(order?.errorMsg, 'order is invalid. Size lower than the minimum');
  const maker = await resting(alice, { ticks: 30 });
  const old = await resting(bob, { ticks: 8 });
  const taken = await replace(bob, old.id, sign(bob, { side: 'SELL', ticks: 30 }));
  assert.deepEqual([taken.order?.status, taken.order?.takingAmount], ['matched', '1.5']);
  assert.equal((await alice.cancel(node, '/order', { orderID: maker.id })).canceled.length, 0);
});

test('a fault of shape refuses the request, and the old order stays', async () => {
  const old = await resting(alice, { ticks: 9 });
  const { item } = sign(alice);
  for (const [body, detail] of [
    [item, 'orderID is required'],
    [{ orderID: 'x', ...item }, 'orderID must be an order id'],
    [{ orderID: old.id, orderId: UNKNOWN, ...item }, 'orderID and orderId differ'],
    [{ orderID: old.id }, 'order is required'],
    [{ orderID: old.id, ...item, orderType: 'X' }, 'orderType must be GTC, GTD, FOK or FAK'],
    [[old.id], 'body must be an object'],
  ] as const) {
    const reply = await send(alice, body);
    assert.equal(reply.status, 400, detail);
    assert.equal((reply.json as { detail: string }).detail, detail);
  }
  assert.deepEqual((await alice.cancel(node, '/order', { orderID: old.id })).canceled, [old.id]);
  await node.stop();
});
