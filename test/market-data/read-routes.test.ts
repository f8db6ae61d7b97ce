/**
 * Reads of a whole node after trades: books, last prices and trades agree, and reads beside writes
 * never show an impossible book. Rules: docs/protocol.md#consistent-reads
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { refusalCode } from '../../server/common/error-bodies.ts';
import {
  type BookJson,
  book,
  books,
  get,
  levels,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { freshSeed, Random, rounds } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { type Terms, Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [pair, cup, quiet, storm] = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, outcomes: ['Home', 'Draw', 'Away'], minSize: 1 },
  { id: 3, tick: 0.0001, minSize: 0.5, negRisk: true },
  { id: 4 },
]);
assert(pair && cup && quiet && storm);
const ALLOWED = '198.51.100.7';
const settings = { TRADES_ALLOWLIST: `127.0.0.1,${ALLOWED},2001:db8::/32`, TRUST_PROXY: '1' };
const node = await TestNode.start(dataDir, settings);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const [yes = '', no = ''] = pair.tokenIds;

interface TradeRow {
  readonly proxyWallet: string;
  readonly side: string;
  readonly asset: string;
  readonly token_id: string;
  readonly conditionId: string;
  readonly size: number;
  readonly price: number;
  readonly timestamp: number;
  readonly usdcSize: number;
  readonly outcome: string;
  readonly outcomeIndex: number;
  readonly transactionHash: string;
}

async function trades(query: string): Promise<TradeRow[]> {
  const { json, status, text } = await get(node, `/trades?${query}`);
  assert.equal(status, 200, text);
  return json as TradeRow[];
}

async function lastPrices(tokens: readonly string[]): Promise<unknown> {
  const body = JSON.stringify(tokens.map((token_id) => ({ token_id })));
  const { json, status } = await send(node, 'POST', '/last-trades-prices', {}, body);
  assert.equal(status, 200);
  return json;
}

function line(row: TradeRow): string {
  const who = row.proxyWallet === alice.address ? 'alice' : 'bob';
  return `${who} ${row.side} ${row.size} ${row.outcome} @ ${row.price} = ${row.usdcSize}`;
}

test('a market without trades has empty books, no last price and no trades', async () => {
  const [first] = await books(node, [quiet.tokenIds[0] ?? '']);
  assert(first !== undefined);
  assert.equal(first.market, quiet.conditionId);
  assert.deepEqual([first.bids, first.asks, first.last_trade_price], [[], [], '']);
  assert.deepEqual(
    [first.min_order_size, first.tick_size, first.neg_risk],
    ['0.5', '0.0001', true],
  );
  assert.deepEqual(await lastPrices(quiet.tokenIds), []);
  assert.deepEqual(await trades(`market=${quiet.conditionId}`), []);
});

test('an order of one outcome appears as its complement in the book of the other', async () => {
  await alice.place(node, { market: pair, side: 'BUY', ticks: 40, shares: 50, outcome: 1 });
  await alice.place(node, { market: pair, side: 'SELL', ticks: 62, shares: 30 });
  await alice.place(node, { market: pair, side: 'BUY', ticks: 30, shares: 20 });
  const [first, second] = await books(node, [yes, no]);
  assert(first !== undefined && second !== undefined);
  // The best level is the last one on both sides (docs/protocol.md#order-books).
  assert.deepEqual(levels(first.asks), ['30@0.62', '50@0.6']);
  assert.deepEqual(levels(first.bids), ['20@0.3']);
  assert.deepEqual(levels(second.bids), ['30@0.38', '50@0.4']);
  assert.deepEqual(levels(second.asks), ['20@0.7']);
  assert.equal(first.timestamp, second.timestamp);
});

test('mint, merge and ordinary matches appear alike in books, last prices and trades', async () => {
  // Bob's offer to buy Yes at 0.65 first mints with the bid for No at 0.40, then takes the ask.
  const swept = await bob.place(node, { market: pair, side: 'BUY', ticks: 65, shares: 60 });
  assert.deepEqual([swept.makingAmount, swept.takingAmount], ['36.2', '60']);
  assert.deepEqual(await lastPrices([no, yes]), [
    { token_id: no, price: '0.4', side: 'BUY' },
    { token_id: yes, price: '0.62', side: 'BUY' },
  ]);
  // An offer of No at 0.70 and the bid for Yes at 0.30 rest: a sale of Yes takes both.
  await bob.place(node, { market: pair, side: 'SELL', ticks: 70, shares: 5, outcome: 1 });
  assert.equal((await book(node, yes)).last_trade_price, '0.62');
  assert.deepEqual((await book(node, no)).asks.at(-1), { price: '0.7', size: '25' });
  await alice.place(node, { market: pair, side: 'SELL', ticks: 28, shares: 25, type: 'FOK' });
  const rows = await trades(`market=${pair.conditionId}&takerOnly=false`);
  assert.deepEqual(rows.map(line), [
    'alice SELL 25 Yes @ 0.3 = 7.5',
    'alice BUY 20 Yes @ 0.3 = 6',
    'bob SELL 5 No @ 0.7 = 3.5',
    'bob BUY 60 Yes @ 0.603333 = 36.2',
    'alice BUY 50 No @ 0.4 = 20',
    'alice SELL 10 Yes @ 0.62 = 6.2',
  ]);
  const [first, second] = await books(node, [yes, no]);
  assert.deepEqual([first?.last_trade_price, second?.last_trade_price], ['0.3', '0.7']);
  assert.deepEqual(await lastPrices([yes, no]), [
    { token_id: yes, price: '0.3', side: 'SELL' },
    { token_id: no, price: '0.7', side: 'SELL' },
  ]);
  assert.deepEqual([first?.bids, first?.asks.length, second?.bids.length], [[], 1, 1]);
});

test('rows of one match share their hash, name their outcome, and carry the time in seconds', async () => {
  const rows = await trades(`market=${pair.conditionId}&takerOnly=false`);
  const hashes = rows.map(({ transactionHash }) => transactionHash);
  assert.deepEqual([new Set(hashes.slice(0, 3)).size, new Set(hashes.slice(3)).size], [1, 1]);
  assert.equal(new Set(hashes).size, 2);
  for (const row of rows) {
    assert.match(row.transactionHash, /^0x[0-9a-f]{64}$/);
    assert.equal(row.asset, `${pair.conditionId}:${row.outcomeIndex}`);
    assert.equal(row.token_id, pair.tokenIds[row.outcomeIndex]);
    assert.equal(row.outcome, ['Yes', 'No'][row.outcomeIndex]);
    assert(Math.abs(row.timestamp - Date.now() / 1000) < 120, 'unix seconds');
    assert.deepEqual(Object.keys(row), TRADE_FIELDS);
  }
});

const TRADE_FIELDS = (
  'proxyWallet side asset token_id conditionId size price timestamp usdcSize title slug icon eventSlug ' +
  'outcome outcomeIndex name pseudonym bio profileImage profileImageOptimized transactionHash'
).split(' ');

test('filters of trades choose rows, and pages put together are the whole list', async () => {
  const all = await trades('takerOnly=false');
  assert.equal(all.length, 6);
  assert.deepEqual(await trades(''), [all[0], all[3]]);
  assert.deepEqual(
    await trades(`takerOnly=false&user=${bob.address.toLowerCase()}`),
    all.filter(({ proxyWallet }) => proxyWallet === bob.address),
  );
  assert.deepEqual(
    await trades('takerOnly=false&side=SELL'),
    all.filter(({ side }) => side === 'SELL'),
  );
  assert.deepEqual(
    await trades('takerOnly=false&filterType=CASH&filterAmount=6.2'),
    all.filter(({ usdcSize }) => usdcSize >= 6.2),
  );
  assert.deepEqual(
    await trades('takerOnly=false&filterType=TOKENS&filterAmount=20'),
    all.filter(({ size }) => size >= 20),
  );
  assert.deepEqual(await trades(`user=0x${'7'.repeat(40)}`), []);
  assert.deepEqual(await trades('limit=0'), []);
  for (const limit of [1, 2, 4]) {
    const pages: TradeRow[] = [];
    for (let offset = 0; offset < 8; offset += limit) {
      pages.push(...(await trades(`takerOnly=false&limit=${limit}&offset=${offset}`)));
    }
    assert.deepEqual(pages, all);
  }
});

test('trades name an unknown field, then a bad value, and refuse strangers before both', async () => {
  const cases: readonly (readonly [string, number, string])[] = [
    ['/trades?limit=5&foo=1', 400, 'unknown_field: foo'],
    ['/trades?creator=x&limit=bad', 400, 'unknown_field: creator'],
    ['/trades?limit=10001', 400, 'invalid_field: limit'],
    ['/trades?offset=-1', 400, 'invalid_field: offset'],
    ['/trades?side=buy', 400, 'invalid_field: side'],
    ['/trades?filterType=CASH', 400, 'invalid_field: filterAmount'],
    ['/trades?user=me', 400, 'invalid_field: user'],
  ];
  for (const [path, status, error] of cases) {
    const reply = await get(node, path);
    assert.deepEqual(
      [reply.status, plainRefusal(reply.json)],
      [status, { error, code: refusalCode(error) }],
      path,
    );
  }
  const stranger = { 'X-Forwarded-For': `${ALLOWED}, 203.0.113.9` };
  // Live activity has the same rows under other names.
  for (const path of ['/trades?foo=1', '/live-activity/events/0x1', '/markets/live-activity/0x1']) {
    const refused = await get(node, path, stranger);
    assert.equal(refused.status, 401, path);
    assert.deepEqual(plainRefusal(refused.json), {
      error: 'unauthorized: ip_not_allowlisted',
      code: 'ADDRESS_NOT_ALLOWED',
    });
    assert.equal((await get(node, path.replace('?foo=1', ''))).status, 200);
  }
  // With one trusted proxy the last entry counts, and what stands left of it is hearsay.
  for (const caller of [ALLOWED, `203.0.113.9, ${ALLOWED}`, '2001:db8::17']) {
    assert.equal((await get(node, '/trades', { 'X-Forwarded-For': caller })).status, 200, caller);
  }
  assert.equal((await get(node, '/time', stranger)).status, 200, 'only trades are for some');
});

test('books leave out unknown tokens, answer repeated ones once, and hash what they show', async () => {
  const found = await books(node, [no, '12345', 'x', yes, no]);
  assert.deepEqual(
    found.map(({ asset_id }) => asset_id),
    [no, yes],
  );
  for (const shown of found) {
    const blank = JSON.stringify({ ...shown, hash: '' });
    assert.equal(shown.hash, createHash('sha1').update(blank).digest('hex'));
  }
  const side = JSON.stringify([{ token_id: yes, side: 'SELL' }]);
  const { json } = await send(node, 'POST', '/books', {}, side);
  assert.deepEqual((json as BookJson[])[0]?.bids, []);
  assert.equal((json as BookJson[])[0]?.asks.length, 1);
});

test('a bad body, an unknown route and a wrong method are answered in JSON', async () => {
  const many = JSON.stringify(Array(501).fill({ token_id: yes }));
  for (const path of ['/books', '/last-trades-prices']) {
    for (const [body, error] of [
      ['{}', 'Invalid payload'],
      ['[1]', 'Invalid payload'],
      ['[{"token_id":7}]', 'Invalid payload'],
      ['nonsense', 'Invalid payload'],
      [many, 'Payload exceeds the limit'],
    ] as const) {
      const reply = await send(node, 'POST', path, {}, body);
      assert.deepEqual(
        [reply.status, plainRefusal(reply.json)],
        [400, { error, code: refusalCode(error) }],
      );
    }
    assert.deepEqual((await send(node, 'POST', path, {}, '[]')).json, []);
    const wrong = await get(node, path);
    assert.deepEqual(
      [wrong.status, wrong.json],
      [405, { error: 'method not allowed', code: 'METHOD_NOT_ALLOWED' }],
    );
    assert.equal(wrong.headers.allow, 'POST, OPTIONS');
  }
  const unknown = await get(node, '/nowhere?x=1');
  assert.deepEqual(
    [unknown.status, unknown.json],
    [404, { error: 'not found', code: 'NOT_FOUND' }],
  );
  assert.equal(unknown.headers['content-type'], 'application/json');
  assert.deepEqual([(await get(node, '/')).text, (await get(node, '/')).status], ['"OK"', 200]);
  const { text } = await get(node, '/time');
  assert.match(text, /^\d{10}$/);
});

/** Ten-thousandths of a price, exact. */
function points(level: { readonly price: string } | undefined, absent: number): number {
  return level === undefined ? absent : Math.round(Number(level.price) * 10_000);
}

/**
 * Checks that a book is possible: not crossed, levels in order, equal to that of the complement.
 */
function assertSound(first: BookJson, second: BookJson): void {
  const bid = points(first.bids.at(-1), 0);
  const ask = points(first.asks.at(-1), 10_000);
  assert(bid < ask, `crossed: ${JSON.stringify(first)}`);
  for (const { bids, asks } of [first, second]) {
    const up = bids.map((level) => points(level, 0));
    const down = asks.map((level) => points(level, 0));
    assert.deepEqual(
      up,
      [...new Set(up)].sort((a, b) => a - b),
    );
    assert.deepEqual(
      down,
      [...new Set(down)].sort((a, b) => b - a),
    );
  }
  if (first.timestamp !== second.timestamp) return; // a batch came between the two
  const mirrored = second.bids.map(({ price, size }) => [10_000 - points({ price }, 0), size]);
  assert.deepEqual(
    first.asks.map((level) => [points(level, 0), level.size]),
    mirrored,
  );
}

test('readers never see a crossed book or time going back while orders stream in', async () => {
  const seed = freshSeed();
  const random = new Random(seed);
  const tokens = storm.tokenIds;
  const draw = (trader: Trader) => {
    const terms: Terms = {
      market: storm,
      side: random.chance(50) ? 'BUY' : 'SELL',
      outcome: random.below(2),
      ticks: random.between(40, 60),
      shares: random.between(5, 40),
      type: random.pick(['GTC', 'GTC', 'FOK', 'FAK']),
    };
    return trader.sign(terms);
  };
  const batches = Array.from({ length: rounds(40) }, (_, i) => {
    const trader = i % 2 === 0 ? alice : bob;
    return { trader, orders: Array.from({ length: 6 }, () => draw(trader)) };
  });
  let isWriting = true;
  let reads = 0;
  const read = async (): Promise<void> => {
    const connection = new Agent({ keepAlive: true, maxSockets: 1 });
    let latest = 0;
    while (isWriting) {
      const [first, second] = await books(node, tokens, connection);
      assert(first !== undefined && second !== undefined);
      assertSound(first, second);
      assert(Number(first.timestamp) >= latest, 'a timestamp went back');
      latest = Number(first.timestamp);
      reads += 1;
    }
    connection.destroy();
  };
  const write = async (): Promise<void> => {
    try {
      for (const { trader, orders } of batches) {
        await trader.post(node, orders);
        await sleep(2); // no two batches of one millisecond: a timestamp names a version
      }
    } finally {
      isWriting = false;
    }
  };
  await Promise.all([write(), read(), read(), read()]).catch((error: unknown) => {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  });
  assert(reads >= 3, `only ${reads} reads met the stream`);
  const shown = await books(node, tokens);
  const last = (await lastPrices(tokens)) as { token_id: string; price: string }[];
  assert.deepEqual(
    last.map(({ price }) => price),
    shown.map((one) => one.last_trade_price),
  );
});

test('a trade appears with its answer, and last prices of many outcomes stand alone', async () => {
  const [home = '', draw = '', away = ''] = cup.tokenIds;
  await alice.place(node, { market: cup, side: 'SELL', ticks: 35, shares: 3, outcome: 1 });
  await bob.place(node, {
    market: cup,
    side: 'BUY',
    ticks: 35,
    shares: 2,
    outcome: 1,
    type: 'FAK',
  });
  const [row] = await trades(`market=${cup.conditionId.toUpperCase().replace('0X', '0x')}`);
  assert(row !== undefined);
  assert.equal(line(row), 'bob BUY 2 Draw @ 0.35 = 0.7');
  assert.deepEqual(await lastPrices([home, draw, away]), [
    { token_id: draw, price: '0.35', side: 'BUY' },
  ]);
  const [first] = await books(node, [home]);
  assert.deepEqual([first?.bids, first?.asks], [[], []], 'three outcomes mirror nothing');
});

test('the node ends well after all of these tests', () => node.stop());
