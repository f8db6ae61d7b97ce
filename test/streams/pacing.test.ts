import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { Socket } from '../../server/http/sockets.ts';
import { CloseCounts } from '../../server/streams/closes.ts';
import type { ConnectionParts } from '../../server/streams/connection.ts';
import { MarketConnection } from '../../server/streams/market-channel.ts';
import { endOf } from '../../server/streams/numbering.ts';
import { type Paced, Pacer, Turns } from '../../server/streams/pacer.ts';
import { CHARACTERS_MAX } from '../../server/streams/replay-buffer.ts';
import { Budgets, type StreamLimits } from '../../server/streams/stream-bounds.ts';
import { UserConnection } from '../../server/streams/user-channel.ts';
import { until } from '../common/node-harness.ts';
import type { OrderLine } from '../engine/naive-types.ts';
import { FeedStage } from './feed-stage.ts';
import { LIMITS } from './socket-stage.ts';

const MARKETS = 15;
const WALLET = new Uint8Array(20).fill(7);
/** Pieces of an event-loop iteration. */
const PIECES = 32;

const TERMS = {
  grid: 100,
  baseFeeBps: 0,
  minSize: 0n,
  tradable: true,
  ended: false,
  negRisk: false,
};

function restingBid(id: number, token: number): OrderLine {
  return {
    kind: 'order',
    id,
    token,
    side: 'BUY',
    type: 'GTC',
    postOnly: false,
    shares: 10_000_000n,
    collateral: 4_000_000n,
    expiration: 0,
    feeRateBps: 0,
    maker: 1,
    signer: 1,
    signatureType: 0,
    faults: [],
  };
}

/** A socket whose reader takes bytes when the test says so. */
class FakeSocket implements Socket {
  readonly sent: string[] = [];
  readonly joined = new Set<string>();
  unread = 0;

  send(text: string | Uint8Array): void {
    this.sent.push(Buffer.from(text).toString());
  }

  join(topic: string): void {
    this.joined.add(topic);
  }

  leave(topic: string): void {
    this.joined.delete(topic);
  }

  waiting(): number {
    return this.unread;
  }

  end(): void {
    assert.fail('nobody is closed here');
  }

  refuse(): void {
    assert.fail('nobody is refused here');
  }

  cut(): void {
    assert.fail('nobody is cut here');
  }
}

/**
 * Shared parts of connections, by a clock that stands still: slices are bounded by pieces alone.
 */
function common(socket: Socket, limits: StreamLimits = LIMITS): ConnectionParts {
  const turns = new Turns();
  const elapsed = (): number => 0;
  return {
    socket,
    from: { high: 0, low: 0 },
    frames: [],
    limits,
    elapsed,
    wall: () => 0,
    budget: new Budgets(limits, turns).open({ high: 0, low: 0 }),
    pacer: new Pacer(elapsed, turns),
    closes: new CloseCounts(),
    onClosed: () => undefined,
  };
}

const nextSlice = (): Promise<void> => setTimeout(5);

test('books come in pieces over event-loop iterations, stop while the reader is busy, and continue afterwards', async () => {
  const stage = new FeedStage();
  stage.run({ kind: 'at', time: 1_000 });
  for (let condition = 1; condition <= MARKETS; condition++) {
    stage.run({ kind: 'market', condition, outcomes: 4, ...TERMS });
  }
  stage.endBatch();
  stage.flush();
  const slots = Array.from({ length: 4 * MARKETS }, (_, i) => (i + 1) as TokenRow);
  const tokens = slots.map((tokenRow) => JSON.parse(String(stage.books.render(tokenRow))).asset_id);
  const socket = new FakeSocket();
  const limits = { ...LIMITS, subscriptionsMax: tokens.length };
  const connection = new MarketConnection(
    { tables: stage.t, texts: stage.texts, feed: stage.market },
    common(socket, limits),
  );
  const subscribe = JSON.stringify({ type: 'market', assets_ids: tokens });
  socket.unread = limits.backpressureBytes / 2;
  connection.message(Buffer.from(subscribe));
  await nextSlice();
  assert.deepEqual([socket.sent.length, socket.joined.size], [0, 0], 'it does not read');
  socket.unread = 0;
  connection.drained();
  // Half a millisecond ends a slice as well, which a busy machine reaches before the pieces.
  const first = socket.sent.length;
  assert(first > 0 && first <= PIECES && first < tokens.length, 'a turn is bounded');
  socket.unread = limits.backpressureBytes;
  await nextSlice();
  assert.equal(socket.sent.length, first, 'it does not read again');
  socket.unread = 0;
  connection.drained();
  await until(() => socket.sent.length === tokens.length);
  assert.equal(socket.joined.size, 2 * tokens.length, 'each token, and its book');
  connection.closed();
  for (const tokenRow of slots) {
    const { followers } = stage.market.follow(tokenRow, false);
    assert.deepEqual(followers, [1], 'nothing is left of who has gone');
  }
});

test('callers take turns, with any number of connections each', async () => {
  const done: string[] = [];
  const pacer = new Pacer(() => 0, new Turns());
  const [many, single] = [{}, {}];
  const worker = (caller: object, name: string, pieces: number): Paced => ({
    caller,
    step: () => {
      done.push(name);
      pieces -= 1;
      return pieces > 0;
    },
  });
  for (let i = 0; i < 10; i++) pacer.go(worker(many, 'many', 20));
  assert.equal(done.length, PIECES, 'a slice is bounded for all of them together');
  pacer.go(worker(single, 'single', 5));
  await until(() => done.length === 205);
  const of = done.flatMap((name, i) => (name === 'single' ? [i] : []));
  assert(of.at(-1)! <= PIECES + 10, `every other piece is for the one connection: ${of}`);
});

test('a client that waits in the middle of a batch gets books of before it or after it, and none between', () => {
  const stage = new FeedStage();
  stage.run({ kind: 'at', time: 1_000 });
  for (const condition of [1, 2]) stage.run({ kind: 'market', condition, outcomes: 2, ...TERMS });
  stage.endBatch();
  stage.flush();
  const [late, early] = [1, 3] as TokenRow[];
  const bookOf = (token: TokenRow) => JSON.parse(String(stage.books.render(token)));
  // Somebody follows one of the two books, so that it is moved on by events.
  stage.market.follow(early!, false);
  const before = bookOf(early!);
  stage.run({ kind: 'at', time: 2_000 });
  stage.run(restingBid(1, early!));
  stage.run(restingBid(2, late!));
  stage.endBatch();
  const after = bookOf(early!);
  const socket = new FakeSocket();
  const connection = new MarketConnection(
    { tables: stage.t, texts: stage.texts, feed: stage.market },
    common(socket),
  );
  const subscribe = (token: TokenRow): void => {
    connection.message(
      Buffer.from(JSON.stringify({ type: 'market', assets_ids: [bookOf(token).asset_id] })),
    );
  };
  // The one is ahead of the disk, and waits for it; the other waits for its reader.
  subscribe(late!);
  socket.unread = LIMITS.backpressureBytes;
  subscribe(early!);
  socket.unread = 0;
  stage.flush();
  const books = socket.sent.map((text) => JSON.parse(text));
  const ofEarly = books.filter(({ asset_id }) => asset_id === before.asset_id);
  assert.equal(books.length, 2);
  for (const { hash } of ofEarly) assert([before.hash, after.hash].includes(hash), 'a torn book');
});

/** A connection of the user channel for the wallet of a read-only key. */
function userChannel(stage: FeedStage, socket: FakeSocket, subscriptionsMax = 4): UserConnection {
  const keys = { lookup: () => undefined, lookupReadOnly: () => ({ address: WALLET }) };
  return new UserConnection(
    { replayBuffer: stage.users, tables: stage.t, ...keys },
    common(socket, { ...LIMITS, subscriptionsMax }),
  );
}

test('a client that leaves a stream while it catches up gets nothing more of it, after any number of resumes', async () => {
  const stage = new FeedStage();
  const first = new FakeSocket();
  const auth = { apiKey: 'key' };
  userChannel(stage, first).message(
    Buffer.from(JSON.stringify({ type: 'user', auth, resume: [] })),
  );
  const { sequence, stream_id } = JSON.parse(first.sent[0]!);
  const user = stage.users.find(new Int32Array(5).fill(0x07070707), 0)!;
  for (let n = 1; n <= 48; n++) stage.tell(user, '0x1', `"n":${n}`);
  const socket = new FakeSocket();
  const channel = userChannel(stage, socket);
  socket.unread = LIMITS.backpressureBytes;
  for (let i = 0; i < 100; i++) {
    channel.message(Buffer.from(JSON.stringify({ type: 'user', auth, stream_id, sequence })));
    channel.message(Buffer.from(JSON.stringify({ operation: 'unsubscribe' })));
  }
  channel.message(Buffer.from(JSON.stringify({ type: 'user', stream_id, sequence })));
  await until(() => socket.sent.length >= 101);
  assert.equal(socket.sent.length, 101, 'each time it got the number of missed events');
  socket.unread = 0;
  channel.drained();
  await until(() => socket.sent.length >= 101 + 48);
  await nextSlice();
  const sent = socket.sent.slice(101).map((text) => JSON.parse(text).n);
  assert.deepEqual(
    sent,
    Array.from({ length: 48 }, (_, i) => i + 1),
    'each once',
  );
});

test('a client that does not read during many messages is closed before too many bytes wait for it', () => {
  const stage = new FeedStage();
  const codes: number[] = [];
  class ClosedSocket extends FakeSocket {
    override end(code = 0): void {
      codes.push(code);
    }
  }
  const socket = new ClosedSocket();
  socket.unread = LIMITS.backpressureBytes;
  userChannel(stage, socket).message(
    Buffer.from(JSON.stringify({ type: 'user', auth: { apiKey: 'key' } })),
  );
  const user = stage.users.find(new Int32Array(5).fill(0x07070707), 0)!;
  const long = 'x'.repeat(CHARACTERS_MAX / 64);
  for (let n = 0; n < 16; n++) stage.tell(user, '0x1', long);
  assert.deepEqual(codes, []);
  stage.tell(user, '0x1', long);
  assert.deepEqual(codes, [1013]);
});

test('a stream resumes from an earlier cursor, also when it is followed already', () => {
  const stage = new FeedStage();
  const socket = new FakeSocket();
  const channel = userChannel(stage, socket);
  const auth = { apiKey: 'key' };
  channel.message(Buffer.from(JSON.stringify({ type: 'user', auth, resume: [] })));
  const { stream_id } = JSON.parse(socket.sent[0]!);
  const user = stage.users.find(new Int32Array(5).fill(0x07070707), 0)!;
  for (let n = 1; n <= 4; n++) stage.tell(user, '0x1', `"n":${n}`);
  const heardAfter = (sequence: string) => {
    socket.sent.length = 0;
    channel.message(Buffer.from(JSON.stringify({ type: 'user', stream_id, sequence })));
    const [{ missed }, ...events] = socket.sent.map((text) => JSON.parse(text));
    return [missed, ...events.map(({ n }) => n)];
  };
  const [, second, , fourth] = stage.users.since(user, undefined, endOf(0))!;
  assert.deepEqual(heardAfter(second!.ofUser!.sequence), ['2', 3, 4]);
  assert.deepEqual(heardAfter(fourth!.ofUser!.sequence), ['0']);
  assert.deepEqual([...socket.joined], [stream_id], 'and it goes on from there');
});

test('a book that is due is sent before any later requests', () => {
  const stage = new FeedStage();
  stage.run({ kind: 'at', time: 1_000 });
  stage.run({ kind: 'market', condition: 1, outcomes: 2, ...TERMS });
  stage.endBatch();
  stage.flush();
  const socket = new FakeSocket();
  const connection = new MarketConnection(
    { tables: stage.t, texts: stage.texts, feed: stage.market },
    common(socket),
  );
  const { asset_id } = JSON.parse(String(stage.books.render(1 as TokenRow)));
  const subscribe = { type: 'market', assets_ids: [asset_id] };
  socket.unread = LIMITS.backpressureBytes;
  connection.message(Buffer.from(JSON.stringify(subscribe)));
  const more = { initial_dump: false, custom_feature_enabled: true };
  connection.message(Buffer.from(JSON.stringify({ ...subscribe, ...more })));
  socket.unread = 0;
  connection.drained();
  assert.equal(socket.sent.length, 1);
});

test('a subscription to markets without messages stores nothing', () => {
  const stage = new FeedStage();
  stage.run({ kind: 'at', time: 1_000 });
  for (let condition = 1; condition <= MARKETS; condition++) {
    stage.run({ kind: 'market', condition, outcomes: 2, ...TERMS });
  }
  stage.endBatch();
  stage.flush();
  const slots = Array.from({ length: MARKETS }, (_, i) => (2 * i + 1) as TokenRow);
  const markets = slots.map((tokenRow) => JSON.parse(String(stage.books.render(tokenRow))).market);
  const socket = new FakeSocket();
  const channel = userChannel(stage, socket, MARKETS);
  const auth = { apiKey: 'key' };
  channel.message(Buffer.from(JSON.stringify({ type: 'user', auth, markets, resume: [] })));
  assert.equal(socket.joined.size, MARKETS);
  const user = stage.users.find(new Int32Array(5).fill(0x07070707), 0)!;
  stage.tell(user, markets[0], '"n":1');
  channel.closed();
  const streams: Map<string, unknown> = Reflect.get(user, 'markets');
  assert.deepEqual([...streams.keys()], [markets[0]], 'the one in which something happened');
  assert.equal(user.joined.size, 0);
});
