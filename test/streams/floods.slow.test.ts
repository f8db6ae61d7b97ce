import assert from 'node:assert/strict';
import test, { after, beforeEach } from 'node:test';
import { until } from '../common/node-harness.ts';
import { Opcode, SocketClient } from '../common/socket-client.ts';
import { LIMITS, SocketStage } from './socket-stage.ts';
import { ofType } from './stream-node.ts';

const MARKETS = 15;
const OUTCOMES = 4;
const TOKENS = MARKETS * OUTCOMES;
const WINDOW_MS = 10_000;

/** Names of a subscription: within LIMITS.subscriptionsMax, which is below the assumed minimum. */
const NAMES = 500;
const AT_ONCE = 2 * NAMES;

const PING = Buffer.from('PING');

const stage = new SocketStage({ ...LIMITS, subscriptionsMax: TOKENS, connectionsMax: 32 });
await stage.open();
stage.markets(MARKETS, OUTCOMES);
const tokens = Array.from({ length: TOKENS }, (_, i) => stage.token(i + 1));
const unknown = Array.from({ length: NAMES }, (_, i) => String(1_000_000_000 + i));
const clients: SocketClient[] = [];

beforeEach(() => {
  for (const client of clients.splice(0)) client.cut();
  // Every window has ended.
  stage.elapsed += WINDOW_MS;
});
after(async () => {
  for (const client of clients) client.cut();
  await stage.stop();
});

async function connected(path = '/ws/market'): Promise<SocketClient> {
  const client = await SocketClient.open(stage, path);
  clients.push(client);
  return client;
}

async function assertAnswers(client: SocketClient): Promise<void> {
  client.send('PING');
  assert.equal(await client.next(), 'PONG');
}

for (const [name, opcode, payload] of [
  ['PING texts', Opcode.text, PING],
  ['protocol pings', Opcode.ping, Buffer.alloc(0)],
  ['protocol pongs', Opcode.pong, Buffer.alloc(0)],
] as const) {
  test(`a flood of ${name} is closed at the bound of an event-loop iteration, with any rest of the receive`, async () => {
    const counted = stage.streams.facts().closes.get('connection_turn_messages')!;
    const other = await connected();
    const client = await connected();
    client.burst(opcode, payload, 40_000);
    assert.deepEqual(await client.ended(), {
      code: 1008,
      reason: `more than ${AT_ONCE} messages at once on one connection`,
    });
    const answers =
      client.texts.length + client.controls.filter((c) => c.opcode === Opcode.pong).length;
    // What came in turns before the one that was too much has been answered too.
    assert(answers <= 4 * AT_ONCE, `${answers} answers`);
    await assertAnswers(other);
    assert.equal(stage.streams.facts().closes.get('connection_turn_messages'), counted + 1);
  });
}

test('messages are bounded in ten seconds, and the count begins anew afterwards', async () => {
  const client = await connected();
  const send = async (count: number): Promise<void> => {
    const before = client.texts.length;
    for (let sent = 0; sent < count; sent += 100) {
      client.burst(Opcode.text, PING, 100);
      await until(() => client.texts.length === before + sent + 100 || client.closed !== undefined);
    }
  };
  await send(4 * NAMES);
  stage.elapsed += WINDOW_MS;
  await send(4 * NAMES);
  assert.equal(client.closed, undefined);
  client.send('PING');
  assert.deepEqual(await client.ended(), {
    code: 1008,
    reason: `more than ${4 * NAMES} messages in 10 seconds on one connection`,
  });
});

for (const [name, ids] of [
  ['unknown tokens', unknown],
  ['known tokens', [...tokens, ...tokens, ...tokens, ...tokens].slice(0, NAMES / 4)],
] as const) {
  test(`messages of ${ids.length} ${name} have a bound of names to look up`, async () => {
    const client = await connected();
    for (let sent = 0; sent < 20 * NAMES; sent += ids.length) {
      client.send({ type: 'market', assets_ids: ids });
      await client.upToNow();
    }
    client.send({ type: 'market', assets_ids: ids });
    assert.deepEqual(await client.ended(), {
      code: 1008,
      reason: `more than ${20 * NAMES} names to look up in 10 seconds on one connection`,
    });
  });
}

test('all connections of an address share a budget, which no new connection renews', async () => {
  for (let i = 0; i < 4; i++) {
    const client = await connected();
    for (let sent = 0; sent < 10; sent++) {
      client.send({ type: 'market', assets_ids: unknown });
      await client.upToNow();
    }
    client.cut();
  }
  const client = await connected();
  client.send({ type: 'market', assets_ids: ['1'] });
  assert.deepEqual(await client.ended(), {
    code: 1008,
    reason: `more than ${2 * 20 * NAMES} names to look up in 10 seconds from one address`,
  });
});

test('the address behind a trusted proxy is that of the client', async () => {
  const proxied = new SocketStage({ ...LIMITS, callerFactor: 1 });
  await proxied.open(2 ** 28, 1);
  const from = async (address: string): Promise<SocketClient> => {
    const client = await SocketClient.open(proxied, '/ws/market', {
      header: `X-Forwarded-For: ${address}`,
    });
    clients.push(client);
    return client;
  };
  try {
    const first = await from('192.0.2.1');
    for (let sent = 0; sent < 20; sent++) {
      first.send({ type: 'market', assets_ids: unknown });
      await first.upToNow();
    }
    const second = await from('192.0.2.1');
    const other = await from('192.0.2.2');
    for (const client of [second, other]) client.send({ type: 'market', assets_ids: ['1'] });
    assert.match((await second.ended()).reason, /from one address$/);
    await assertAnswers(other);
  } finally {
    await proxied.stop();
  }
});

test('a client that reconnects and continues gets the reason three times, and is cut from then on', async () => {
  const codes: number[] = [];
  for (let i = 0; i < 5; i++) {
    const client = await connected();
    client.burst(Opcode.text, PING, 40_000);
    codes.push((await client.ended()).code);
  }
  assert.deepEqual(codes, [1008, 1008, 1008, 1006, 1006]);
});

test('a message that would take long to parse is refused unparsed, and the connection stays', async () => {
  const client = await connected();
  for (const text of [
    '['.repeat(20_000),
    `{"type":"market","assets_ids":${'['.repeat(9)}${']'.repeat(9)}}`,
    `{"type":"market","x":[${'{},'.repeat(6_000)}1]}`,
  ]) {
    client.send(text);
    const { detail, error } = await client.json();
    assert.deepEqual([error, detail], ['invalid_message', 'too many values, or too deep']);
  }
  client.send({ type: 'market', assets_ids: [tokens[0]], note: '[[[[[[[[[[ "\\" {{{{{{{{{{' });
  assert.equal((await client.json()).asset_id, tokens[0], 'brackets in a text are text');
});

test('a client that begins with a message for each token, or with many large ones, is not closed', async () => {
  const client = await connected();
  for (let i = 0; i < NAMES; i++) {
    client.send({ type: 'market', assets_ids: [tokens[i % TOKENS]] });
  }
  for (let i = 0; i < 8; i++) client.send({ type: 'market', assets_ids: unknown });
  const followed = new Set((await client.upToNow()).map(({ asset_id }) => asset_id));
  assert.equal(followed.size, TOKENS);
});

test('books that are sent in pieces agree with the changes that happen between the pieces', async () => {
  const client = await connected();
  client.send({ type: 'market', assets_ids: tokens });
  for (let i = 0; i < 40; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    stage.order(1, 1 + (i % TOKENS), 'BUY', 30 + (i % 7), 1);
    stage.flushAll();
  }
  await until(
    () =>
      ofType(
        client.texts.map((text) => JSON.parse(text)),
        'book',
      ).length >= TOKENS,
  );
  const events = await client.upToNow();
  while (ofType(events, 'book').length < TOKENS) events.push(await client.json());
  events.push(...(await client.upToNow()));
  const bids = new Map<string, Map<string, string>>();
  for (const event of events) {
    if (event.event_type === 'book') {
      const levels = event.bids as { price: string; size: string }[];
      bids.set(String(event.asset_id), new Map(levels.map(({ price, size }) => [price, size])));
    }
    if (event.event_type !== 'price_change') continue;
    const changes = event.price_changes as Record<string, string>[];
    for (const { asset_id, price, side, size } of changes) {
      if (side === 'BUY') bids.get(asset_id!)?.set(price!, size!);
    }
  }
  for (const [i, token] of tokens.entries()) {
    const book = JSON.parse(String(stage.books.render((i + 1) as never)));
    const expected = book.bids.map(({ price, size }: Record<string, string>) => [price, size]);
    assert.deepEqual([...bids.get(token)!].sort(), expected.sort(), token);
  }
});

test('/ws/user is closed after ten seconds without valid auth; a client with credentials stays', async () => {
  const none = await connected('/ws/user');
  const known = await connected('/ws/user');
  const market = await connected();
  known.send({ type: 'user', auth: stage.auth(1) });
  assert.deepEqual(await known.upToNow(), []);
  stage.elapsed += 9_000;
  none.send({ type: 'other' });
  assert.equal((await none.json()).error, 'invalid_message', 'to say something is not enough');
  stage.elapsed += 1_000;
  assert.deepEqual(await none.ended(), { code: 1008, reason: 'no valid auth within 10 seconds' });
  for (const client of [known, market]) await assertAnswers(client);
  assert.equal(stage.streams.facts().closes.get('no_auth'), 1);
});
