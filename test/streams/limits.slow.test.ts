import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { lastBatch } from '../../engine/reads.ts';
import { send, until } from '../common/node-harness.ts';
import { Opcode, SocketClient } from '../common/socket-client.ts';
import { LIMITS, SocketStage } from './socket-stage.ts';
import { assertFits, type Json } from './stream-node.ts';

/** Rounds of half a mebibyte: more than the two ends of a connection buffer. */
const ROUNDS = 40;

const MIB = 2 ** 20;
const CROWD = 6;

const stage = new SocketStage();
const clients: SocketClient[] = [];

await stage.open();
stage.markets(4);
after(() => stage.stop());

/** Waits until the server has no open connection; it notices cuts a moment later. */
async function cutAll(): Promise<void> {
  for (const client of clients.splice(0)) client.cut();
  await until(() => stage.streams.facts().clients === 0);
}

async function connected(path = '/ws/market'): Promise<SocketClient> {
  const client = await SocketClient.open(stage, path);
  clients.push(client);
  return client;
}

test('PING in any case is answered PONG, a protocol ping by a pong', async () => {
  await cutAll();
  const client = await connected();
  for (const text of ['PING', 'ping', 'Ping']) {
    client.send(text);
    assert.equal(await client.next(), 'PONG');
  }
  client.frame(Opcode.ping, Buffer.from('are you there'));
  await until(() => client.controls.length > 0);
  assert.deepEqual(client.controls, [{ opcode: Opcode.pong, text: 'are you there' }]);
});

test('an invalid message is answered invalid_message, and the connection stays', async () => {
  await cutAll();
  for (const path of ['/ws/market', '/ws/user']) {
    const client = await connected(path);
    const type = path.slice(4);
    for (const message of [
      '{',
      '[]',
      'null',
      '"PING"',
      {},
      { assets_ids: [] },
      { type: 'other' },
      { type, operation: 'destroy' },
      { type, markets: 'all' },
      { type: 7 },
    ]) {
      client.send(message);
      const problem = await client.json();
      assert.equal(problem.error, 'invalid_message', JSON.stringify(message));
      assertFits(problem);
    }
    client.send('PING');
    assert.equal(await client.next(), 'PONG');
  }
});

test('a message that is too long cuts the connection', async () => {
  await cutAll();
  const client = await connected();
  client.send({ type: 'market', assets_ids: ['1'.repeat(16_000)] });
  assert.deepEqual(await client.upToNow(), []);
  client.send({ type: 'market', assets_ids: ['1'.repeat(20_000)] });
  assert.equal((await client.ended()).code, 1006);
});

test('one token too many is refused together with all others of the message', async () => {
  await cutAll();
  const client = await connected();
  const tokens = [1, 2, 3, 4, 5].map((slot) => stage.token(slot));
  client.send({ type: 'market', assets_ids: tokens });
  assert.equal((await client.json()).error, 'too_many_subscriptions');
  client.send({ type: 'market', assets_ids: tokens.slice(0, 4) });
  assert.equal((await client.upToNow()).length, 4);
  client.send({ type: 'market', assets_ids: tokens.slice(0, 4) });
  assert.equal((await client.upToNow()).length, 4, 'those that it has do not count again');
  client.send({ operation: 'unsubscribe', assets_ids: tokens.slice(0, 1) });
  client.send({ operation: 'subscribe', assets_ids: tokens.slice(4) });
  assert.deepEqual(
    (await client.upToNow()).map(({ asset_id }) => asset_id),
    [tokens[4]],
  );
});

test('one connection too many is refused with 503, and a plain GET with 426', async () => {
  await cutAll();
  for (let i = 0; i < LIMITS.connectionsMax; i++) await connected(i === 0 ? '/ws/user' : undefined);
  await assert.rejects(SocketClient.open(stage, '/ws/market'), /503/);
  clients.pop()!.cut();
  await until(async () => {
    try {
      await connected('/ws/user');
      return true;
    } catch {
      return false;
    }
  });
  const { json, status } = await send(stage, 'GET', '/ws/market');
  assert.deepEqual(
    [status, json],
    [426, { error: 'websocket upgrade required', code: 'UPGRADE_REQUIRED' }],
  );
  assert.equal((await send(stage, 'POST', '/ws/user')).status, 426);
});

test('a silent connection is closed, and a ping of either kind keeps it open', async () => {
  await cutAll();
  const silent = await connected();
  const texts = await connected();
  const pings = await connected('/ws/user');
  pings.send({ type: 'user', auth: stage.auth(1) });
  assert.deepEqual(await pings.upToNow(), []);
  // A clock that is set anew has nothing to do with it.
  stage.clock += 86_400_000;
  stage.elapsed += (LIMITS.idleSeconds - 1) * 1_000;
  texts.send('PING');
  pings.frame(Opcode.ping, Buffer.alloc(0));
  assert.equal(await texts.next(), 'PONG');
  await until(() => pings.controls.length > 0);
  stage.elapsed += 2_000;
  assert.deepEqual(await silent.ended(), {
    code: 1001,
    reason: 'nothing was heard for 120 seconds',
  });
  for (const client of [texts, pings]) {
    client.send('PING');
    assert.equal(await client.next(), 'PONG');
  }
});

test('a slow reader is closed with a reason after its unread messages, and others miss nothing', async () => {
  await cutAll();
  const token = 7;
  const slow = await connected();
  const quick = await connected();
  for (const client of [slow, quick]) {
    client.send({ type: 'market', assets_ids: [stage.token(token)] });
    await client.upToNow();
  }
  slow.stopReading();
  let sent = 0;
  const big = 'x'.repeat(64 * 1024);
  const closed = (): number => stage.streams.facts().closes.get('slow_reader')!;
  const before = closed();
  // Frames of the book's own stream, only longer than an order makes them. What waits for a closed one is
  // thrown away after a while, so it is read as soon as the client is closed.
  for (let round = 0; round < ROUNDS && closed() === before; round++) {
    for (let i = 0; i < 8; i++) {
      stage.server!.publish(`asset ${token}`, Buffer.from(`{"n":${sent},"x":"${big}"}`));
      sent += 1;
    }
    stage.elapsed += 100;
    stage.order(1, token, 'BUY', 40, 1);
    stage.flushAll();
    quick.send('PING');
    await until(() => quick.texts.filter((text) => text === 'PONG').length > round);
  }
  slow.readOn();
  const { code, reason } = await slow.ended();
  assert.equal(code, 1013);
  assert.match(reason, /^slow reader: \d+ bytes are waiting$/);
  const numbers = (texts: readonly string[]): unknown[] =>
    texts.map((text) => (JSON.parse(text) as Json).n).filter((n) => n !== undefined);
  const got = numbers(slow.texts);
  assert.deepEqual(
    got,
    got.map((_, i) => i),
    'without a gap up to its end',
  );
  assert(got.length > 16, 'what fitted was sent');
  const all = numbers(quick.texts.filter((text) => text !== 'PONG'));
  assert.deepEqual(
    all,
    Array.from({ length: sent }, (_, i) => i),
  );
});

test('all readers share a bound: the slowest are cut first, and a client that reads stays', async () => {
  const backlogMax = 8 * MIB;
  const limits = { ...LIMITS, connectionsMax: CROWD + 1, backpressureBytes: 16 * MIB };
  const crowded = new SocketStage(limits);
  await crowded.open(backlogMax);
  crowded.markets(4);
  const slow: SocketClient[] = [];
  try {
    for (let i = 0; i < CROWD; i++) slow.push(await SocketClient.open(crowded, '/ws/market'));
    const quick = await SocketClient.open(crowded, '/ws/market');
    for (const client of [...slow, quick]) {
      client.send({ type: 'market', assets_ids: [crowded.token(7)] });
      await client.upToNow();
    }
    for (const client of slow) client.stopReading();
    const frame = Buffer.from('x'.repeat(256 * 1024));
    // What the two ends of a connection hold between them comes before anything waits.
    for (let round = 1; crowded.lines.length === 0 && round <= 100; round++) {
      crowded.server!.publish('asset 7', frame);
      quick.send('PING');
      await until(() => quick.texts.filter((got) => got === 'PONG').length === round);
    }
    const cut = crowded.lines.map((line) => {
      const [, bytes, count] = /: (\d+) bytes waited for all readers: .* (\d+) of/.exec(line)!;
      assert(Number(bytes) <= 1.125 * backlogMax + 2 * CROWD * frame.length, line);
      return Number(count);
    });
    const all = cut.reduce((sum, count) => sum + count, 0);
    assert(all > 0 && all < CROWD, `as many as had to be were cut: ${all}`);
    for (const client of slow) client.readOn();
    await until(() => slow.filter(({ closed }) => closed !== undefined).length === all);
    assert(slow.every(({ closed }) => closed === undefined || closed.code === 1006));
    for (const client of [quick, ...slow.filter(({ closed }) => closed === undefined)]) {
      client.texts.length = 0;
      assert.deepEqual(await client.upToNow().catch(() => []), [], 'it missed nothing and stays');
    }
  } finally {
    for (const client of slow) client.cut();
    await crowded.stop();
  }
});

test('a closed client that does not read counts in the total until its socket is closed', async () => {
  const limits = { ...LIMITS, connectionsMax: CROWD, backpressureBytes: 2 * MIB };
  const crowded = new SocketStage(limits);
  await crowded.open(6 * MIB);
  crowded.markets(4);
  const slow: SocketClient[] = [];
  try {
    // One after another is closed alone, with little more waiting than the bound of one.
    while (slow.length < CROWD && crowded.lines.length === 0) {
      const client = await SocketClient.open(crowded, '/ws/market');
      slow.push(client);
      client.send({ type: 'market', assets_ids: [crowded.token(7)] });
      await client.upToNow();
      client.stopReading();
      for (let round = 1; round <= 64; round++) {
        crowded.server!.publish('asset 7', Buffer.from('x'.repeat(256 * 1024)));
        await new Promise((resolve) => setImmediate(resolve));
        crowded.elapsed += 100;
        crowded.order(1, 7, 'BUY', 40, 1);
        crowded.flushAll();
      }
    }
    assert(slow.length > 2, 'one or two of them are not too many');
    assert.match(crowded.lines.join(), /bytes waited for all readers/);
  } finally {
    for (const client of slow) client.cut();
    await crowded.stop();
  }
});

test('a batch whose events are incomplete, or cannot be read, makes every client begin anew', async () => {
  await cutAll();
  const batch = { time: 0, commands: new Int32Array(0), commandsF: new Float64Array(0) };
  const broken = Int32Array.of(99, 0, 0, 0, 0, 0, 0, 0);
  for (const [isWhole, code] of [
    [false, 1013],
    [true, 1011],
  ] as const) {
    const market = await connected();
    const user = await connected('/ws/user');
    market.send({ type: 'market', assets_ids: [stage.token(1)] });
    user.send({ type: 'user', auth: stage.auth(1), resume: [] });
    const place = await user.json();
    await market.upToNow();
    const events = { events: broken, eventsF: new Float64Array(broken.buffer) };
    const sequence = lastBatch(stage.t) + (isWhole ? 2 : 1);
    stage.streams.flushed({ sequence, endFill: 0, ...batch, ...events, isWhole });
    assert.equal((await market.ended()).code, code);
    assert.equal((await user.ended()).code, code);
    const again = await connected('/ws/user');
    const resume = [{ stream_id: place.stream_id, sequence: place.sequence }];
    again.send({ type: 'user', auth: stage.auth(1), resume });
    assert.equal((await again.json()).error, 'resume_unavailable');
    const anew = await connected();
    anew.send({ type: 'market', assets_ids: [stage.token(1)] });
    assert.equal((await anew.json()).event_type, 'book');
    await cutAll();
  }
  assert.match(stage.lines.join(), /an event has a known kind/);
});

test('clients get the reason when the node stops', async () => {
  await cutAll();
  const other = new SocketStage();
  await other.open();
  const client = await SocketClient.open(other, '/ws/market');
  await other.stop();
  assert.deepEqual(await client.ended(), { code: 1001, reason: 'the node is stopping' });
});
