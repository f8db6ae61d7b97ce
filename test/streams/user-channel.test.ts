import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { until } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { LIMITS, READ_ONLY_KEY, SocketStage } from './socket-stage.ts';
import { assertFits, type Json } from './stream-node.ts';

const EVENTS_MAX = 100;
const [ALICE, BOB, CAROL] = [1, 2, 3] as const;
const stage = new SocketStage({ ...LIMITS, connectionsMax: 100 }, EVENTS_MAX);

await stage.open();
stage.markets(4);
after(() => stage.stop());

async function joined(wallet: number, more: Json = {}): Promise<SocketClient> {
  const client = await SocketClient.open(stage, '/ws/user');
  client.send({ type: 'user', auth: stage.auth(wallet), ...more });
  return client;
}

/** Messages of a trade of Alice, whose order rests, and Bob, in a market. */
function trade(market: number, shares = 10): void {
  const token = 2 * market - 1;
  stage.order(ALICE, token, 'SELL', 40, shares);
  stage.order(BOB, token, 'BUY', 40, shares);
  stage.flushAll();
}

/** Checks that no message of the stream is missing between two. */
function assertFollows(events: readonly Json[]): void {
  assert.deepEqual(
    events.slice(1).map(({ previous }) => previous),
    events.slice(0, -1).map(({ sequence }) => sequence),
  );
}

test('both sides get an order, its trades and its end, with the fields that clients read', async () => {
  const [alice, bob] = [await joined(ALICE), await joined(BOB)];
  await Promise.all([alice.upToNow(), bob.upToNow()]);
  trade(1);
  const events = await alice.upToNow();
  for (const event of events) assertFits(event);
  assert.deepEqual(
    events.map(({ event_type, size_matched, status, type }) => [
      event_type,
      type,
      status,
      size_matched,
    ]),
    [
      ['order', 'PLACEMENT', 'LIVE', '0'],
      ['trade', 'TRADE', 'MATCHED', undefined],
      ['trade', 'TRADE', 'CONFIRMED', undefined],
      ['order', 'UPDATE', 'MATCHED', '10'],
    ],
  );
  const { apiKey } = stage.auth(ALICE);
  const [placed, matched, , over] = events;
  assert.deepEqual(
    [placed!.owner, placed!.order_owner, placed!.associate_trades],
    [KEY, KEY, null],
  );
  assert.deepEqual(over!.associate_trades, [matched!.id]);
  assert.match(String(placed!.timestamp), /^\d{13}$/);
  assert.match(String(placed!.created_at), /^\d{10}$/);
  assert.deepEqual([matched!.trader_side, matched!.side, matched!.size], ['MAKER', 'BUY', '10']);
  assert.equal(matched!.owner, KEY, 'of the order, which is a key of hers');
  assert.notEqual(apiKey, KEY);
  const [maker] = matched!.maker_orders as Json[];
  assert.deepEqual([maker!.order_id, maker!.side, maker!.owner], [placed!.id, 'SELL', KEY]);
  const [, taken] = (await bob.upToNow()).filter((event) => {
    assertFits(event);
    return true;
  });
  assert.deepEqual([taken!.trader_side, taken!.id], ['TAKER', matched!.id]);
  const nil = '00000000-0000-0000-0000-000000000000';
  assert.equal((taken!.maker_orders as Json[])[0]!.owner, nil, "no client gets another's key");
  assertFollows(events);
  for (const client of [alice, bob]) client.cut();
});

test('a connection waits for a key that another node has just issued, and later messages keep their order', async () => {
  let arrive = (): void => undefined;
  const promise = new Promise<void>((resolve) => (arrive = resolve));
  const auth = stage.auth(CAROL);
  stage.revoked.add(auth.apiKey);
  const asked: (() => boolean)[] = [];
  stage.keyComes = (isKnown) => {
    asked.push(isKnown);
    return promise;
  };
  const wrong = { ...auth, apiKey: auth.apiKey.replace(/.$/, 'x') };
  const [client, stranger, gone] = await Promise.all(
    [1, 2, 3].map(() => SocketClient.open(stage, '/ws/user')),
  );
  client!.send({ type: 'user', auth });
  client!.send('PING');
  client!.send({ type: 'user', operation: 'subscribe', markets: 1 });
  stranger!.send({ type: 'user', auth: wrong });
  gone!.send({ type: 'user', auth });
  // Other connections go on meanwhile.
  const other = await joined(ALICE);
  await other.upToNow();
  await until(async () => asked.length === 3);
  gone!.cut();
  assert.deepEqual(
    [client!.texts, stranger!.texts, asked.map((isKnown) => isKnown())],
    [[], [], [false, false, false]],
  );
  stage.revoked.delete(auth.apiKey);
  assert.deepEqual(asked.map((isKnown) => isKnown()).sort(), [false, true, true]);
  arrive();
  assert.equal((await stranger!.json()).error, 'invalid_auth');
  assert.equal(await client!.next(), 'PONG');
  assert.equal((await client!.json()).error, 'invalid_message');
  stage.order(CAROL, 1, 'SELL', 60, 10);
  stage.flushAll();
  assert.equal((await client!.json()).type, 'PLACEMENT');
  stage.keyComes = () => undefined;
  for (const each of [client!, other]) each.cut();
});

const KEY = '00000001-0000-0002-0000-000300000001';

test('wrong credentials and missing ones have different texts; wrong ones end the connection', async () => {
  const { apiKey, passphrase, secret } = stage.auth(ALICE);
  const other = stage.auth(BOB);
  for (const auth of [
    undefined,
    { apiKey: other.apiKey.replace(/.$/, 'x'), secret, passphrase },
    { apiKey, secret: other.secret, passphrase },
    { apiKey, secret, passphrase: other.passphrase },
    { apiKey, secret, passphrase: '' },
    { apiKey, secret: '', passphrase },
    { secret, passphrase },
    { apiKey },
    { apiKey: READ_ONLY_KEY, secret, passphrase },
  ]) {
    const client = await SocketClient.open(stage, '/ws/user');
    client.send({ type: 'user', ...(auth && { auth }) });
    const problem = await client.json();
    assertFits(problem);
    assert.equal(problem.error, 'invalid_auth', JSON.stringify(auth));
    assert.deepEqual(await client.ended(), { code: 1008, reason: 'invalid_auth' });
  }
  const client = await SocketClient.open(stage, '/ws/user');
  const spelled = { apikey: apiKey.toUpperCase(), secret, passphrase: passphrase.toUpperCase() };
  client.send({ type: 'user', auth: spelled, markets: [], assets_ids: [] });
  assert.deepEqual(await client.upToNow(), []);
  client.send({ type: 'user', auth: other });
  assert.equal((await client.json()).error, 'invalid_auth', 'a connection belongs to one wallet');
  await client.ended();
});

test('a read-only key is shown by itself, and gets the same messages', async () => {
  const client = await SocketClient.open(stage, '/ws/user');
  client.send({ type: 'user', auth: { apiKey: READ_ONLY_KEY.toUpperCase() } });
  assert.deepEqual(await client.upToNow(), []);
  trade(1);
  assert.equal((await client.upToNow()).length, 4);
  client.cut();
});

test('a key that is revoked loses its connection', async () => {
  const client = await joined(CAROL);
  await client.upToNow();
  stage.revoked.add(stage.auth(CAROL).apiKey);
  assert.deepEqual(await client.ended(), { code: 1008, reason: 'the API key was revoked' });
});

test('a client that reconnects gets missed messages, then later ones, without a gap', async () => {
  const first = await joined(ALICE, { resume: [] });
  const resumed = await first.json();
  assertFits(resumed);
  trade(1);
  const seen = await first.upToNow();
  assertFollows(seen);
  assert(String(seen[0]!.previous) <= String(resumed.sequence));
  const { sequence, stream_id } = seen.at(-1)!;
  assert.equal(stream_id, resumed.stream_id);
  first.cut();
  // Eight events a trade, Bob's counted: nearly all that is stored.
  for (let i = 0; i < 12; i++) trade(2);
  const again = await joined(ALICE, { stream_id, sequence });
  const answer = await again.json();
  assert.deepEqual([answer.event_type, answer.missed], ['resumed', '48']);
  trade(3);
  // A PING is answered behind the first thirty of them or so.
  const events: Json[] = [];
  while (events.length < 52) events.push(...(await again.upToNow()));
  assert.equal(events.length, 52);
  assertFollows([seen.at(-1)!, ...events]);
  for (const event of events) assertFits(event);
  again.cut();
});

test('a cursor that is too old, ahead of the log or of no stream is refused', async () => {
  const client = await joined(ALICE, { resume: [] });
  const { sequence, stream_id } = await client.json();
  client.cut();
  const [id, last] = [String(stream_id), String(sequence)];
  for (let i = 0; i < EVENTS_MAX / 4; i++) trade(1);
  for (const place of [
    { stream_id: id, sequence: '0' },
    { stream_id: id, sequence: String(BigInt(last) * 1000n) },
    { stream_id: id, sequence: `${last}0` },
    { stream_id: `${id}x`, sequence: last },
    { stream_id: id.replace(/:[^:]+$/, ':mf3k9x.1'), sequence: '7' },
  ]) {
    const back = await joined(ALICE, { resume: [place] });
    const problem = await back.json();
    assertFits(problem);
    assert.equal(problem.error, 'resume_unavailable');
    // It goes on from there all the same.
    trade(2);
    const [next] = await back.upToNow();
    assert(String(next!.previous) <= String(problem.sequence));
    assert(String(next!.sequence) > String(problem.sequence));
    back.cut();
  }
  const half = await joined(ALICE, { stream_id: id });
  assert.equal((await half.json()).error, 'invalid_message');
  half.cut();
});

test('a client that names markets gets their messages alone, numbered by market, and may change them', async () => {
  const markets = [1, 2, 3].map((market) => stage.condition(2 * market - 1));
  const client = await joined(ALICE, { markets: [markets[0], '0x1'], resume: [] });
  const place = await client.json();
  assert.match(String(place.stream_id), new RegExp(`:${markets[0]}:`));
  trade(2);
  trade(1);
  const events = await client.upToNow();
  assert.deepEqual(new Set(events.map(({ market }) => market)), new Set([markets[0]]));
  assertFollows(events);
  assert(String(events[0]!.previous) <= String(place.sequence));
  client.send({ operation: 'subscribe', markets: [markets[1]!.toUpperCase().replace('0X', '0x')] });
  client.send({ operation: 'unsubscribe', markets: [markets[0]] });
  await client.upToNow();
  trade(1);
  trade(2);
  trade(3);
  const later = await client.upToNow();
  assert.deepEqual(new Set(later.map(({ market }) => market)), new Set([markets[1]]));
  client.send({ type: 'user', markets: [] });
  await client.upToNow();
  trade(1);
  trade(3);
  const all = await client.upToNow();
  assert.deepEqual(new Set(all.map(({ market }) => market)), new Set([markets[0], markets[2]]));
  assert.equal(new Set(all.map(({ stream_id }) => stream_id)).size, 1);
  client.send({ operation: 'unsubscribe' });
  await client.upToNow();
  trade(1);
  assert.deepEqual(await client.upToNow(), []);
  client.cut();
});

test('two cursors are resumed in one message, each stream by itself', async () => {
  const markets = [1, 2].map((market) => stage.condition(2 * market - 1));
  const client = await joined(ALICE, { markets, resume: [] });
  const places = [await client.json(), await client.json()];
  client.cut();
  trade(1);
  trade(2);
  trade(3);
  const back = await joined(ALICE, {
    markets,
    resume: places.map(({ sequence, stream_id }) => ({ sequence, stream_id })),
  });
  const events = await back.upToNow();
  const counts = events.filter(({ event_type }) => event_type === 'resumed');
  assert.deepEqual(
    counts.map(({ missed }) => missed),
    ['4', '4'],
  );
  for (const place of places) {
    const own = events.filter(
      (event) => event.stream_id === place.stream_id && !('missed' in event),
    );
    assert.equal(own.length, 4);
    assertFollows(own);
  }
  back.cut();
});
