/**
 * Bounds of one key on a whole node: rows in the table of accounts, wallets of others, orders, and
 * further keys.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { level1 } from '../../client/credentials.ts';
import { Wallet } from '../../client/wallet.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { walletByEthers } from '../common/ethers.ts';
import {
  get,
  type Reply,
  type Settings,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, CHAIN_ID, seconds, type Terms, Trader } from '../common/traders.ts';

const NO_ROOM = 'could not insert order';
const NOT_YOURS = 'invalid order signature';
const THROTTLED = [429, { error: 'Too Many Requests', code: 'TOO_MANY_REQUESTS' }];

async function openMarket() {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  assert(market);
  const bid = (ticks = 1): Terms => ({ market, side: 'BUY', ticks, shares: 5 });
  const start = (settings: Settings) => TestNode.start(dataDir, settings);
  return { bid, start };
}

function ofWallet(terms: Terms, maker: string, signatureType = 1): Terms {
  return { ...terms, signed: { maker, signatureType } };
}

const invented = (n: number): string => `0x${String(n).padStart(40, '0')}`;

test('a key has at most WALLETS_PER_SIGNER wallets, after any cancels, before and after a restart', async () => {
  const { bid, start } = await openMarket();
  // All of it also says that RATE_LIMITS=off counts neither orders nor keys.
  const uncounted = { RATE_LIMITS: 'off', ORDERS_PER_10S: '1', KEYS_PER_HOUR: '1' };
  let node = await start({ ...uncounted, WALLETS_PER_SIGNER: '3' });
  const mallory = await Trader.join(node, 'mallory');
  const texts = async (numbers: readonly number[]): Promise<string[]> => {
    const orders = numbers.map((n) => mallory.sign(ofWallet(bid(), invented(n))));
    return (await mallory.post(node, orders)).map(({ errorMsg }) => errorMsg);
  };
  assert.deepEqual(await texts([1, 2, 3, 4, 5]), ['', '', '', NO_ROOM, NO_ROOM]);
  await mallory.cancel(node, '/cancel-all');
  assert.deepEqual(await texts([4, 3]), [NO_ROOM, '']);
  await mallory.place(node, bid());
  const alice = await Trader.join(node, 'alice');
  await alice.place(node, ofWallet(bid(), invented(4)));
  await node.stop();
  node = await start({ WALLETS_PER_SIGNER: '4' });
  assert.deepEqual(await texts([2, 5, 6, 4]), ['', '', NO_ROOM, NOT_YOURS]);
  await node.stop();
});

test('with a known factory only its own signer has a wallet, also after a stranger had it', async () => {
  const { bid, start } = await openMarket();
  const factory = PROFILE_TABLE.proxyWalletFactory.polymarket;
  const [address = '', codeHash = ''] = factory.split(':');
  const derived = (trader: Trader) => walletByEthers(address, codeHash, trader.address, true);
  let node = await start({});
  const alice = await Trader.join(node, 'alice');
  const bob = await Trader.join(node, 'bob');
  const mallory = await Trader.join(node, 'mallory');
  // Nothing is known of wallets: who comes first has them.
  const squatted = await mallory.place(node, ofWallet(bid(), derived(alice)));
  assert.equal((await alice.order(node, ofWallet(bid(), derived(alice)))).errorMsg, NOT_YOURS);
  await node.stop();

  const knowing = { PROXY_WALLET_FACTORY: factory };
  node = await start(knowing);
  const refused = await mallory.order(node, ofWallet(bid(), derived(bob)));
  assert.equal(refused.errorMsg, NOT_YOURS, 'before its owner came');
  assert.equal((await bob.order(node, ofWallet(bid(), derived(bob)))).errorMsg, '');
  assert.equal((await mallory.order(node, ofWallet(bid(), derived(alice)))).errorMsg, NOT_YOURS);
  await alice.place(node, ofWallet(bid(), derived(alice)));
  // Of another type nothing is known; a wallet that has come to its owner stays with it.
  const asSafe = ofWallet(bid(), derived(alice), 2);
  assert.equal((await mallory.order(node, asSafe)).errorMsg, NOT_YOURS);
  await node.stop();

  node = await start(knowing);
  await alice.place(node, ofWallet(bid(2), derived(alice)));
  const { canceled } = await mallory.cancel(node, '/cancel-all');
  assert.deepEqual(canceled, [squatted.orderID], 'orders of before are those of who placed them');
  await node.stop();
});

test('a node that counts orders and keys', async (t) => {
  // All keys of an hour but two are issued.
  const { bid, start } = await openMarket();
  const node = await start({ RATE_LIMITS: 'on', ORDERS_PER_10S: '8', KEYS_PER_HOUR: '4' });
  const alice = await Trader.join(node, 'alice');
  const bob = await Trader.join(node, 'bob');

  await t.test(
    'orders of a key are counted one by one, refused whole, and only when they are its own',
    async () => {
      const batch = (trader: Trader, size: number) =>
        Array.from({ length: size }, (_, i) => trader.sign(bid(1 + i)));
      const post = (trader: Trader, size: number, change = {}): Promise<Reply> =>
        trader.postText(node, bodyOf(batch(trader, size)), change);
      const told = ({ json, status }: Reply) => [status, json];

      const started = Date.now();
      // Who knows no more than the names of a key, or only its passphrase, does not count against it.
      for (const change of [
        { SERVICE_PASSPHRASE: 'a'.repeat(64) },
        { SERVICE_SIGNATURE: 'a'.repeat(64) },
      ]) {
        for (let i = 0; i < 3; i++) assert.equal((await post(alice, 5, change)).status, 401);
      }
      assert.equal((await post(alice, 5)).status, 200);
      const over = await post(alice, 4);
      const [single, second] = [alice.sign(bid(7)), alice.sign(bid(8))];
      const one = (order: typeof single) =>
        alice.ask(node, 'POST', '/order', JSON.stringify(order.item));
      const within = await post(alice, 2);
      const last = await one(single);
      const tooMany = await one(second);
      const others = await post(bob, 8);
      if (Date.now() - started > 9_000) return; // a machine this busy has begun another window
      assert.deepEqual(told(over), THROTTLED);
      const wait = Number(over.headers['retry-after']);
      assert(wait >= 1 && wait <= 10, String(wait));
      assert.equal(over.headers['x-ratelimit-limit'], '8');
      assert.equal(over.headers['x-ratelimit-remaining'], '0');
      assert.equal(within.status, 200, 'what was refused is not counted');
      assert.equal(last.status, 200);
      assert.deepEqual(told(tooMany), THROTTLED);
      assert.equal((await alice.ask(node, 'GET', `/data/order/${second.id}`)).status, 404);
      assert.equal(others.status, 200, 'another key has its own');
      const { limits } = (await get(node, '/rate-limits')).json as { limits: { name: string }[] };
      const row = limits.find(({ name }) => name === 'keyOrders');
      assert.deepEqual(
        { ...row, covers: '' },
        {
          name: 'keyOrders',
          covers: '',
          requests: 8,
          seconds: 10,
          applies: true,
          default: { requests: 24_000, seconds: 10 },
        },
      );
    },
  );

  await t.test(
    'an address is issued KEYS_PER_HOUR keys for any wallets; asking for one again is free',
    async () => {
      const ask = (name: string, nonce = '0'): Promise<Reply> => {
        const wallet = Wallet.fromSeed(`hostile keys/${name}`);
        return send(
          node,
          'POST',
          '/auth/api-key',
          level1('SERVICE', wallet, CHAIN_ID, seconds(), nonce),
        );
      };
      assert.equal((await ask('first')).status, 200);
      const forged = level1('SERVICE', Wallet.fromSeed('x'), CHAIN_ID, seconds(), '0');
      for (let i = 0; i < 4; i++) {
        const headers = { ...forged, SERVICE_NONCE: '1' };
        assert.equal((await send(node, 'POST', '/auth/api-key', headers)).status, 401);
        assert.equal((await ask('first')).status, 200, 'the same key again');
      }
      assert.equal((await ask('first', '1')).status, 200);
      for (const refused of [
        await ask('second'),
        await ask('first', '2'),
        await alice.ask(node, 'POST', '/auth/readonly-api-key'),
      ]) {
        assert.deepEqual([refused.status, refused.json], THROTTLED);
        const wait = Number(refused.headers['retry-after']);
        assert(wait > 3_500 && wait <= 3_600, String(wait));
      }
      assert.equal((await ask('first', '1')).status, 200);
    },
  );
  await node.stop();
});
