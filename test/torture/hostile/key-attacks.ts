/**
 * Attacks by callers with an API key, or who request one: a key costs a wallet, and a wallet costs
 * nothing.
 */
import { randomBytes } from 'node:crypto';
import { level1, level2 } from '../../../client/credentials.ts';
import { Wallet } from '../../../client/wallet.ts';
import type { CatalogMarket } from '../../../storage/catalog/catalog-file.ts';
import {
  bodyOf,
  CHAIN_ID,
  NORMAL,
  type Signed,
  seconds,
  type Terms,
  Trader,
} from '../../common/traders.ts';
import type { Attack, Target } from './attack.ts';
import { type Asked, agentOf, ask, askOn } from './raw.ts';

const MIB = 2 ** 20;
const BATCH = 500;
const PREFIX = 'SERVICE';
/** Requests of one address, by the cap of the trading API. */
const REQUESTS_PER_SECOND = 500;
const SHARES = 5;
/** A hundred keys of an address in an hour, and others that came meanwhile. */
const KEYS_MAX = 110;
const WALLETS_MAX = 1_010;
/** Number of keys that the bound of each wallet does not slow down. */
const WRONG_KEYS = 40;

const joined = (target: Target, name: string): Promise<Trader> =>
  Trader.join(target, `hostile/${target.seed}/${name}`, undefined, agentOf(target));

function signed(trader: Trader, method: string, path: string, body = '', query = ''): Asked {
  const headers = level2(PREFIX, trader.address, trader.trio, method, path, body, seconds());
  return { method, path: `${path}${query}`, headers, body };
}

const posted = (trader: Trader, orders: readonly Signed[]): Asked =>
  signed(trader, 'POST', '/orders', bodyOf(orders));

function batchOf(trader: Trader, count: number, terms: (i: number) => Terms): Signed[] {
  return Array.from({ length: count }, (_, i) => trader.sign(terms(i)));
}

const atMarket = ({ markets }: Target, i = 0): CatalogMarket => markets[i % markets.length]!;

/**
 * For each reason that leaves nothing behind, a batch that is refused completely and can be
 * repeated.
 */
function refusedBatches(target: Target, trader: Trader): readonly Asked[] {
  const market = atMarket(target);
  const base: Terms = { market, side: 'BUY', ticks: 1, shares: SHARES };
  const changed: readonly Partial<Terms>[] = [
    { sent: { signature: `0x${'11'.repeat(64)}1b` } },
    { shares: 1 },
    { ticks: 0 },
    { sent: { conditionId: `0x${'22'.repeat(32)}` } },
    { sent: { tokenId: '1' } },
    { sent: { signer: `0x${'33'.repeat(20)}` } },
    { type: 'GTD' },
    { type: 'FOK', postOnly: true },
    { signed: { feeRateBps: '5000' } },
    { signed: { taker: `0x${'44'.repeat(20)}` } },
  ];
  return changed.map((change) => {
    const one = trader.sign({ ...base, ...change });
    return posted(
      trader,
      Array.from({ length: BATCH }, () => one),
    );
  });
}

export const KEY_ATTACKS = {
  'false-keys': {
    does: 'orders of a mebibyte under credentials that nobody issued: four hashes over each body',
    bound: 'work before credentials are known',
    async run(target) {
      const body = `[${' '.repeat(MIB - 2)}]`;
      const headers = {
        [`${PREFIX}_ADDRESS`]: `0x${'12'.repeat(20)}`,
        [`${PREFIX}_API_KEY`]: '00000000-0000-4000-8000-000000000000',
        [`${PREFIX}_PASSPHRASE`]: '0'.repeat(64),
        [`${PREFIX}_SIGNATURE`]: '0'.repeat(64),
      };
      await askOn(target, (i) => ({
        method: 'POST',
        // The signature may be of the path with or without its base, and with or without the query.
        path: i % 2 === 0 ? '/clob/orders?a=1' : '/clob/order?a=1',
        headers: { ...headers, [`${PREFIX}_TIMESTAMP`]: seconds() },
        body,
      }));
    },
  },
  'false-signatures': {
    does: 'the same under a key of its own, whose signatures are wrong',
    bound: 'work before credentials are known',
    async run(target) {
      const trader = await joined(target, 'signatures');
      const body = `[${' '.repeat(MIB - 2)}]`;
      await askOn(target, () => ({
        ...signed(trader, 'POST', '/clob/orders', '[]', '?a=1'),
        body,
      }));
    },
  },
  'new-keys': {
    does: 'an API key for each of as many new wallets as can be signed for',
    bound: 'keys of one address',
    isShort: true,
    servedMax: KEYS_MAX,
    async run(target) {
      await askOn(target, () => {
        const headers = level1(PREFIX, Wallet.random(), CHAIN_ID, seconds(), '0');
        return { method: 'POST', path: '/auth/api-key', headers };
      });
    },
  },
  'false-wallets': {
    does: 'requests for keys with signatures of somebody else: each recovered, each refused',
    bound: 'work before credentials are known',
    async run(target) {
      const headers = level1(PREFIX, Wallet.random(), CHAIN_ID, seconds(), '0');
      const address = Wallet.random().address;
      await askOn(target, () => ({
        method: 'POST',
        path: '/auth/api-key',
        headers: { ...headers, [`${PREFIX}_ADDRESS`]: address },
      }));
    },
  },
  'refused-batches': {
    does: 'batches of 500 orders that are refused, for each reason in turn',
    bound: 'orders of one key',
    async run(target) {
      const trader = await joined(target, 'refused');
      const batches = refusedBatches(target, trader);
      await askOn(target, (i) => batches[i % batches.length]!, { lines: 4 });
    },
  },
  'wrong-signatures': {
    does: 'orders whose signatures would fit something else, of many keys, singly and in a long batch',
    bound: 'explanations of wrong signatures',
    isShort: true,
    recoveriesPerSecond: 40,
    async run(target) {
      const traders: Trader[] = [];
      for (let i = 0; i < WRONG_KEYS && target.goesOn; i++) {
        traders.push(await joined(target, `wrong ${i}`));
      }
      const domain = { ...NORMAL, chainId: 5 };
      const asked = traders.map((trader, i) => {
        const terms: Terms = { market: atMarket(target), side: 'BUY', ticks: 1, shares: SHARES };
        const wrong = trader.sign({ ...terms, domain });
        return posted(
          trader,
          Array.from({ length: i === 0 ? BATCH : 1 }, () => wrong),
        );
      });
      await askOn(target, (i) => asked[i % asked.length]!, { lines: 4 });
    },
  },
  'unfilled-orders': {
    does: 'FOK and FAK orders that find nobody, in batches',
    bound: 'orders of one key',
    async run(target) {
      const trader = await joined(target, 'unfilled');
      await askOn(
        target,
        () =>
          posted(
            trader,
            batchOf(trader, 50, (i) => ({
              market: atMarket(target, i),
              side: 'BUY',
              ticks: 1,
              shares: SHARES,
              type: i % 2 === 0 ? 'FOK' : 'FAK',
            })),
          ),
        { lines: 2 },
      );
    },
  },
  'place-and-cancel': {
    does: 'single orders that are placed and cancelled at once, at the published caps',
    bound: 'orders of one key',
    async run(target) {
      const trader = await joined(target, 'churn');
      const line = async (n: number): Promise<void> => {
        while (target.goesOn) {
          const terms: Terms = {
            market: atMarket(target, n),
            side: 'BUY',
            ticks: 2,
            shares: SHARES,
          };
          const order = trader.sign(terms);
          await ask(target, signed(trader, 'POST', '/order', JSON.stringify(order.item)));
          const orderID = order.id;
          await ask(target, signed(trader, 'DELETE', '/order', JSON.stringify({ orderID })));
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, n) => line(n)));
    },
  },
  'invented-wallets': {
    does: 'orders of one key for made-up proxy wallets, each of which would be a new account',
    bound: 'wallets of one key',
    isShort: true,
    accountsMax: WALLETS_MAX,
    async run(target) {
      const trader = await joined(target, 'wallets');
      await askOn(
        target,
        () => {
          const orders = batchOf(trader, 50, (i) => ({
            market: atMarket(target, i),
            side: 'BUY',
            ticks: 1,
            shares: SHARES,
            signed: { maker: `0x${randomBytes(20).toString('hex')}`, signatureType: 1 },
          }));
          return posted(trader, orders);
        },
        { lines: 2 },
      );
    },
  },
  'every-level': {
    does: 'orders that rest at every price of many books',
    bound: 'open orders of one key',
    async run(target) {
      const trader = await joined(target, 'levels');
      await askOn(
        target,
        (n) =>
          posted(
            trader,
            batchOf(trader, 49, (i) => ({
              market: atMarket(target, n),
              side: 'BUY',
              ticks: 1 + i,
              shares: SHARES,
            })),
          ),
        { lines: 2 },
      );
    },
  },
  'cancel-all': {
    does: 'cancel-all and cancel-market-orders in loops, with orders to cancel and without',
    bound: 'cancels of one key',
    async run(target) {
      const trader = await joined(target, 'sweeps');
      await askOn(target, (i) => {
        const market = atMarket(target, i).conditionId;
        if (i % 20 === 0) {
          const terms: Terms = {
            market: atMarket(target, i),
            side: 'BUY',
            ticks: 1,
            shares: SHARES,
          };
          return posted(
            trader,
            batchOf(trader, 20, () => terms),
          );
        }
        return i % 2 === 0
          ? signed(trader, 'DELETE', '/cancel-all')
          : signed(trader, 'DELETE', '/cancel-market-orders', JSON.stringify({ market }));
      });
    },
  },
  'closed-ids': {
    does: "cancels of a thousand ids that are nobody's, and orders that have ended, again",
    bound: 'cancels of one key',
    async run(target) {
      const trader = await joined(target, 'closed');
      const terms: Terms = { market: atMarket(target), side: 'BUY', ticks: 1, shares: SHARES };
      const ended = batchOf(trader, 50, () => ({ ...terms, type: 'FOK' }));
      await ask(target, posted(trader, ended));
      await askOn(target, (i) => {
        if (i % 2 === 0) return posted(trader, ended);
        const ids = Array.from({ length: 1_000 }, () => `0x${randomBytes(32).toString('hex')}`);
        return signed(trader, 'DELETE', '/orders', JSON.stringify(ids));
      });
    },
  },
  heartbeats: {
    does: 'heartbeats of one key as fast as they are answered',
    bound: 'requests of one address',
    async run(target) {
      const trader = await joined(target, 'heartbeats');
      await askOn(target, () => signed(trader, 'POST', '/heartbeats'), {
        lines: 16,
        perSecond: REQUESTS_PER_SECOND,
      });
    },
  },
  'own-reads': {
    does: 'own orders, by page and by id, and own trades, of a key with many, at the published caps',
    bound: 'length of a page',
    async run(target) {
      const trader = await joined(target, 'reads');
      const resting = batchOf(trader, BATCH, (i) => ({
        market: atMarket(target, i),
        side: 'BUY',
        ticks: 1,
        shares: SHARES,
      }));
      await ask(target, posted(trader, resting));
      const maker = `?maker_address=${trader.address}`;
      const reads = [
        () => signed(trader, 'GET', '/data/orders'),
        () => signed(trader, 'GET', '/data/trades', '', maker),
        () => signed(trader, 'GET', `/data/order/${resting[0]!.id}`),
        () => signed(trader, 'GET', `/data/order/0x${randomBytes(32).toString('hex')}`),
      ];
      await askOn(target, (i) => reads[i % reads.length]!(), { perSecond: REQUESTS_PER_SECOND });
    },
  },
} as const satisfies Readonly<Record<string, Attack>>;
