/**
 * RESULT_CODES=on on a whole node: results of refused orders and cancels have the code of the refusal, all
 * others stay as they are (docs/protocol.md#refusal-codes).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { bodyOf, Trader } from '../common/traders.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const node = await TestNode.start(dataDir, { RESULT_CODES: 'on' });
const alice = await Trader.join(node, 'alice');
const PLACED = ['success', 'errorMsg', 'orderID', 'takingAmount', 'makingAmount', 'status'];
const UNKNOWN = `0x${'ab'.repeat(32)}`;

const codesOf = async (orders: Parameters<typeof bodyOf>[0]) => {
  const reply = await alice.ask(node, 'POST', '/orders', bodyOf(orders));
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as Record<string, unknown>[]).map((result) => {
    assert.deepEqual(Object.keys(result).slice(0, PLACED.length), PLACED);
    return result.code;
  });
};

test('a refused order and a known one have a code, a placed one has none', async () => {
  const terms = { market, side: 'BUY', ticks: 20 } as const;
  const good = alice.sign({ ...terms, shares: 5 });
  const small = alice.sign({ ...terms, shares: 1 });
  assert.deepEqual(await codesOf([good, small]), [undefined, 'SIZE_BELOW_MINIMUM']);
  assert.deepEqual(await codesOf([good]), ['DUPLICATE_ORDER']);
});

test('a cancel has a code where something was not cancelled', async () => {
  const order = alice.sign({ market, side: 'BUY', ticks: 21, shares: 5 });
  assert.deepEqual(await codesOf([order]), [undefined]);
  const cancel = async (...ids: string[]) => {
    const { json } = await alice.ask(node, 'DELETE', '/orders', JSON.stringify(ids));
    return json as { readonly canceled: readonly string[]; readonly code?: string };
  };
  const part = await cancel(order.id, UNKNOWN);
  assert.deepEqual([part.canceled, part.code], [[order.id], 'ORDER_NOT_OPEN']);
  assert.equal((await cancel('no id')).code, 'ORDER_NOT_OPEN');
  const other = alice.sign({ market, side: 'BUY', ticks: 22, shares: 5 });
  assert.deepEqual(await codesOf([other]), [undefined]);
  assert(!('code' in (await cancel(other.id))));
});
