import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { fromMicro, NodeClient, PlayedClock, toMicro, Wallet } from '../../client/client.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { catalogFile, get, send, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { Random } from '../common/random.ts';

const directory = temporaryDirectory();
const STARTED = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;
const { events } = catalogFile([{ id: 1 }]) as { events: { markets: Listed[] }[] };
interface Listed {
  readonly conditionId: string;
  readonly clobTokenIds: string;
}
const [listed] = events[0]!.markets;
const tokens = tokensOf(listed!);
const [token = '', other = ''] = tokens;
const nodes: TestNode[] = [];
after(async () => {
  for (const node of nodes) if (!node.hasEnded) await node.end('SIGKILL');
});

function tokensOf({ clobTokenIds }: Listed): string[] {
  return typeof clobTokenIds === 'string' ? JSON.parse(clobTokenIds) : clobTokenIds;
}

/** Records five minutes: a price that walks, and trades. In the end the first outcome wins. */
async function record(name: string): Promise<string> {
  const random = new Random(20_260_105);
  const path = join(directory, name);
  const start = { venue: 'https://venue.example', started: STARTED, markets: ['all'] };
  const writer = await RecordingWriter.create(path, start);
  await writer.write({ at: STARTED, kind: 'catalog', event: events[0] as never });
  const of = (at: number) => ({
    market: listed!.conditionId,
    asset_id: token,
    timestamp: String(at),
  });
  const say = (at: number, message: object): Promise<void> =>
    writer.write({ at, kind: 'message', message: { ...of(at), ...message } });
  const text = (ticks: number): string => (ticks / 100).toFixed(2);
  let middle = 50;
  const level = (ticks: number): object => ({
    price: text(ticks),
    size: String(50 + random.below(200)),
  });
  const book = (): object => ({
    event_type: 'book',
    bids: [3, 2, 1].map((away) => level(middle - away)),
    asks: [3, 2, 1].map((away) => level(middle + away)),
  });
  await say(STARTED, book());
  // Times that cannot be: both are left out.
  await say(STARTED, { ...book(), timestamp: '9007199254740991' });
  await writer.write({ at: 1e300, kind: 'message', message: { ...of(STARTED), ...book() } });
  for (let i = 1; i <= 300; i++) {
    const at = STARTED + i * 1_000;
    if (i % 5 === 0) {
      middle = Math.min(80, Math.max(20, middle + random.below(3) - 1));
      await say(at, book());
    } else if (i % 5 === 2) {
      const side = random.below(2) === 0 ? 'BUY' : 'SELL';
      const ticks = side === 'BUY' ? middle + 1 : middle - 1;
      const size = String(20 + random.below(100));
      await say(at, { event_type: 'last_trade_price', side, price: text(ticks), size });
    }
  }
  const market = { ...listed, closed: true, outcomePrices: ['1', '0'] };
  const event = { ...events[0], markets: [market] };
  await writer.write({ at: STARTED + 6 * MINUTE, kind: 'catalog', event: event as never });
  await writer.close(STARTED + 7 * MINUTE);
  return path;
}

interface Played {
  readonly node: TestNode;
  readonly client: NodeClient;
  readonly clock: PlayedClock;
  readonly admin: number;
}

async function play(
  path: string,
  flags: readonly string[] = ['--speed', 'max'],
  settings: Readonly<Record<string, string>> = {},
): Promise<Played> {
  const admin = await freePort();
  const node = await TestNode.start(
    directory,
    { ADMIN_PORT: String(admin), ...settings },
    ['play', path, ...flags],
    'server/cli/cli',
  );
  nodes.push(node);
  const wallet = Wallet.random();
  const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, { wallet });
  const clock = new PlayedClock(`http://127.0.0.1:${admin}`);
  return { node, client, clock, admin };
}

async function end({ client, clock, node }: Played): Promise<void> {
  client.close();
  clock.close();
  await node.stop();
}

/** Quotes both outcomes behind the best prices, takes now and then; returns all its events. */
async function stepThrough(played: Played): Promise<unknown[]> {
  const { client, clock } = played;
  const happened: unknown[] = [];
  let at = await clock.step(0);
  for (let turn = 0; at.time < STARTED + 5 * MINUTE; turn++) {
    const book = await client.call('POST /books', { body: [{ token_id: token }] });
    const best = Number(book[0]!.bids.at(-1)!.price);
    const tokenId = turn % 2 === 0 ? token : other;
    const price = (turn % 2 === 0 ? best : 0.98 - best).toFixed(2);
    if (turn % 3 === 0) await client.orders.cancelAll();
    const terms = { tokenId, side: 'BUY', price, size: '20' } as const;
    const placed = await client.orders.post(turn % 7 === 6 ? { ...terms, price: '0.9' } : terms);
    happened.push([at.time, placed.status, placed.makingAmount, placed.takingAmount]);
    at = await clock.step(7_000);
  }
  for await (const trade of client.orders.trades()) {
    const { maker_orders: makers, match_time, price, size, trader_side } = trade;
    const own = makers.map(({ matched_amount, price: own }) => [matched_amount, own]);
    happened.push([match_time, price, size, trader_side, own]);
  }
  happened.push((await client.balance()).total);
  return happened;
}

const recording = record('walk');

test('one recording and one stepping bot give equal fills', async () => {
  const runs: unknown[][] = [];
  for (const settings of [{}, {}, { MIRROR_LATENCY_MS: '1500' }, { MIRROR_LATENCY_MS: '1500' }]) {
    const played = await play(await recording, ['--speed', 'max'], settings);
    runs.push(await stepThrough(played));
    await end(played);
  }
  const [first, second, late, lateAgain] = runs;
  assert.deepEqual(second, first);
  assert.deepEqual(lateAgain, late);
  assert.notDeepEqual(late, first);
  const trades = first!.filter((row) => Array.isArray(row) && row.length === 5);
  assert(trades.length > 5, `only ${trades.length} trades: it is no test`);
});

/** One node whose market time only these tests advance, each from the end of the one before. */
const ADMIN_TOKEN = 'token-of-a-played-node';
const adminHeaders = { Authorization: `Bearer ${ADMIN_TOKEN}` };
let started: Promise<Played> | undefined;
const stepped = (): Promise<Played> => (started ??= startStepped());
async function startStepped(): Promise<Played> {
  const played = await play(await recording, ['--speed', 'max'], { ADMIN_TOKEN });
  const clock = new PlayedClock(`http://127.0.0.1:${played.admin}`, ADMIN_TOKEN);
  return { ...played, clock };
}

test('time stands still between steps, and credentials are checked by the wall clock', async () => {
  const { admin, client, clock, node } = await stepped();
  assert.deepEqual(await clock.step(0), { time: STARTED, next: STARTED + 2_000 });
  const placed = await client.orders.post({
    tokenId: token,
    side: 'BUY',
    price: '0.9',
    size: '10',
  });
  assert.equal(placed.status, 'matched');
  const { play: shown } = (await get(node, '/status')).json as { play: unknown };
  assert.deepEqual(shown, { time: STARTED, speed: 0, ended: false });
  assert(Math.abs(Number((await get(node, '/time')).text) * 1_000 - Date.now()) < 60_000);
  for await (const { match_time } of client.orders.trades())
    assert.equal(Number(match_time) * 1_000, STARTED);
  const step = (body: string) => send({ port: admin }, 'POST', '/clock/step', adminHeaders, body);
  assert.match((await step('{"ms":-1}')).text, /ms must be a whole number/);
  assert.equal((await step('{"ms":1,"to":2}')).status, 400);
});

test('a market ends at its market time', async () => {
  const { admin, client, clock } = await stepped();
  const { time } = await clock.step(0);
  const endDate = new Date(time + 30_000).toISOString().replace('.000Z', 'Z');
  const body = JSON.stringify({ question: 'Does it end?', outcomes: ['Yes', 'No'], endDate });
  const made = await send({ port: admin }, 'POST', '/admin/markets', adminHeaders, body);
  const { end: said, tokens } = made.json as { end: string; tokens: string[] };
  assert.equal(said, endDate, made.text);
  const terms = { tokenId: tokens[0]!, side: 'BUY', price: '0.05', size: '10' } as const;
  const { id } = await client.orders.post(terms);
  const stateOf = async () => (await client.orders.get(id))?.status;
  await clock.step(29_999);
  assert.equal(await stateOf(), 'live');
  await clock.step(1);
  assert.equal(await stateOf(), 'canceled');
});

test('an order that expires leaves at its market time', async () => {
  const { client, clock } = await stepped();
  const { time } = await clock.step(0);
  const expiration = time / 1_000 + 30;
  const terms = { tokenId: token, side: 'BUY', price: '0.05', size: '10' } as const;
  const placed = await client.orders.post({ ...terms, type: 'GTD', expiration });
  assert.equal(placed.status, 'live');
  const open = async (): Promise<number> => {
    let count = 0;
    for await (const _ of client.orders.open()) count += 1;
    return count;
  };
  await clock.stepTo(expiration * 1_000 - 1);
  assert.equal(await open(), 1);
  await clock.step(1);
  assert.equal(await open(), 0);
});

test('the resolution at the end of a recording pays', async () => {
  const played = await stepped();
  const { client, clock } = played;
  const spent = 1_000_000_000n - toMicro((await client.balance()).total);
  assert(spent > 4_000_000n && spent < 6_000_000n, `${spent}`);
  assert.deepEqual(await clock.stepTo(STARTED + 8 * MINUTE), {
    time: STARTED + 8 * MINUTE,
    next: null,
  });
  assert.equal((await client.balance()).total, fromMicro(1_000_000_000n - spent + 10_000_000n));
  // The id of the split is of market time, which is not that of the test.
  await assert.rejects(client.ledger.split(listed!.conditionId, '1'), { code: 'MARKET_RESOLVED' });
  await end(played);
});

test('a played part begins with its books, and ends at its requested end', async () => {
  const flags = [
    '--speed',
    'max',
    '--from',
    '2026-01-05T12:02:00Z',
    '--to',
    '2026-01-05T12:03:00Z',
  ];
  const played = await play(await recording, flags);
  const { client, clock } = played;
  const { time } = await clock.step(0);
  assert.equal(time, STARTED + 2 * MINUTE);
  const [book] = await client.call('POST /books', { body: [{ token_id: token }] });
  assert.equal(book!.bids.length, 3);
  assert.deepEqual((await get(played.node, '/trades')).json, []);
  const ended = await clock.stepTo(STARTED + 10 * MINUTE);
  assert.equal(ended.next, null);
  const trades = (await get(played.node, '/trades')).json as { timestamp: number }[];
  assert(trades.length > 0);
  for (const { timestamp } of trades) assert(timestamp * 1_000 <= STARTED + 3 * MINUTE);
  await end(played);
});

test('time runs by itself at a given speed', async () => {
  const played = await play(await recording, ['--speed', '1000']);
  const { admin, node } = played;
  const refused = await send({ port: admin }, 'POST', '/clock/step', {}, '{"ms":1}');
  assert.equal(refused.status, 409);
  for (;;) {
    const { play: shown } = (await get(node, '/status')).json as { play: { ended: boolean } };
    if (shown.ended) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const trades = (await get(node, '/trades?limit=500')).json as unknown[];
  assert.equal(trades.length, 60);
  await end(played);
});

test('a recording that cannot be played is refused with a reason', async () => {
  const refusal = (args: readonly string[], settings = {}): Promise<string> =>
    TestNode.start(
      directory,
      settings,
      args,
      args.length === 0 ? undefined : 'server/cli/cli',
    ).then(
      () => '',
      (error: Error) => error.message,
    );
  const missing = join(directory, 'nothing');
  const [none, wrong, unset] = await Promise.all([
    refusal(['play', missing]),
    refusal(['play', await recording, '--speed', '0']),
    refusal([], { LEDGER: 'on', PLAY: missing }),
  ]);
  assert.match(none, /nothing/);
  assert.match(unset, /PLAY=\S+nothing: ENOENT/);
  assert.match(wrong, /PLAY_SPEED must be max, or a whole number from 1 to 1000, not "0"/);
});
