/**
 * RESULT_CODES=on on a whole node: results of refused orders and cancels carry the code of the
 * refusal, all others stay unchanged (docs/protocol.md#refusal-codes).
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { bodyOf, NEG_RISK, NORMAL, type Terms, Trader } from '../common/traders.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const node = await TestNode.start(dataDir, { RESULT_CODES: 'on', LEDGER: 'on', FAUCET: '1000' });
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

async function refusal(terms: Omit<Terms, 'market'>, of = alice) {
  const item = of.sign({ ...terms, market: market! });
  const { json } = await of.ask(node, 'POST', '/order', JSON.stringify(item.item));
  const result = json as Readonly<Record<string, string>>;
  assert.deepEqual(Object.keys(result).slice(0, PLACED.length), PLACED);
  assert.equal(Object.keys(result).at(-1), 'code');
  return result;
}

test('a refusal names the rule of its market', async () => {
  const small = await refusal({ side: 'BUY', ticks: 20, shares: 1 });
  assert.equal(small.detail, 'the market takes orders of 5 shares or more, this one has 1');
  const off = await refusal({ side: 'BUY', ticks: 20.5, shares: 10 });
  assert.equal(off.code, 'TICK_SIZE');
  assert.match(off.detail!, /must be a multiple of 0\.01 between/);
  const dear = { side: 'BUY', ticks: 20, shares: 10, signed: { feeRateBps: '1001' } } as const;
  assert.match((await refusal(dear)).detail!, /from the base fee of the market to 1000$/);
});

test('a client has the detail of a refusal', async () => {
  const wallet = Wallet.fromSeed('result codes');
  const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, { wallet });
  const [tokenId = ''] = market.tokenIds;
  const terms = { tokenId, side: 'BUY', price: '0.2' } as const;
  const { code, detail } = await client.orders.post({ ...terms, size: '1' });
  assert.equal(code, 'SIZE_BELOW_MINIMUM');
  assert.equal(detail, 'the market takes orders of 5 shares or more, this one has 1');
  assert.equal((await client.orders.post({ ...terms, size: '5' })).detail, '');
  client.close();
});

test('a lack of funds names needed, free and reserved amounts, in orders and in answers of the ledger', async () => {
  const bob = await Trader.join(node, 'bob without shares');
  await alice.place(node, { market, side: 'BUY', ticks: 10, shares: 100 });
  const cash = (await alice.ask(node, 'GET', '/ledger/balance')).json as {
    readonly cash: Readonly<Record<'free' | 'reserved', string>>;
  };
  const [free, reserved] = [cash.cash.free, cash.cash.reserved].map((text) => Number(text) / 1e6);
  const wanted = { side: 'BUY', ticks: 99, shares: 100_000 } as const;
  const buy = await refusal(wanted);
  assert.deepEqual(
    [buy.code, buy.needed, buy.free, buy.reserved],
    ['NOT_ENOUGH_BALANCE', '99000', String(free), String(reserved)],
  );
  assert.equal(
    buy.detail,
    `99000 of collateral needed, ${free} free, ${reserved} reserved by open orders`,
  );
  const sell = await refusal({ side: 'SELL', ticks: 50, shares: 5 }, bob);
  assert.deepEqual([sell.needed, sell.free, sell.reserved], ['5', '0', '0']);
  const ask = async (path: string, amount: string) => {
    const id = `${Date.now()}-${path.slice(1)}-${amount}`;
    const body = JSON.stringify({ conditionId: market.conditionId, amount, id });
    const { json, status } = await alice.ask(node, 'POST', path, body);
    assert.equal(status, 400);
    return json as Readonly<Record<string, string>>;
  };
  const split = await ask('/split', '900000000000');
  assert.deepEqual(
    [split.code, split.needed, split.free, split.reserved],
    ['NOT_ENOUGH_BALANCE', '900000', String(free), String(reserved)],
  );
  const merge = await ask('/merge', '1000000');
  assert.deepEqual([merge.needed, merge.free, merge.reserved], ['1', '0', '0']);
});

test('a wrong signature gives its signer, and the chain, contract, type or version that it would fit', async () => {
  const terms = { side: 'BUY', ticks: 30, shares: 5 } as const;
  const fits: readonly (readonly [Partial<Terms>, RegExp])[] = [
    [{ domain: NEG_RISK }, /^the contract of neg-risk markets, 0xef02/],
    [{ domain: { ...NORMAL, chainId: 80_002 } }, /^chain id 80002$/],
  ];
  for (const [change, expected] of fits) {
    const result = await refusal({ ...terms, ...change });
    assert.equal(result.code, 'INVALID_SIGNATURE');
    assert.match(result.fits!, expected);
    assert.match(result.recovered!, /^0x[0-9a-fA-F]{40}$/);
    assert.notEqual(result.recovered, alice.address);
    assert.equal(
      result.detail,
      `as sent the signature is of ${result.recovered}, not of ${alice.address}; it would fit ${result.fits}`,
    );
  }
  const again: readonly (readonly [Partial<Terms>, RegExp])[] = [
    [{ domain: { ...NORMAL, version: '2' } }, /^domain version 2$/],
    [{ sent: { signatureType: 2 } }, /^signatureType 0$/],
  ];
  for (const [change, expected] of again) {
    const first = await refusal({ ...terms, ...change });
    assert.match(first.detail!, /it would not fit .* nor .*; the next refusal tries others$/);
    assert.match((await refusal({ ...terms, ...change })).fits!, expected);
  }
  const maker = await refusal({ ...terms, sent: { maker: NORMAL.verifyingContract } });
  assert.equal(
    maker.detail,
    'with signatureType 0 maker and signer are one wallet, or signer is an agent of it',
  );
  const none = await refusal({ ...terms, sent: { signature: `0x${'00'.repeat(65)}` } });
  assert.equal(none.detail, 'no key makes such a signature: r, s or v is out of range');
});

test('a cancel has a code for each order that was not cancelled', async () => {
  const order = alice.sign({ market, side: 'BUY', ticks: 21, shares: 5 });
  assert.deepEqual(await codesOf([order]), [undefined]);
  const cancel = async (...ids: string[]) => {
    const { json } = await alice.ask(node, 'DELETE', '/orders', JSON.stringify(ids));
    return json as {
      readonly canceled: readonly string[];
      readonly code?: string;
      readonly detail?: string;
    };
  };
  const part = await cancel(order.id, UNKNOWN);
  assert.deepEqual([part.canceled, part.code], [[order.id], 'ORDER_NOT_OPEN']);
  const unknown = await cancel('no id');
  assert.equal(unknown.code, 'ORDER_NOT_OPEN');
  assert.match(unknown.detail!, /^no open order of the caller has this id/);
  const other = alice.sign({ market, side: 'BUY', ticks: 22, shares: 5 });
  assert.deepEqual(await codesOf([other]), [undefined]);
  assert(!('code' in (await cancel(other.id))));
});
