/**
 * DUPLICATE_ORDERS=replay: a repeated order gets its first answer, wherever the order and its fills
 * are by then. Over a random trading day with rings of the smallest size, and on a node through
 * restarts.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { CommandKind, commandKind, OrderCommand, PrecheckFlags } from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import { FILL_WORDS, ORDER_I, Order, State } from '../../engine/tables/layout.ts';
import { type FirstAnswer, FirstAnswers } from '../../server/orders/intake/first-answers.ts';
import { fillCopy, finalCopier } from '../../storage/projection/fills.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { SHORT, withSeed } from '../common/random.ts';
import { type Result, type Signed, Trader } from '../common/traders.ts';
import { Exchange, TIGHT, tradingDay } from '../storage/stored-exchange.ts';

const RING = 30;

test('the first answer is repeated, from memory or from storage', () =>
  withSeed((random) => {
    const context = new Exchange(TIGHT);
    const { engine, t } = context;
    context.configure(0);
    const ring = t.memory.buffers.fills;
    const fills: Buffer[] = [];
    const closedOrders = new Map<string, Buffer>();
    let asked = 0;
    const first = new FirstAnswers(t, {
      rowOf: (id) => closedOrders.get(Buffer.from(id).toString('hex')),
      fill(sequence) {
        asked += 1;
        return fills[sequence];
      },
    });
    const answers: { readonly command: Int32Array; readonly answer: FirstAnswer }[] = [];
    const kinds = { live: 0, matched: 0, gone: 0 };
    for (const batch of tradingDay(random, 2_500)) {
      const { [State.fills]: fill, [State.closed]: finished } = t.state;
      engine.begin(batch.time, t.state[State.closed]!);
      for (const command of batch.commands) {
        const reason = engine.apply(command, new Float64Array(command.buffer), 0);
        if (reason !== RejectReason.accepted || commandKind(command, 0) !== CommandKind.order)
          continue;
        const { firstFill, making, taking } = engine.context;
        const match = making === 0 && taking === 0 ? -1 : firstFill;
        answers.push({ command, answer: { making, taking, match, wasDelayed: false } });
      }
      engine.end();
      for (let n = fill!; n < t.state[State.fills]!; n++) fills.push(fillCopy(t, n));
      // As after a start: the ring has the newest fills alone.
      const old = fills.length - RING - 1;
      const bytes = 4 * FILL_WORDS;
      if (old >= 0) ring.fill(0, 0, (old % t.fillRows) * bytes + bytes);
      for (let n = finished!; n < t.state[State.closed]!; n++) {
        const row = Buffer.alloc(4 << ORDER_I);
        finalCopier(t)(n, row, 0);
        const id = row.subarray(4 * Order.id, 4 * (Order.id + ID_WORDS)).swap32();
        const name = id.toString('hex');
        id.swap32();
        closedOrders.set(name, row);
      }
      if (answers.length === 0) continue;
      const { answer, command } = random.pick(answers);
      assert.deepEqual(first.of(command, 0), answer);
      kinds[answer.making === 0 ? 'live' : 'matched'] += 1;
    }
    for (const { answer, command } of answers) assert.deepEqual(first.of(command, 0), answer);
    assert(kinds.live > 20 && kinds.matched > 20 && asked > 100, JSON.stringify({ kinds, asked }));

    // What is not the same order, and fills that nobody has any more, are not answered.
    const taken = answers.find(({ answer }) => answer.making > 0)!.command;
    const forged = taken.slice();
    forged[OrderCommand.precheck]! |= PrecheckFlags.signature;
    assert.equal(first.of(forged, 0), undefined);
    const other = taken.slice();
    other[OrderCommand.flags]! ^= 1 << 1;
    assert.equal(first.of(other, 0), undefined);
    const later = taken.slice();
    new Float64Array(later.buffer)[OrderCommand.expiration]! += 1;
    assert.equal(first.of(later, 0), undefined);
    fills.fill(undefined as never, 0, fills.length - 40);
    for (const { answer, command } of answers) {
      const told = first.of(command, 0);
      if (told === undefined) kinds.gone += 1;
      else assert.deepEqual(told, answer);
    }
    assert(kinds.gone > 0 && kinds.gone < answers.length);
  }));

useCompiledNodes();
/** Ids leave memory at once. */
const SETTINGS = { DUPLICATE_ORDERS: 'replay', ORDERS_MAX: '64', ORDER_HISTORY: '16' };
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const coin = market;

test('a node repeats its first answer, also after restarts, and once the order has ended', {
  skip: SHORT,
}, async () => {
  let node = await TestNode.start(dataDir, SETTINGS);
  const alice = await Trader.join(node, 'alice');
  const bob = await Trader.join(node, 'bob');
  const sent: { readonly trader: Trader; readonly order: Signed; readonly answer: Result }[] = [];
  const send = async (trader: Trader, terms: object): Promise<Result> => {
    const order = trader.sign({ market: coin, side: 'BUY', ticks: 40, shares: 10, ...terms });
    const [answer] = await trader.post(node, [order]);
    assert(answer);
    sent.push({ trader, order, answer });
    return answer;
  };
  const again = async (): Promise<void> => {
    for (const { answer, order, trader } of sent) {
      assert.deepEqual(await trader.post(node, [order]), [answer]);
    }
  };
  const rested = await send(alice, {});
  assert.deepEqual([rested.status, rested.makingAmount], ['live', '']);
  const cancelled = await send(alice, { ticks: 20 });
  const fok = await send(bob, { side: 'SELL', ticks: 39, shares: 6, type: 'FOK' });
  assert.deepEqual([fok.makingAmount, fok.takingAmount, fok.status], ['6', '2.4', 'matched']);
  const partly = await send(bob, { side: 'SELL', ticks: 40, shares: 7 });
  assert.deepEqual([partly.makingAmount, partly.status], ['4', 'matched']);
  await alice.cancel(node, '/order', { orderID: cancelled.orderID });
  await again();
  // The very same order twice in one request, and once more in the next.
  const twice = alice.sign({ market: coin, side: 'BUY', ticks: 40, shares: 5 });
  const [one, two] = await alice.post(node, [twice, twice]);
  assert.deepEqual([one, one?.makingAmount], [two, '1.2']);
  assert(one);
  sent.push({ trader: alice, order: twice, answer: one });

  const refused = alice.sign({ market: coin, side: 'BUY', ticks: 90, shares: 5, type: 'FOK' });
  const [refusal] = await alice.post(node, [refused]);
  assert.match(refusal?.errorMsg ?? '', /fully filled/);
  await bob.place(node, { market: coin, side: 'SELL', ticks: 90, shares: 5 });
  // Judged anew: there is enough by now.
  const [taken] = await alice.post(node, [refused]);
  assert.equal(taken?.status, 'matched');
  sent.push({ trader: alice, order: refused, answer: taken! });
  const forged = { ...refused, item: { ...refused.item, orderType: 'GTC' } };
  const [known] = await alice.post(node, [forged]);
  assert.match(known?.errorMsg ?? '', /Duplicated/);

  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, SETTINGS);
  await again();
  const bids = Array.from({ length: 30 }, () =>
    alice.sign({ market: coin, side: 'BUY', ticks: 50, shares: 5 }),
  );
  await alice.post(node, bids);
  await bob.place(node, { market: coin, side: 'SELL', ticks: 50, shares: 150 });
  // All have ended by now, and most have left memory.
  await again();
  await node.stop();
  node = await TestNode.start(dataDir, SETTINGS);
  await again();
  await node.stop();
});
