/**
 * Answers of the default profile, byte for byte as recorded: changes for other clients must not
 * reach nodes without a profile. RECORD_ANSWERS=1 writes the file anew, to be read as a diff.
 *
 * Keys, wallets and orders are equal in every run; only bytes of the clock, and hashes over them,
 * are masked.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { level1 } from '../../client/credentials.ts';
import {
  type Reply,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { CHAIN_ID, type Signed, seconds, type Terms, Trader } from '../common/traders.ts';

const FILE = join(ROOT, 'test/routes/recorded-answers.txt');
const KEY_BYTES = 32;
/** Characters of a request's body that the file shows. */
const BODY_SHOWN = 60;

const dataDir = temporaryDirectory();
writeFileSync(join(dataDir, 'node.key'), Buffer.alloc(KEY_BYTES, 7), { mode: 0o600 });
const [plain, risky, empty] = await withMarkets(
  dataDir,
  [{ id: 1 }, { id: 2, negRisk: true }, { id: 3, tick: 0.001 }],
  {
    tags: [{ id: '1', label: 'Tag', slug: 'tag' }],
    series: [{ id: '1', slug: 'series', title: 'Series' }],
  },
);
assert(plain && risky && empty);
// Its heartbeat is followed by no other, and a slow machine takes long for the requests behind it.
const node = await TestNode.start(dataDir, { HEARTBEAT_SECONDS: '3600' });
const [alice, bob] = [await Trader.join(node, 'alice'), await Trader.join(node, 'bob')];
const [token = '', other = ''] = plain.tokenIds;
const [untraded = ''] = empty.tokenIds;

let salt = 0;
/** Signs like Trader.sign, with a salt that is equal in every run. */
function signed(trader: Trader, terms: Terms): Signed {
  salt += 1;
  return trader.sign({ ...terms, signed: { salt: String(salt), ...terms.signed } });
}

type Ask = readonly [who: Trader | undefined, method: string, path: string, body?: unknown];

const buy = (ticks: number, shares: number): Terms => ({
  market: plain,
  side: 'BUY',
  ticks,
  shares,
});
const sell = (ticks: number, shares: number): Terms => ({ ...buy(ticks, shares), side: 'SELL' });
const resting = signed(alice, buy(40, 20));
const crossed = signed(alice, sell(60, 20));
const orders: readonly Ask[] = [
  [alice, 'POST', '/order', resting.item],
  [alice, 'POST', '/orders', [crossed, signed(alice, buy(30, 7))].map(({ item }) => item)],
  [alice, 'POST', '/order', resting.item],
  [bob, 'POST', '/order', signed(bob, { ...buy(60, 5), type: 'FOK' }).item],
  [
    bob,
    'POST',
    '/orders',
    [
      signed(bob, { ...buy(70, 50), type: 'FOK' }),
      signed(bob, { ...buy(50, 10), type: 'FAK' }),
      signed(bob, { ...buy(70, 10), postOnly: true }),
      signed(bob, { ...sell(30, 10), postOnly: true }),
      signed(bob, { ...buy(10, 1) }),
      signed(bob, { ...buy(10, 9), owner: alice.trio.apiKey }),
      signed(bob, { ...buy(10, 9), sent: { tokenId: '77' } }),
      signed(bob, { ...buy(10, 9), sent: { conditionId: 'none' } }),
      signed(bob, { ...buy(10, 9), sent: { salt: '999' } }),
      signed(bob, { market: risky, side: 'SELL', ticks: 90, shares: 8 }),
    ].map(({ item }) => item),
  ],
  [bob, 'POST', '/orders', [signed(bob, { ...buy(10, 9), sent: { conditionId: undefined } }).item]],
  [bob, 'POST', '/order', { order: {} }],
  [bob, 'POST', '/orders', []],
  [undefined, 'POST', '/orders', []],
];

const both = [{ token_id: token }, { token_id: other, side: 'BUY' }, { token_id: '5' }];
const ofToken = [
  'book',
  'midpoint',
  'spread',
  'last-trade-price',
  'tick-size',
  'neg-risk',
  'fee-rate',
];
const reads: readonly Ask[] = [
  ...['/', '/ok', '/time', '/status', '/exchange-info', '/rate-limits', '/nothing'].map(
    (path): Ask => [undefined, 'GET', path],
  ),
  ...ofToken.flatMap((name) => [
    ...[token, untraded, '5'].map((id): Ask => [undefined, 'GET', `/${name}?token_id=${id}`]),
    [undefined, 'GET', `/${name}/${other}`] as const,
    [undefined, 'GET', `/${name}`] as const,
  ]),
  ...['BUY', 'SELL', 'buy', ''].map(
    (side): Ask => [undefined, 'GET', `/price?token_id=${token}&side=${side}`],
  ),
  [undefined, 'GET', `/price?token_id=${untraded}&side=BUY`],
  ...['books', 'prices', 'midpoints', 'spreads', 'last-trades-prices'].flatMap((name) => [
    [undefined, 'POST', `/${name}`, both] as const,
    [undefined, 'POST', `/${name}`, [{ token_id: 5 }]] as const,
  ]),
  [undefined, 'GET', `/prices-history?market=${untraded}&interval=1h`],
  [undefined, 'GET', '/prices-history'],
  [undefined, 'POST', '/data/volumes', { conditions: [{ condition_id: 'none' }] }],
  ...['', '?takerOnly=false', '?limit=x', '?start=5', '?asset_id=5', '?user=0x1'].map(
    (query): Ask => [undefined, 'GET', `/trades${query}`],
  ),
];

const catalog: readonly Ask[] = [
  '/markets?order=id&limit=2',
  '/markets?next_cursor=MA%3D%3D&limit=1',
  '/markets/3',
  `/markets/${plain.conditionId}`,
  '/markets/0x1',
  '/markets/slug/market-2',
  '/markets/slug/none',
  '/markets?limit=0',
  '/events?limit=2',
  '/events/1',
  '/events/x',
  '/events/slug/event-2',
  '/series',
  '/tags',
  '/tags/1',
  '/tags/slug/tag',
  '/public-search?q=question&limit_per_type=1',
  '/public-search',
  '/sampling-markets',
  '/sampling-simplified-markets',
  '/sampling-markets?next_cursor=x',
].map((path): Ask => [undefined, 'GET', path]);

const own: readonly Ask[] = [
  [alice, 'GET', '/auth/api-keys'],
  [alice, 'GET', '/auth/ban-status/closed-only'],
  [alice, 'GET', '/auth/readonly-api-keys'],
  [undefined, 'GET', '/auth/api-keys'],
  [alice, 'GET', `/data/order/${crossed.id}`],
  [alice, 'GET', `/data/order/${resting.id}`],
  [bob, 'GET', `/data/order/${resting.id}`],
  [alice, 'GET', '/data/orders'],
  [undefined, 'GET', '/data/orders'],
  [alice, 'GET', '/data/trades'],
  [bob, 'GET', '/data/trades'],
  [undefined, 'GET', '/data/trades'],
  [alice, 'GET', '/balance-allowance?asset_type=COLLATERAL'],
  [alice, 'GET', '/balance-allowance'],
  [alice, 'POST', '/heartbeats'],
  [bob, 'DELETE', '/order', { orderID: resting.id }],
  [alice, 'DELETE', '/orders', [resting.id, 'x']],
  [alice, 'GET', `/data/order/${resting.id}`],
  [alice, 'DELETE', '/cancel-market-orders', { market: plain.conditionId }],
  [bob, 'DELETE', '/cancel-all'],
  [alice, 'GET', '/data/orders'],
];

async function answerTo([who, method, path, body]: Ask): Promise<string> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const [plainPath = '', query] = path.split('?');
  const reply: Reply =
    who === undefined
      ? await send(node, method, path, {}, text)
      : await who.call(node, method, plainPath, query === undefined ? '' : `?${query}`, text);
  const type = String(reply.headers['content-type']);
  return `${method} ${path} ${text.slice(0, BODY_SHOWN)}\n${reply.status} ${type}\n${masked(reply.text)}\n`;
}

/** Market statistics of the catalog are up to a second behind the books. */
const LIQUIDITY = '19.1 7.2';

async function liquidity(market: string): Promise<number> {
  const { json } = await send(node, 'GET', `/markets/${market}`);
  return (json as { liquidityNum: number }).liquidityNum;
}

/**
 * Masks clock readings in seconds and milliseconds, the hashes of books, which cover them, and the
 * progress of background work.
 */
function masked(text: string): string {
  // Hashes first: one of them may have digits in it that look like a clock's.
  return text
    .replaceAll(/"hash":"[0-9a-f]{40}"/g, '"hash":"<hash>"')
    .replaceAll(/(?<!\d)1[789]\d{11}(?!\d)/g, '<ms>')
    .replaceAll(/(?<!\d)1[789]\d{8}(?!\d)/g, '<s>')
    .replaceAll(/"signatures":"[^"]*"/g, '"signatures":"<library>"')
    .replaceAll(/"log":\{.*,"cluster":null/g, '"log":<progress>,"cluster":null')
    .replaceAll(/"version":"\d+\.\d+\.\d+"/g, '"version":"<version>"');
}

test('the default profile answers byte for byte as recorded', async () => {
  const answers: string[] = [];
  const derive = level1('SERVICE', alice.wallet, CHAIN_ID, seconds(), '0');
  answers.push(`derived key\n${(await send(node, 'GET', '/auth/derive-api-key', derive)).text}\n`);
  for (const ask of [...orders, ...reads]) answers.push(await answerTo(ask));
  await until(async () => `${await liquidity('1')} ${await liquidity('2')}` === LIQUIDITY);
  for (const ask of [...catalog, ...own]) answers.push(await answerTo(ask));
  const text = answers.join('\n');
  if (process.env.RECORD_ANSWERS) writeFileSync(FILE, text);
  // One by one, so that a difference names its request.
  const recorded = readFileSync(FILE, 'utf8').split('\n\n');
  const given = text.split('\n\n');
  for (const [i, answer] of given.entries()) assert.equal(answer.trim(), recorded[i]?.trim());
  assert.equal(given.length, recorded.length);
});
