/** Bots beside a change of ORDER_VERSION, and their first market of version 3. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { signingDomainOf } from '../../client/exchange.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { walletByEthers } from '../common/ethers.ts';
import {
  type MarketTerms,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';

const dataDir = temporaryDirectory();
const OLD: readonly MarketTerms[] = [{ id: 1 }, { id: 2, negRisk: true }];
const POSITIONS: readonly MarketTerms[] = [
  { id: 3, hasPositions: true },
  { id: 4, hasPositions: true, negRisk: true },
];
const old = await withMarkets(dataDir, OLD);
const positions = await withMarkets(temporaryDirectory(), POSITIONS);
const [position = ''] = positions[0]!.tokenIds;
const settings = { CLIENT_PROFILE: 'polymarket', RESULT_CODES: 'on' };
let node = await TestNode.start(dataDir, { ...settings, ORDER_VERSION: '1' });
const wallet = Wallet.fromSeed('a bot that runs for long');
const clients: NodeClient[] = [];
after(() => {
  for (const client of clients) client.close();
});

async function connect(of = wallet): Promise<NodeClient> {
  const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, { wallet: of });
  clients.push(client);
  return client;
}

const bot = await connect();
const signing = signingDomainOf(bot.info);
const terms = (tokenId: string) => ({ tokenId, side: 'BUY', price: '0.3', size: '10' }) as const;
const ZERO = `0x${'0'.repeat(64)}`;

/** Result of an order with these members, signed in any domain. */
async function send(
  tokenId: string,
  domain: Parameters<Wallet['signOrder']>[0],
  change: Readonly<Record<string, unknown>> = {},
) {
  const order = {
    salt: String(Math.floor(Math.random() * 2 ** 50)),
    maker: wallet.address,
    signer: wallet.address,
    tokenId,
    makerAmount: '3000000',
    takerAmount: '10000000',
    side: 0 as const,
    signatureType: 0,
    timestamp: String(Date.now()),
    metadata: ZERO,
    builder: ZERO,
    ...change,
  };
  const { digest, signature } = wallet.signOrder(domain, order);
  const sent = { ...order, side: 'BUY', expiration: '0', signature };
  const { apiKey: owner } = await bot.keys.derive(wallet);
  const item = JSON.stringify({ order: sent, orderType: 'GTC', owner, deferExec: false });
  return bot.orders.send({ id: digest, item });
}

test('a running bot trades its first market of version 3, which a running node takes in', async () => {
  for (const { tokenIds } of old) {
    const placed = await bot.orders.post(terms(tokenIds[0]!));
    assert.equal(placed.status, 'live', placed.reason);
  }
  await withMarkets(dataDir, [...OLD, ...POSITIONS]);
  const other = await connect(Wallet.fromSeed('the other side of the bot'));
  for (const { tokenIds } of positions) {
    const [yes = '', no = ''] = tokenIds;
    const isServed = async () => (await bot.marketData.book(yes)) !== undefined;
    await until(() => isServed().catch(() => false));
    const placed = await bot.orders.post(terms(yes));
    assert.equal(placed.status, 'live', `${placed.reason} ${placed.detail}`);
    assert.equal((await bot.orders.get(placed.id))?.asset_id, yes);
    const taken = await other.orders.post({ ...terms(no), price: '0.7' });
    assert.equal(taken.status, 'matched', taken.reason);
  }
  assert.deepEqual(await bot.call('GET /version', {}), { version: 1 });
});

test('the contract of version 3 counts for both kinds of markets, and no other one', async () => {
  const third = signing.position!;
  const second = {
    ...third,
    version: '2',
    verifyingContract: '0xE111180000d2663C0091e4f400237545B87B996B',
  };
  for (const { tokenIds } of positions) {
    const [tokenId = ''] = tokenIds;
    const taken = await send(tokenId, third);
    assert.equal(taken.status, 'live', `${taken.reason} ${taken.detail}`);
    const refused = await send(tokenId, second);
    assert.equal(refused.code, 'INVALID_SIGNATURE');
    if (tokenId === position)
      assert.match(refused.detail, /would fit domain version 2 at 0xE11118/);
  }
});

test('proxy wallets and safes sign version 3 too, and their signer alone', async () => {
  const rows = [PROFILE_TABLE.proxyWalletFactory, PROFILE_TABLE.safeWalletFactory];
  for (const [i, { polymarket }] of rows.entries()) {
    const [factory = '', code = ''] = polymarket.split(':');
    const maker = walletByEthers(factory, code, wallet.address, i === 0);
    const change = { maker, signatureType: i + 1 };
    const placed = await send(position, signing.position!, change);
    assert.equal(placed.status, 'live', `${placed.reason} ${placed.detail}`);
    assert.equal((await bot.orders.get(placed.id))?.maker_address, maker);
    const foreign = await send(position, signing.position!, {
      maker: `0x${'12'.repeat(20)}`,
      signatureType: i + 1,
    });
    assert.equal(foreign.code, 'INVALID_SIGNATURE');
  }
});

test('with the fields of version 1 an order of a position is a version mismatch', async () => {
  const { item } = await bot.orders.sign(terms(old[0]!.tokenIds[0]!));
  const sent = JSON.parse(item) as { readonly order: object };
  const ofPosition = JSON.stringify({ ...sent, order: { ...sent.order, tokenId: position } });
  const sending = bot.orders.send({ id: ZERO, item: ofPosition });
  await assert.rejects(sending, /order_version_mismatch.*sign it in version 3/s);
});

test('when the node takes version 2 alone, orders of version 1 are told so, and positions are as before', async () => {
  const [usual = ''] = old[0]!.tokenIds;
  const [first, third] = [
    await bot.orders.sign(terms(usual)),
    await bot.orders.sign({ ...terms(position), price: '0.1' }),
  ];
  await node.stop();
  node = await TestNode.start(dataDir, { ...settings, ORDER_VERSION: '2' });
  const again = await connect();
  await assert.rejects(again.orders.send(first), /order_version_mismatch/);
  assert.equal((await again.orders.send(third)).status, 'live');
  assert.deepEqual(await again.call('GET /version', {}), { version: 2 });
  assert.equal((await again.orders.post({ ...terms(usual), price: '0.1' })).status, 'live');
  assert.equal((await again.orders.post({ ...terms(position), price: '0.2' })).status, 'live');
});
