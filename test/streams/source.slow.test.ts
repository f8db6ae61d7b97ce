import assert from 'node:assert/strict';
import test from 'node:test';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { checksumAddress } from '../../server/auth/checksum.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import {
  book,
  get,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import type { LineOfSource } from './source-node.ts';
import { assertFits, followMarket, followUser, type Json, ofType } from './stream-node.ts';

const SHARE = 1_000_000;
const SOURCE = '0x0000000000000000000000000000736f75726365';
const SOURCE_SHOWN = checksumAddress(Buffer.from(SOURCE.slice(2), 'hex'));
const NO_ID = `0x${'0'.repeat(64)}`;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const SETTINGS = { VERIFY_SIGNATURES: 'off', LEDGER: 'on', WORKERS: '2' };

const dataDir = temporaryDirectory();
const [market] = (await withMarkets(dataDir, [{ id: 1 }])) as [CatalogMarket];
const [yes, no] = market.tokenIds as [string, string];
let node = await startSource();
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

function startSource(): Promise<TestNode> {
  return TestNode.start(dataDir, SETTINGS, [], 'test/streams/source-node');
}

/** Sends commands of the source, which must be accepted unless they name a reason. */
async function source(...lines: readonly LineOfSource[]): Promise<void> {
  assert.deepEqual(await reasons(lines), Array(lines.length).fill(RejectReason.accepted));
}

async function reasons(lines: readonly LineOfSource[]): Promise<unknown> {
  const port = Number(/source on 127\.0\.0\.1:(\d+)/.exec(node.log)?.[1]);
  return JSON.parse((await send({ port }, 'POST', '/', {}, JSON.stringify(lines))).text);
}

function level(side: 'buy' | 'sell', pips: number, shares: number, token = yes): LineOfSource {
  return { kind: 'level', token, side, pips, size: shares * SHARE };
}

async function tradesOf(query: string): Promise<readonly Json[]> {
  return (await get(node, `/trades?${query}`)).json as Json[];
}

test('source levels need cash of the reserved account, which an ordinary deposit pays in', async () => {
  assert.deepEqual(await reasons([level('buy', 4_000, 100)]), [RejectReason.notEnough]);
  await source(
    { kind: 'deposit', wallet: SOURCE, amount: 100_000 * SHARE },
    { kind: 'deposit', wallet: alice.address, amount: 1_000 * SHARE },
    { kind: 'deposit', wallet: bob.address, amount: 1_000 * SHARE },
  );
});

test('a source level is published as a price change without an order, and rests in both books', async () => {
  const client = await followMarket(node, [yes, no], { custom_feature_enabled: true });
  await client.upToNow();
  await source(level('buy', 4_000, 100), level('sell', 6_000, 50));
  const events = await client.upToNow();
  for (const event of events) assertFits(event);
  const changes = ofType(events, 'price_change').flatMap(
    ({ price_changes }) => price_changes as Json[],
  );
  assert.deepEqual(
    changes.map(({ asset_id, hash, price, side, size }) => [asset_id, side, price, size, hash]),
    [
      [yes, 'BUY', '0.4', '100', ''],
      [no, 'SELL', '0.6', '100', ''],
      [yes, 'SELL', '0.6', '50', ''],
      [no, 'BUY', '0.4', '50', ''],
    ],
  );
  const best = ofType(events, 'best_bid_ask').find(({ asset_id }) => asset_id === yes);
  assert.deepEqual([best?.best_bid, best?.best_ask], ['0.4', '0.6']);
  const shown = (await book(node, yes)) as unknown as Json;
  assert.deepEqual(shown.bids, [{ price: '0.4', size: '100' }]);
  assert.deepEqual(shown.asks, [{ price: '0.6', size: '50' }]);
  const first = (await followMarket(node, [yes])).upToNow();
  assert.equal((await first)[0]?.hash, shown.hash, 'the hash of a book is that of its levels');
  client.cut();
});

test('a taker of a source level trades with an anonymous maker, and the level shrinks', async () => {
  const user = await followUser(node, alice);
  const result = await alice.place(node, { market, side: 'BUY', ticks: 60, shares: 20 });
  assert.equal(result.status, 'matched');
  await until(() => user.texts.length >= 4);
  const trade = ofType(await user.upToNow(), 'trade')[0]!;
  assertFits(trade);
  assert.deepEqual([trade.status, trade.trader_side, trade.size], ['MATCHED', 'TAKER', '20']);
  const [maker] = trade.maker_orders as [Json];
  assert.deepEqual([maker.order_id, maker.owner, maker.asset_id], [NO_ID, NIL_UUID, no]);
  assert.deepEqual((await book(node, yes)).asks, [{ price: '0.6', size: '30' }]);
  const own = (await alice.ask(node, 'GET', '/data/trades')).json as { readonly data: Json[] };
  assert.equal(own.data.length, 1);
  assert.deepEqual((own.data[0]!.maker_orders as Json[])[0]!.order_id, NO_ID);
  user.cut();
});

test('a resting order that a fill names gets its trade, with an anonymous taker', async () => {
  const { orderID } = await bob.place(node, { market, side: 'BUY', ticks: 40, shares: 30 });
  const user = await followUser(node, bob);
  await source({ kind: 'fill', order: orderID, size: 12 * SHARE });
  await until(() => user.texts.length >= 3);
  const events = await user.upToNow();
  for (const event of events) assertFits(event);
  const [trade] = ofType(events, 'trade') as [Json];
  assert.deepEqual(
    [trade.status, trade.trader_side, trade.taker_order_id, trade.maker_address],
    ['MATCHED', 'MAKER', NO_ID, SOURCE_SHOWN],
  );
  const [made] = trade.maker_orders as [Json];
  assert.deepEqual([made.order_id, made.matched_amount, made.price], [orderID, '12', '0.4']);
  const [update] = ofType(events, 'order') as [Json];
  assert.deepEqual([update.type, update.size_matched], ['UPDATE', '12']);
  const open = (await bob.ask(node, 'GET', `/data/order/${orderID}`)).json as Json;
  assert.equal(open.size_matched, '12');
  user.cut();
});

test('a source level that crosses an order gives its owner a trade, and others of the batch theirs', async () => {
  const { orderID } = await bob.place(node, { market, side: 'BUY', ticks: 50, shares: 10 });
  const [alices, bobs] = [await followUser(node, alice), await followUser(node, bob)];
  await source(level('sell', 5_000, 4), level('sell', 5_000, 0));
  await until(() => bobs.texts.length >= 3);
  const trades = ofType(await bobs.upToNow(), 'trade');
  assert.deepEqual(
    trades.map(({ size, status }) => [status, size]),
    [
      ['MATCHED', '4'],
      ['CONFIRMED', '4'],
    ],
  );
  assert.deepEqual(await alices.upToNow(), [], 'nobody else is told');
  assert.deepEqual((await bob.cancel(node, '/order', { orderID })).canceled, [orderID]);
  alices.cut();
  bobs.cut();
});

test('a trade print is on the tape once, moves the last price, and moves no money', async () => {
  const client = await followMarket(node, [yes]);
  await client.upToNow();
  const before = await tradesOf('takerOnly=false');
  await source({ kind: 'print', token: yes, side: 'sell', pips: 4_200, size: 7 * SHARE });
  const [last] = ofType(await client.upToNow(), 'last_trade_price') as [Json];
  assertFits(last);
  assert.deepEqual([last.price, last.side, last.size], ['0.42', 'SELL', '7']);
  assert.deepEqual((await get(node, `/last-trade-price?token_id=${yes}`)).json, {
    price: '0.42',
    side: 'SELL',
  });
  const after = await tradesOf('takerOnly=false');
  assert.equal(after.length, before.length + 1);
  assert.deepEqual(
    [after[0]!.proxyWallet, after[0]!.side, after[0]!.size, after[0]!.price],
    [SOURCE_SHOWN, 'SELL', 7, 0.42],
  );
  assert.equal((await tradesOf(`user=${SOURCE}&takerOnly=false`))[0]!.size, 7);
  const { json } = await get(node, `/prices-history?market=${yes}&interval=1d&fidelity=1`);
  const { history } = json as { readonly history: readonly { readonly p: number }[] };
  assert.equal(history.at(-1)?.p, 0.42);
  client.cut();
});

test('the reserved account is no holder, and its levels belong to no orders list', async () => {
  let wallets: unknown[] = [];
  // They follow from what is derived, a moment later.
  await until(async () => {
    const { json } = await get(node, `/holders?market=${market.conditionId}`);
    const each = json as readonly { readonly holders: readonly Json[] }[];
    wallets = each.flatMap(({ holders }) => holders.map(({ proxyWallet }) => proxyWallet));
    return wallets.length > 0;
  });
  assert(!wallets.includes(SOURCE_SHOWN));
  const stolen = (await alice.cancel(node, '/order', { orderID: NO_ID })).canceled;
  assert.deepEqual(stolen, []);
  await alice.cancel(node, '/cancel-all');
  assert.deepEqual((await book(node, yes)).asks, [{ price: '0.6', size: '30' }]);
});

test("paper orders stay and source levels go after a kill, and verify and the export of trades read the source's batches", async () => {
  const [bid] = (await book(node, yes)).bids;
  const paper = String(Number(bid!.size) - 100);
  await node.end('SIGKILL');
  node = await startSource();
  const left = await book(node, yes);
  assert.deepEqual([left.bids, left.asks], [[{ ...bid, size: paper }], []]);
  await source(level('buy', 4_000, 100), level('sell', 6_000, 45));
  assert.deepEqual((await book(node, yes)).bids, [bid]);
  await node.stop();
  // From its snapshot.
  node = await startSource();
  assert.deepEqual((await book(node, yes)).asks, []);
  await source(level('buy', 4_000, 100), level('sell', 6_000, 44));
  await node.stop();
  const verified = await cli(dataDir, ['verify'], { settings: SETTINGS });
  assert.equal(verified.code, 0, verified.stderr);
  const exported = await cli(dataDir, ['trades', 'export'], { settings: SETTINGS });
  assert.match(exported.stdout, /,print,/);
  assert.match(exported.stdout, /,mint,/);
  const replayed = await cli(dataDir, ['replay'], { settings: SETTINGS });
  assert.match(replayed.stdout, /, 2 levels of the source, /);
});
