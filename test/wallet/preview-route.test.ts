/** POST /orders/preview on a whole node (docs/protocol.md#preview-of-an-order). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { readOnly } from '../../client/credentials.ts';
import type { PreviewAnswer, PreviewBody } from '../../client/types.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { depositWalletByEthers } from '../common/ethers.ts';
import { type Reply, send, temporaryDirectory, withMarkets } from '../common/node-harness.ts';

const dataDir = temporaryDirectory();
const [market, quiet] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(market && quiet);
const operator = await OperatorNode.start(dataDir, {
  CLIENT_PROFILE: 'polymarket',
  LEDGER: 'on',
  FAUCET: '1000',
  SELF_TRADE: 'cancel-taker',
  RATE_LIMITS: 'on',
  RATE_LIMITS_OVERRIDES: 'preview=60/3600',
});
const { node } = operator;
const url = `http://127.0.0.1:${node.port}`;
const clients: NodeClient[] = [];
after(() => {
  for (const client of clients) client.close();
});

async function join(name: string, depositWallet?: string): Promise<NodeClient> {
  const options = depositWallet === undefined ? {} : { depositWallet };
  const client = await NodeClient.connect(url, { wallet: Wallet.fromSeed(name), ...options });
  clients.push(client);
  return client;
}

const maker = await join('maker of previews');
const taker = await join('taker of previews');
const nobody = await NodeClient.connect(url);
clients.push(nobody);
const [tokenId = '', opposite = ''] = market.tokenIds;
await maker.orders.post({ tokenId: opposite, side: 'BUY', price: '0.5', size: '20' });
await maker.orders.post({ tokenId: opposite, side: 'BUY', price: '0.4', size: '100' });

const BUY = { tokenId, side: 'BUY', orderType: 'FAK' } as const;

const posted = (body: unknown): Promise<Reply> =>
  send(node, 'POST', '/orders/preview', {}, typeof body === 'string' ? body : JSON.stringify(body));

test('everybody may ask what an amount buys, and is told the order to sign', async () => {
  const seen = await nobody.orders.preview({ ...BUY, amount: '30' });
  assert.deepEqual(
    [seen.wallet, seen.wouldBe, seen.reason, seen.feeIn, seen.fee],
    ['', 'matched', null, 'shares', '0'],
  );
  // 20 at 0.5 and 30 at 0.6: 50 are what 30 surely pays at 0.6.
  assert.deepEqual(
    [seen.filled, seen.cost, seen.averagePrice, seen.worstPrice],
    ['50', '28', '0.56', '0.6'],
  );
  assert.deepEqual(
    [seen.total, seen.payoutIfRight, seen.profitIfRight, seen.lossIfWrong],
    ['28', '50', '22', '28'],
  );
  assert.deepEqual(seen.rest, { size: '0', fate: 'none', price: '', cost: '0' });
  assert.deepEqual(seen.order, {
    tokenId,
    conditionId: market.conditionId,
    negRisk: false,
    side: 'BUY',
    orderType: 'FAK',
    postOnly: false,
    expiration: 0,
    price: '0.6',
    size: '50',
    makerAmount: '30000000',
    takerAmount: '50000000',
    feeRateBps: 0,
  });
  assert.deepEqual(seen.walked, { levels: 2, orders: 2, isWhole: true });
});

test('a preview is counted as of a batch, and changes nothing', async () => {
  const before = await nobody.orders.preview({ ...BUY, size: '10' });
  const again = await nobody.orders.preview({ ...BUY, size: '10' });
  assert.deepEqual(again, before);
  await maker.orders.post({ tokenId, side: 'BUY', price: '0.1', size: '5' });
  const later = await nobody.orders.preview({ ...BUY, size: '10' });
  assert(Number(later.sequence) > Number(before.sequence));
  assert.deepEqual({ ...later, sequence: '' }, { ...before, sequence: '' });
  const headers = { 'X-Min-Sequence': later.sequence };
  const waited = await send(
    node,
    'POST',
    '/orders/preview',
    headers,
    JSON.stringify({ ...BUY, size: '10' }),
  );
  assert.deepEqual(waited.json, later);
});

test('what a limit order does not fill rests at its price, and what FAK does not fill ends', async () => {
  const limit = { ...BUY, orderType: 'GTC', price: '0.55', size: '30' } as const;
  const seen = await taker.orders.preview(limit);
  assert.deepEqual([seen.wouldBe, seen.filled, seen.cost], ['matched', '20', '10']);
  assert.deepEqual(seen.rest, { size: '10', fate: 'rests', price: '0.55', cost: '5.5' });
  assert.deepEqual(seen.ifAllFills, {
    total: '15.5',
    payoutIfRight: '30',
    profitIfRight: '14.5',
    lossIfWrong: '15.5',
  });
  const killed = await taker.orders.preview({ ...limit, orderType: 'FAK' });
  assert.deepEqual(killed.rest, { size: '10', fate: 'ends', price: '', cost: '0' });
  assert.equal((await taker.orders.preview({ ...limit, price: '0.3' })).wouldBe, 'live');
});

test('a sale is right where its outcome does not come', async () => {
  await maker.orders.post({ tokenId: quiet.tokenIds[0]!, side: 'BUY', price: '0.25', size: '40' });
  const sale = {
    tokenId: quiet.tokenIds[0]!,
    side: 'SELL',
    orderType: 'FOK',
    amount: '5',
  } as const;
  const seen = await nobody.orders.preview(sale);
  assert.deepEqual([seen.shares, seen.cost, seen.total], ['20', '5', '5']);
  assert.deepEqual([seen.payoutIfRight, seen.profitIfRight, seen.lossIfWrong], ['5', '5', '15']);
});

test('each refusal has the code of the node and words for a person', async () => {
  const cases: readonly (readonly [PreviewBody, string, string, RegExp])[] = [
    [{ ...BUY, size: '1' }, 'refused', 'SIZE_BELOW_MINIMUM', /smallest order here is 5 shares/],
    [
      { ...BUY, size: '6000', price: '0.6' },
      'refused',
      'NOT_ENOUGH_BALANCE',
      /need 3600 and have 1000 free/,
    ],
    [
      { ...BUY, side: 'SELL', size: '5' },
      'refused',
      'NOT_ENOUGH_BALANCE',
      /need 5 shares and have 0 free/,
    ],
    [
      { ...BUY, orderType: 'GTC', size: '5', price: '0.555' },
      'refused',
      'TICK_SIZE',
      /multiples of 0.01/,
    ],
    [{ ...BUY, orderType: 'FOK', size: '500' }, 'unmatched', 'FOK_NOT_FILLED', /Only 120 of 500/],
    [{ ...BUY, size: '5', price: '0.2' }, 'unmatched', 'FAK_NOT_FILLED', /Nobody sells/],
    [{ ...BUY, size: '5', postOnly: true }, 'refused', 'POST_ONLY_TYPE', /cannot be post-only/],
    [
      { ...BUY, orderType: 'GTC', size: '5', price: '0.5', postOnly: true },
      'refused',
      'POST_ONLY_CROSSES',
      /a lower price/,
    ],
    [
      { ...BUY, orderType: 'GTD', size: '5', price: '0.2', expiration: 1 },
      'refused',
      'EXPIRATION_PAST',
      /later one/,
    ],
    [{ ...BUY, amount: '0' }, 'refused', 'AMOUNT_NOT_POSITIVE', /too small/],
    [{ ...BUY, size: '9999999999' }, 'refused', 'SIZE_ABOVE_MAXIMUM', /larger than any/],
  ];
  for (const [terms, wouldBe, code, words] of cases) {
    const seen = await taker.orders.preview(terms);
    assert.deepEqual([seen.wouldBe, seen.reason?.code], [wouldBe, code], JSON.stringify(terms));
    assert.match(seen.reason!.words, words);
    if (code === 'SIZE_ABOVE_MAXIMUM' || code === 'AMOUNT_NOT_POSITIVE' || seen.order === null)
      continue;
    const placed = await taker.orders.postPreviewed(seen);
    assert.equal(placed.status, 'refused');
    if (placed.code !== 'EXPIRATION_INVALID')
      assert.equal(placed.code, code, JSON.stringify(terms));
  }
  const own = await maker.orders.preview({ ...BUY, size: '5' });
  assert.deepEqual([own.wouldBe, own.reason?.code], ['refused', 'SELF_TRADE']);
  await operator.done('POST /admin/markets/halt', { condition: quiet.conditionId });
  const halted = await nobody.orders.preview({ ...BUY, tokenId: quiet.tokenIds[0]!, size: '5' });
  assert.deepEqual([halted.wouldBe, halted.reason?.code], ['refused', 'MARKET_HALTED']);
});

test('an order that would wait for a taker delay is foreseen as delayed', async () => {
  const made = await operator.done('POST /admin/markets', {
    question: 'Delayed?',
    outcomes: ['Yes', 'No'],
    takerDelay: 3_600,
  });
  const [slow = ''] = made.tokens as string[];
  await maker.ledger.split(String(made.condition), '20');
  const offer = { tokenId: slow, side: 'SELL', price: '0.5', size: '20' } as const;
  assert.equal((await maker.orders.post(offer)).status, 'live');
  const seen = await taker.orders.preview({ ...BUY, tokenId: slow, size: '10' });
  assert.deepEqual([seen.wouldBe, seen.filled, seen.cost], ['delayed', '10', '5']);
  assert.equal((await taker.orders.postPreviewed(seen)).status, 'delayed');
  await taker.orders.cancelAll();
});

test('the balance is that of the deposit wallet for signature type 3', async () => {
  const wallet = Wallet.fromSeed('owner of previews');
  const { wallet: deposit } = depositWalletByEthers(
    PROFILE_TABLE.beaconWalletFactory.polymarket,
    wallet.address,
  );
  const owner = await join('owner of previews', deposit);
  const poor = await owner.orders.preview({ ...BUY, amount: '5' });
  assert.deepEqual(
    [poor.wallet, poor.reason?.code, poor.reason?.free],
    [deposit, 'NOT_ENOUGH_BALANCE', '0'],
  );
  await operator.done('POST /admin/ledger/deposit', {
    wallet: deposit,
    amount: '5',
    id: 'preview',
  });
  const rich = await owner.orders.preview({ ...BUY, amount: '5' });
  assert.deepEqual([rich.wallet, rich.wouldBe, rich.filled], [deposit, 'matched', '10']);
  const plain = await owner.orders.preview({ ...BUY, amount: '5', signatureType: 0 });
  assert.equal(plain.wallet, wallet.address);
  await operator.done('POST /admin/bans', { wallet: deposit, reason: 'test' });
  const banned = await owner.orders.preview({ ...BUY, amount: '5' });
  assert.deepEqual([banned.wouldBe, banned.reason?.code], ['refused', 'ADDRESS_BANNED']);
});

test('a read-only key is enough, and wrong credentials are refused', async () => {
  const key = await taker.keys.createReadOnly();
  const body = JSON.stringify({ ...BUY, size: '5' });
  const address = Wallet.fromSeed('taker of previews').address;
  const headers = readOnly(taker.info.credential_prefix, address, key);
  const read = await send(node, 'POST', '/orders/preview', headers, body);
  assert.equal(read.status, 200, read.text);
  assert.equal((read.json as PreviewAnswer).wallet, address);
  const wrong = await send(
    node,
    'POST',
    '/orders/preview',
    { ...headers, [Object.keys(headers)[0]!]: 'x' },
    body,
  );
  assert.equal(wrong.status, 401);
});

test('bad input names its member and rule', async () => {
  const cases: readonly (readonly [unknown, number, string])[] = [
    ['[]', 400, 'invalid body'],
    [{ ...BUY }, 400, 'invalid_field: amount'],
    [{ ...BUY, amount: '1', size: '1' }, 400, 'invalid_field: amount'],
    [{ ...BUY, orderType: 'GTC', size: '1' }, 400, 'invalid_field: price'],
    [{ ...BUY, size: '1e3' }, 400, 'invalid_field: size'],
    [{ ...BUY, size: 5 }, 400, 'invalid_field: size'],
    [{ ...BUY, side: 'buy', size: '5' }, 400, 'invalid_field: side'],
    [{ ...BUY, size: '5', price: '2' }, 400, 'invalid_field: price'],
    [{ ...BUY, tokenId: '7', size: '5' }, 404, 'No orderbook exists for the requested token id'],
  ];
  for (const [body, status, error] of cases) {
    const reply = await posted(body);
    assert.deepEqual([reply.status, (reply.json as { error: string }).error], [status, error]);
  }
});

test('requests beyond the row are refused with Retry-After', async () => {
  const statuses = new Set<number>();
  for (let i = 0; i < 61; i++) {
    const reply = await posted({ ...BUY, size: '5' });
    statuses.add(reply.status);
    if (reply.status === 429) assert.notEqual(reply.headers['retry-after'], undefined);
  }
  assert(statuses.has(429));
});
