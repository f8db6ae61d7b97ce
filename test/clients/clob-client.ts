/**
 * The npm package @polymarket/clob-client 4.22.8, unmodified, against a whole node: `npm run
 * test:clients` installs it into a temporary directory and calls it as its users do. The settings of
 * the node are those that this client cannot change.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';

const PACKAGE = '@polymarket/clob-client@4.22.8';
/** What the client has built in for chain 137. */
const SETTINGS = {
  CREDENTIAL_PREFIX: 'POLY',
  EIP712_DOMAIN_NAME: 'Polymarket CTF Exchange',
  RESOLVE_CONDITION_ID: 'on',
  EXCHANGE_ADDRESS: '0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E',
  NEG_RISK_EXCHANGE_ADDRESS: '0xC5d563A36AE78145C45a50134d48A1215220f80a',
};
const CHAIN_ID = 137;
const MARKET_AMOUNT = 5;

/** As much of the package as is called here; it is not a dependency of the project. */
interface Client {
  createOrDeriveApiKey(): Promise<{ key: string; secret: string; passphrase: string }>;
  getServerTime(): Promise<number>;
  getOk(): Promise<unknown>;
  getApiKeys(): Promise<unknown>;
  getClosedOnlyMode(): Promise<{ closed_only: boolean }>;
  getOrderBook(token: string): Promise<{ hash: string; asks: readonly { price: string }[] }>;
  getOrderBooks(items: readonly object[]): Promise<readonly { asset_id: string }[]>;
  getOrderBookHash(book: object): string;
  getTickSize(token: string): Promise<string>;
  getNegRisk(token: string): Promise<boolean>;
  getFeeRateBps(token: string): Promise<number>;
  getPrice(token: string, side: string): Promise<{ price: string }>;
  getPrices(items: readonly object[]): Promise<Readonly<Record<string, object>>>;
  getMidpoint(token: string): Promise<{ mid: string }>;
  getMidpoints(items: readonly object[]): Promise<Readonly<Record<string, string>>>;
  getSpread(token: string): Promise<{ spread: string }>;
  getSpreads(items: readonly object[]): Promise<Readonly<Record<string, string>>>;
  getLastTradePrice(token: string): Promise<{ price: string; side: string }>;
  getLastTradesPrices(items: readonly object[]): Promise<readonly { token_id: string }[]>;
  getPricesHistory(terms: object): Promise<{ history: readonly { t: number; p: number }[] }>;
  getBalanceAllowance(terms: object): Promise<{ balance: string }>;
  createOrder(terms: object): Promise<object>;
  postOrder(order: object, type: string): Promise<Result>;
  postOrders(items: readonly object[]): Promise<readonly Result[]>;
  createAndPostMarketOrder(terms: object, options: object, type: string): Promise<Result>;
  calculateMarketPrice(token: string, side: string, amount: number, type: string): Promise<number>;
  getOrder(id: string): Promise<OpenOrder>;
  getOpenOrders(terms?: object): Promise<readonly OpenOrder[]>;
  getTrades(terms?: object): Promise<readonly { id: string; trader_side: string }[]>;
  cancelOrder(payload: { orderID: string }): Promise<Cancelled>;
  cancelOrders(ids: readonly string[]): Promise<Cancelled>;
  cancelMarketOrders(payload: object): Promise<Cancelled>;
  cancelAll(): Promise<Cancelled>;
  deleteApiKey(): Promise<unknown>;
}
interface Result {
  readonly success: boolean;
  readonly errorMsg: string;
  readonly orderID: string;
  readonly status: string;
}
interface OpenOrder {
  readonly id: string;
  readonly status: string;
  readonly size_matched: string;
}
interface Cancelled {
  readonly canceled: readonly string[];
  readonly not_canceled: Readonly<Record<string, string>>;
}
interface Package {
  readonly ClobClient: new (host: string, chain: number, signer: object, creds?: object) => Client;
}

/** Installs the package and loads it the way a script beside it would. */
function install(): { readonly clob: Package; readonly wallet: (key: string) => object } {
  const directory = temporaryDirectory();
  execFileSync('npm', ['install', '--prefix', directory, '--no-audit', '--no-fund', PACKAGE], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const require = createRequire(join(directory, 'index.js'));
  const { Wallet } = require('@ethersproject/wallet') as { Wallet: new (key: string) => object };
  return {
    clob: require('@polymarket/clob-client') as Package,
    wallet: (key) => new Wallet(key),
  };
}

const dataDir = temporaryDirectory();
const [plain, risky] = await withMarkets(dataDir, [{ id: 1 }, { id: 2, negRisk: true }]);
assert(plain && risky);
const node = await TestNode.start(dataDir, SETTINGS);
const { clob, wallet } = install();
const host = `http://127.0.0.1:${node.port}`;
const [token = '', other = ''] = plain.tokenIds;
const [riskyToken = ''] = risky.tokenIds;

/** A client with a wallet and an API key of its own. */
async function joined(digit: string): Promise<Client> {
  const signer = wallet(`0x${digit.repeat(64)}`);
  const creds = await new clob.ClobClient(host, CHAIN_ID, signer).createOrDeriveApiKey();
  assert.match(creds.key, /^[0-9a-f-]{36}$/);
  return new clob.ClobClient(host, CHAIN_ID, signer, creds);
}

const maker = await joined('1');
const taker = await joined('2');

async function rest(tokenID: string, side: string, price: number, size: number): Promise<string> {
  const order = await maker.createOrder({ tokenID, side, price, size });
  const result = await maker.postOrder(order, 'GTC');
  assert.deepEqual([result.errorMsg, result.status], ['', 'live']);
  return result.orderID;
}

test('a key is issued, derived again and listed', async () => {
  assert.deepEqual(await joined('1').then((client) => client.getOk()), 'OK');
  assert(JSON.stringify(await maker.getApiKeys()).length > 36);
  assert.equal((await maker.getClosedOnlyMode()).closed_only, false);
  assert(Math.abs((await maker.getServerTime()) - Date.now() / 1000) < 60);
  assert.match((await maker.getBalanceAllowance({ asset_type: 'COLLATERAL' })).balance, /^\d+$/);
});

test('books, prices, tick size and rules are read before and after trading', async () => {
  await rest(token, 'BUY', 0.4, 20);
  await rest(token, 'SELL', 0.6, 20);
  assert.equal(await maker.getTickSize(token), '0.01');
  assert.equal(await maker.getNegRisk(token), false);
  assert.equal(await maker.getNegRisk(riskyToken), true);
  assert.equal(await maker.getFeeRateBps(token), 0);
  const book = await maker.getOrderBook(token);
  assert.equal(book.asks.at(-1)?.price, '0.6');
  assert.equal(maker.getOrderBookHash({ ...book }), book.hash);
  assert.equal((await maker.getPrice(token, 'BUY')).price, '0.6');
  assert.equal((await maker.getMidpoint(token)).mid, '0.5');
  assert.equal((await maker.getSpread(token)).spread, '0.2');
  const items = [
    { token_id: token, side: 'BUY' },
    { token_id: other, side: 'SELL' },
  ];
  assert.equal((await maker.getOrderBooks(items)).length, 2);
  assert.deepEqual(Object.keys(await maker.getPrices(items)).length, 2);
  assert.equal((await maker.getMidpoints(items))[other], '0.5');
  assert.equal((await maker.getSpreads(items))[token], '0.2');
});

test('GTC and FOK orders are signed, posted, listed and matched, also of a neg-risk market', async () => {
  const price = await taker.calculateMarketPrice(token, 'BUY', MARKET_AMOUNT, 'FOK');
  assert.equal(price, 0.6);
  const terms = { tokenID: token, side: 'BUY', amount: MARKET_AMOUNT, price };
  const bought = await taker.createAndPostMarketOrder(terms, {}, 'FOK');
  assert.deepEqual([bought.errorMsg, bought.status], ['', 'matched']);
  assert.deepEqual(await taker.getLastTradePrice(token), { price: '0.6', side: 'BUY' });
  assert.equal((await taker.getLastTradesPrices([{ token_id: token }]))[0]?.token_id, token);
  const id = await rest(riskyToken, 'BUY', 0.35, 12);
  assert.equal((await maker.getOrder(id)).status.toLowerCase(), 'live');
  const [first, second] = await maker.postOrders([
    {
      order: await maker.createOrder({ tokenID: other, side: 'BUY', price: 0.1, size: 9 }),
      orderType: 'GTC',
    },
    {
      order: await maker.createOrder({ tokenID: other, side: 'BUY', price: 0.2, size: 9 }),
      orderType: 'GTC',
    },
  ]);
  assert(first?.success && second?.success);
  const open = await maker.getOpenOrders();
  assert(open.some((order) => order.id === id));
  assert.equal((await maker.getOpenOrders({ asset_id: other })).length, 2);
  const killed = await taker.createAndPostMarketOrder({ ...terms, amount: 5_000 }, {}, 'FOK');
  assert.equal(killed.success, false);
  assert.match(killed.errorMsg, /fully filled/);
});

test('own trades and the price history show what was matched', async () => {
  await until(async () => (await taker.getTrades()).length > 0);
  const [bought] = await taker.getTrades();
  assert.equal(bought?.trader_side, 'TAKER');
  const [sold] = await maker.getTrades({ asset_id: token });
  assert.equal(sold?.trader_side, 'MAKER');
  const { history } = await taker.getPricesHistory({ market: token, interval: '1h', fidelity: 1 });
  assert.equal(history.at(-1)?.p, 0.6);
});

test('orders are cancelled one, many, of a market and all', async () => {
  const id = await rest(token, 'BUY', 0.11, 10);
  assert.deepEqual((await maker.cancelOrder({ orderID: id })).canceled, [id]);
  const again = await maker.cancelOrder({ orderID: id });
  assert.match(again.not_canceled[id] ?? '', /already canceled or matched/);
  assert.equal((await maker.getOrder(id)).status.toLowerCase(), 'canceled');
  const ids = [await rest(token, 'BUY', 0.12, 10), await rest(token, 'BUY', 0.13, 10)];
  assert.deepEqual((await maker.cancelOrders(ids)).canceled.toSorted(), ids.toSorted());
  const resting = await rest(riskyToken, 'SELL', 0.9, 10);
  const ofMarket = await maker.cancelMarketOrders({ market: risky.conditionId });
  assert(ofMarket.canceled.includes(resting));
  assert((await maker.cancelAll()).canceled.length > 0);
  assert.deepEqual(await maker.getOpenOrders(), []);
});

test('a key that is deleted signs no more', async () => {
  const client = await joined('3');
  await client.deleteApiKey();
  const refused = (await client.getApiKeys()) as { error?: unknown };
  assert(refused.error !== undefined);
});
