/**
 * The client of its own meets each fault that a key can make for itself. By its own books, and by those of the node
 * afterwards, it loses no order and doubles none.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { SocketClient } from '../common/socket-client.ts';
import { verified } from '../common/verified.ts';
import { checkTaken, type Json, type OrderAnswer } from './own-answers.ts';
import { decimal, UNIT } from './own-books.ts';
import type { Answer, OwnClient } from './own-client.ts';
import { KINDS, type Kind, type SignedOrder } from './own-signing.ts';
import { cents, Desk, OwnVenue, SETTINGS, type Send, versionFor } from './own-venue.ts';

const RATE_LIMITS = { RATE_LIMITS: 'on' };
const seed = freshSeed();
const random = new Random(seed);
process.once('exit', (code) => {
  if (code !== 0) console.error(`replay with: SEED=${seed} npm test`);
});

const venue = await OwnVenue.open(RATE_LIMITS);
after(() => venue.operator.node.stop());
const { books, clients, markets } = venue;
const PAIRS: readonly (readonly [maker: Kind, taker: Kind])[] = [
  ['plain', 'proxy'],
  ['proxy', 'safe'],
  ['safe', 'deposit'],
  ['deposit', 'plain'],
];

/** Refusals and lost answers that the client has met since the last fault was made. */
let met: string[] = [];

function waitOf({ headers, json }: Answer): number {
  const seconds = Number(headers.get('retry-after') ?? json.retry_after_seconds ?? 0);
  return Math.min(Math.max(seconds, 0.1), 1) * 1_000;
}

function checkRateHeaders({ headers, status }: Answer): void {
  for (const name of ['remaining', 'reset', 'tier']) {
    assert.notEqual(headers.get(`poly-ratelimit-${name}`), null, `${name} of a ${status}`);
  }
}

/** Asks until the answer is a 200. Errors of the connection end in the same request, byte for byte. */
async function persist(client: OwnClient, ask: () => Promise<Answer>): Promise<Json> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    let answer: Answer;
    try {
      answer = await ask();
    } catch (error) {
      assert(error instanceof TypeError, String(error));
      met.push('lost');
      continue;
    }
    // A limiter is on: every answer to an order or a cancel says what is left.
    if (answer.status === 200) {
      checkRateHeaders(answer);
      return answer.json;
    }
    met.push([answer.status, answer.json.error].join(' '));
    if (answer.status === 429) checkRateHeaders(answer);
    assert([425, 429, 503].includes(answer.status), JSON.stringify(answer.json));
    await sleep(waitOf(answer));
  }
  throw new Error(`${client.kind} was refused for a minute: ${met.at(-1)}`);
}

async function send(client: OwnClient, order: SignedOrder): Promise<OrderAnswer> {
  const body = client.bodyOf(order);
  const answer = checkTaken(await persist(client, () => client.ask('POST', '/order', '', body)));
  assert.equal(answer.orderID, order.id);
  return answer;
}

/** Sends the same bytes again: the answer is that of the first time. */
async function sendTwice(client: OwnClient, order: SignedOrder): Promise<OrderAnswer> {
  const answer = await send(client, order);
  assert.deepEqual(await send(client, order), answer);
  return answer;
}

/** Waits for the trade of a delayed order, as slowly as the limiter wants. */
async function traded(client: OwnClient, { orderID, status }: OrderAnswer): Promise<void> {
  if (status !== 'delayed') return;
  for (let tries = 0; tries < 60; tries++) {
    await sleep(500);
    const trades = await client.trades();
    if (trades.some(({ taker_order_id }) => taker_order_id === orderID)) return;
  }
  throw new Error(`${orderID} never traded`);
}

async function make(client: OwnClient, fault: object): Promise<void> {
  await client.done('POST', '/faults', '', JSON.stringify(fault));
}

async function clear(): Promise<void> {
  for (const kind of KINDS) await clients[kind].done('DELETE', '/faults');
}

/** Orders of both sides, one cancel each, and trades of both kinds. Returns the trades that the taker knows. */
async function round(
  maker: Kind,
  taker: Kind,
  by: Send = send,
  status: 'matched' | 'delayed' = 'matched',
): Promise<readonly string[]> {
  const market = random.pick(markets);
  const desk = new Desk(venue, market, by);
  const as = (kind: Kind) => ({ kind, version: versionFor(market, kind, random) });
  const size = cents(random, 10, 15);
  const bid = { outcome: 0, side: 'BUY', price: 400_000 } as const;
  const resting = await desk.rest({ ...as(maker), ...bid, size: size + 5n * UNIT });
  const mint = { outcome: 1, side: 'BUY', price: 600_000, size } as const;
  const first = await desk.take({ ...as(taker), ...mint }, status);
  await traded(clients[taker], first);
  const ask = { outcome: 0, side: 'SELL', price: 550_000, size: 6n * UNIT } as const;
  await desk.rest({ ...as(maker), ...ask });
  const buy = { outcome: 0, side: 'BUY', price: 560_000, size: 5_123_457n, type: 'FAK' } as const;
  const second = await desk.take({ ...as(taker), ...buy }, status);
  await traded(clients[taker], second);
  for (const { id } of [resting, desk.resting.at(-1)!]) {
    const body = JSON.stringify({ orderID: id });
    const client = clients[maker];
    const answer = await persist(client, () => client.ask('DELETE', '/order', '', body));
    assert.deepEqual(answer.canceled, [id]);
  }
  return [...first.tradeIDs, ...second.tradeIDs];
}

/** The node has each order and trade of the client's books once. */
async function agrees(): Promise<void> {
  for (const kind of KINDS) {
    const client = clients[kind];
    const account = books.of(client.wallet);
    assert.deepEqual(await client.open(), [], kind);
    assert.equal(decimal(await client.balance()), decimal(account.cash), kind);
    for (const [token, { shares }] of account.holdings) {
      assert.equal(await client.balance(token), shares, kind);
    }
    const wallet = client.wallet.toLowerCase();
    const trades = await client.trades();
    const fills = trades.flatMap(({ maker_orders, trader_side }) =>
      trader_side === 'TAKER'
        ? maker_orders
        : maker_orders.filter(({ maker_address }) => maker_address.toLowerCase() === wallet),
    );
    assert.equal(fills.length, account.trades, kind);
    assert.equal(
      new Set(trades.map(({ id, trader_side }) => `${id} ${trader_side}`)).size,
      trades.length,
    );
  }
  const totals = await venue.operator.done('GET /admin/ledger');
  assert.deepEqual([totals.fees, totals.imbalance], [decimal(books.fees), '0']);
}

/** The fault, with a seed of its own where it draws. */
function drawn(fault: object): object {
  return 'probability' in fault ? { ...fault, seed: random.below(1_000) } : fault;
}

const FAULTS: readonly (readonly [fault: object, meets: RegExp])[] = [
  [{ kind: 'lost-answer', count: 3 }, /^lost$/],
  [{ kind: 'lost-answer', probability: 0.5, count: 4 }, /^lost$/],
  [{ kind: 'rate-limit', count: 2, ms: 200 }, /^429 /],
  [{ kind: 'cancel-only', seconds: 1 }, /^503 Trading is currently cancel-only\. /],
  [{ kind: 'disabled', seconds: 1 }, /^503 Trading is currently disabled\. /],
  [
    { kind: 'restart', seconds: 1 },
    /^503 post-only mode: only post-only orders and cancels are allowed$/,
  ],
];

for (const [fault, meets] of FAULTS) {
  test(`no order is lost or doubled under ${JSON.stringify(fault)}, by any kind of wallet`, async () => {
    met = [];
    for (const kind of KINDS) await make(clients[kind], drawn(fault));
    for (const [maker, taker] of PAIRS) await round(maker, taker);
    assert(
      met.some((text) => meets.test(text)),
      met.join('; '),
    );
    if ('seconds' in fault && meets.source.includes('post-only')) {
      assert(
        met.some((text) => text.startsWith('425 ')),
        met.join('; '),
      );
    }
    await clear();
    await agrees();
  });
}

test('a delayed order is taken once, however late its answer comes', async () => {
  for (const kind of KINDS) await make(clients[kind], { kind: 'delay', ms: 250, count: 4 });
  for (const [maker, taker] of PAIRS) {
    const begun = performance.now();
    await round(maker, taker);
    const took = performance.now() - begun;
    assert(took >= 250, `${took} ms`);
  }
  await clear();
  await agrees();
});

test('an order with a taker delay trades once, after the delay, however often it is sent', async () => {
  const ms = 1_000;
  for (const [maker, taker] of PAIRS) {
    // Two orders, each sent twice.
    await make(clients[taker], { kind: 'taker-delay', ms, count: 4 });
    const begun = performance.now();
    await round(maker, taker, sendTwice, 'delayed');
    const took = performance.now() - begun;
    assert(took >= 2 * ms, `${took} ms`);
  }
  await clear();
  await agrees();
});

test('a post-only order passes where others wait for the end of a restart', async () => {
  const client = clients.plain;
  await make(client, { kind: 'restart', seconds: 1 });
  const desk = new Desk(venue, markets[0]!, send);
  const wish = { kind: 'plain', version: 2, outcome: 0, side: 'BUY', price: 10_000 } as const;
  const begun = performance.now();
  const { id } = await desk.rest({ ...wish, size: 5n * UNIT, postOnly: true });
  assert(performance.now() - begun < 9_000);
  await client.done('DELETE', '/order', '', JSON.stringify({ orderID: id }));
  await clear();
});

/** A user stream, and the trades that its owner knows by it; what it may have missed is asked for. */
class Follower {
  readonly known = new Set<string>();
  received = 0;
  private socket: SocketClient | undefined = undefined;
  private readonly client: OwnClient;

  constructor(client: OwnClient) {
    this.client = client;
  }

  async connect(): Promise<void> {
    this.close();
    const { node } = venue.operator;
    this.socket = await SocketClient.open(node, '/ws/user');
    this.socket.send({ type: 'user', auth: this.client.trio, markets: [] });
    this.socket.onText = (text) => this.take(text);
    await sleep(100);
  }

  close(): void {
    this.socket?.cut();
  }

  get hasEnded(): boolean {
    return this.socket?.closed !== undefined;
  }

  get code(): number | undefined {
    return this.socket?.closed?.code;
  }

  async reconcile(): Promise<void> {
    for (const { id } of await this.client.trades()) this.known.add(id);
  }

  private take(text: string): void {
    if (text === 'PONG') return;
    const events = [JSON.parse(text)].flat() as readonly Json[];
    for (const { event_type, id, status, timestamp, type } of events) {
      assert.match(String(timestamp), /^\d{13}$/, text);
      if (event_type === 'trade') assert.equal(type, 'TRADE');
      if (event_type !== 'trade' || status !== 'MATCHED') continue;
      this.received += 1;
      this.known.add(String(id));
    }
  }
}

const STREAM_FAULTS: readonly object[] = [
  { kind: 'stream-repeat', count: 100 },
  { kind: 'stream-gap', count: 3 },
  { kind: 'stream-frozen', seconds: 60 },
  { kind: 'stream-closed', count: 1 },
];

for (const fault of STREAM_FAULTS) {
  const { kind: name } = fault as { kind: string };
  test(`by a stream with ${name}, and a look at its trades, each wallet knows each trade once`, async () => {
    for (const [maker, taker] of PAIRS) {
      const follower = new Follower(clients[maker]);
      await follower.reconcile();
      const before = new Set(follower.known);
      await follower.connect();
      await make(clients[maker], fault);
      const traded = await round(maker, taker);
      await sleep(200);
      const isShort = [...traded].some((id) => !follower.known.has(id));
      if (name === 'stream-repeat') assert.equal(follower.received, 2 * traded.length);
      else assert(isShort, `${name} leaves something out`);
      if (name === 'stream-closed') {
        await until(() => follower.hasEnded);
        assert.equal(follower.code, 1012);
      }
      await clients[maker].done('DELETE', '/faults');
      await follower.connect();
      await follower.reconcile();
      assert.deepEqual(
        [...follower.known].filter((id) => !before.has(id)).toSorted(),
        [...traded].toSorted(),
      );
      const next = await round(maker, taker);
      await until(() => next.every((id) => follower.known.has(id)));
      follower.close();
    }
    await agrees();
  });
}

test('the log replays to what the client has booked', async () => {
  await agrees();
  await venue.operator.node.stop();
  await verified(venue.dataDir, { ...SETTINGS, ...RATE_LIMITS });
});
