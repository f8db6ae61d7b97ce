import assert from 'node:assert/strict';
import test from 'node:test';
import { BookMirror } from '../../server/paper/book-mirror.ts';
import { SourceApi } from '../../server/paper/source-api.ts';
import { SourceStream } from '../../server/paper/source-stream.ts';
import { until } from '../common/node-harness.ts';
import { FakeVenue } from './fake-source.ts';
import { MirroredEngine } from './mirrored-engine.ts';

function usual(venue: FakeVenue, token: string): void {
  venue.change(token, [
    ['BUY', '0.4', '100'],
    ['BUY', '0.39', '250.5'],
    ['SELL', '0.43', '80'],
  ]);
}

function withPlaces(venue: FakeVenue, token: string): void {
  venue.hasPlaces = true;
  usual(venue, token);
}

/** Loses a change and sends the next one, which shows the gap. */
function miss({ token, venue }: MirroredEngine, size: string): void {
  venue.change(token, [['BUY', '0.41', size]], { isSilent: true });
  venue.lose(token);
  venue.change(token, [['BUY', '0.38', size]]);
}

test('changes of both forms are followed, and a level of size 0 is gone', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual);
  const { token, venue } = mirrored;
  venue.change(token, [['SELL', '0.42', '12.345678']]);
  venue.change(token, [['BUY', '0.4', '0']], { isOld: true });
  await mirrored.equal();
  assert.deepEqual(mirrored.levels(), {
    bids: ['250.5@0.39'],
    asks: ['12.345678@0.42', '80@0.43'],
  });
  assert.equal(mirrored.venue.connections, 2);
});

test('a stream cursor that shows a missed message leads to a snapshot', async (t) => {
  const mirrored = await MirroredEngine.start(t, withPlaces);
  const { token, venue } = mirrored;
  venue.change(token, [['BUY', '0.38', '1']]);
  await mirrored.equal();
  venue.change(token, [['BUY', '0.41', '77']], { isSilent: true });
  venue.lose(token);
  venue.change(token, [['BUY', '0.38', '2']]);
  await mirrored.equal();
  assert.equal(mirrored.staleCount('gap'), 1);
  assert(mirrored.levels().bids.includes('77@0.41'));
});

test('a damaged message leads to another connection, which begins with whole books', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual);
  const { token, venue } = mirrored;
  const damaged = [
    '{"event_type":"price_ch',
    '[7]',
    JSON.stringify({ event_type: 'book', asset_id: token, timestamp: '1' }),
    JSON.stringify({
      event_type: 'price_change',
      asset_id: token,
      timestamp: '1',
      changes: [{ side: 'BUY', price: '1.5', size: '1' }],
    }),
    ...['9007199254740991', '4102444800000', '-5'].map((timestamp) =>
      JSON.stringify({
        event_type: 'price_change',
        asset_id: token,
        timestamp,
        changes: [{ side: 'BUY', price: '0.4', size: '1' }],
      }),
    ),
  ];
  for (const [i, text] of damaged.entries()) {
    venue.change(token, [['BUY', '0.37', String(10 + i)]], { isSilent: true });
    venue.sendText(token, text);
    await until(() => mirrored.staleCount('damaged') === i + 1);
    await mirrored.equal();
  }
});

test('a wrong hash is noticed when the source makes hashes by the same rule, and only then', async (t) => {
  const mirrored = await MirroredEngine.start(t, (venue, token) => {
    venue.makesHashes = true;
    usual(venue, token);
  });
  const { token, venue } = mirrored;
  const reconnected = async (): Promise<void> => {
    const asked = venue.snapshots;
    venue.dropConnections();
    await until(() => venue.snapshots > asked);
    await mirrored.equal();
  };
  // The rule is known from the snapshots of a connection.
  await reconnected();
  await until(() => {
    venue.sendBook(token, { hash: '0'.repeat(40) });
    return mirrored.staleCount('hash') > 0;
  });
  await mirrored.equal();
  venue.makesHashes = false;
  await reconnected();
  const stale = mirrored.staleCount('hash');
  venue.sendBook(token, { hash: '0'.repeat(40) });
  venue.change(token, [['BUY', '0.4', '5']]);
  await mirrored.equal();
  assert.equal(mirrored.staleCount('hash'), stale);
});

test('a crossed source is paused while its snapshots are crossed too, and its levels are withdrawn', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual, { graceMs: 100 });
  const { token, venue } = mirrored;
  venue.change(token, [['SELL', '0.4', '9']]);
  await until(() => mirrored.state === 'paused: crossed');
  await until(() => mirrored.levels().bids.length + mirrored.levels().asks.length === 0);
  venue.change(token, [['SELL', '0.4', '0']], { isSilent: true });
  await mirrored.equal();
  assert.equal(mirrored.state, 'live');
});

test('a source that is crossed for one message is resynchronised, and its other levels stay', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual);
  const { token, venue } = mirrored;
  venue.change(token, [['SELL', '0.39', '9']]);
  venue.change(token, [
    ['BUY', '0.4', '0'],
    ['BUY', '0.39', '0'],
    ['BUY', '0.3', '6'],
  ]);
  await mirrored.equal();
  assert.deepEqual(mirrored.levels(), { bids: ['6@0.3'], asks: ['80@0.43', '9@0.39'] });
});

test('a silent source is paused with its reason, and comes back', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual, { graceMs: 100, silenceMs: 500 });
  const { token, venue } = mirrored;
  venue.isMute = true;
  await until(() => mirrored.staleCount('silent') > 0);
  await until(() => mirrored.state.startsWith('paused'));
  await until(() => mirrored.levels().bids.length === 0);
  venue.change(token, [['BUY', '0.4', '3']], { isSilent: true });
  venue.unmute();
  await mirrored.equal();
});

test('a connection that soon returns withdraws no level', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual);
  const { token, venue } = mirrored;
  let isEmpty = false;
  const look = setInterval(() => {
    isEmpty ||= mirrored.levels().bids.length === 0;
  }, 1);
  t.after(() => clearInterval(look));
  venue.change(token, [['BUY', '0.4', '4']], { isSilent: true });
  venue.dropConnections();
  await until(() => mirrored.staleCount('disconnected') === 1);
  await mirrored.equal();
  assert.equal(isEmpty, false);
});

test('an answer older than the stream is requested again', async (t) => {
  const mirrored = await MirroredEngine.start(t, withPlaces);
  const { token, venue } = mirrored;
  let old = 2;
  venue.snapshot = (json) => {
    old -= 1;
    if (old < 0) return json;
    return { ...json, timestamp: '1750000000000', bids: [], asks: [] };
  };
  venue.change(token, [['BUY', '0.41', '8']]);
  venue.lose(token);
  venue.change(token, [['BUY', '0.38', '2']]);
  await mirrored.equal();
  assert(old < 0);
});

test('an answer that was requested before messages were missed does not replace them', async (t) => {
  const mirrored = await MirroredEngine.start(t, withPlaces);
  const { token, venue } = mirrored;
  venue.change(token, [['BUY', '0.38', '1']]);
  await mirrored.equal();
  let release = (): void => undefined;
  venue.held = new Promise((resolve) => {
    release = resolve;
  });
  const asked = venue.snapshots;
  miss(mirrored, '2');
  await until(() => venue.snapshots > asked);
  const { events } = mirrored.mirror.facts();
  miss(mirrored, '3');
  await until(() => mirrored.mirror.facts().events > events);
  release();
  await mirrored.equal();
  assert(mirrored.levels().bids.includes('3@0.41'));
});

test('a change of the tick pulls the catalog and takes a snapshot', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual);
  const { token, venue } = mirrored;
  venue.send(token, {
    event_type: 'tick_size_change',
    asset_id: token,
    market: 'x',
    timestamp: '1750000000001',
    old_tick_size: '0.01',
    new_tick_size: '0.001',
  });
  await until(() => mirrored.pulls === 1);
  assert.equal(mirrored.staleCount('tick'), 1);
  await mirrored.equal();
  // Until the catalog says so the book is on the coarser grid: a price goes away from the spread.
  venue.change(token, [['BUY', '0.405', '3']]);
  await until(() => mirrored.levels().bids.includes('103@0.4'));
});

test('a new market and a resolved one are polled soon', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual);
  mirrored.venue.tellAll({ event_type: 'new_market', market: 'x' });
  await until(() => mirrored.pulls === 1);
});

test('a source whose clock is behind after a restart is followed again', async (t) => {
  const mirrored = await MirroredEngine.start(t, withPlaces);
  const { token, venue } = mirrored;
  venue.change(token, [['BUY', '0.38', '1']]);
  miss(mirrored, '2');
  await until(() => mirrored.staleCount('gap') === 1);
  await mirrored.equal();
  // What it has said, and answered, is newer than all that comes.
  venue.pass(-60_000);
  venue.change(token, [['BUY', '0.38', '3']], { isSilent: true });
  venue.dropConnections();
  await until(() => mirrored.staleCount('disconnected') === 1);
  await mirrored.equal();
  venue.change(token, [['BUY', '0.38', '4']]);
  await mirrored.equal();
  miss(mirrored, '5');
  await until(() => mirrored.staleCount('gap') === 2);
  await mirrored.equal();
});

/** A time more than sixty years ahead, which a recording can have. */
const FAR = '3800000000000';

test('a message from the far future does not outrank later answers', async (t) => {
  const mirrored = await MirroredEngine.start(t, withPlaces);
  const { token, venue } = mirrored;
  venue.change(token, [['BUY', '0.37', '9']], { isSilent: true });
  const changes = [{ side: 'BUY', price: '0.37', size: '9' }];
  venue.send(token, { event_type: 'price_change', asset_id: token, timestamp: FAR, changes });
  await mirrored.equal();
  miss(mirrored, '3');
  await until(() => mirrored.staleCount('gap') === 1);
  await mirrored.equal();
  venue.change(token, [['BUY', '0.37', '8']]);
  await mirrored.equal();
});

test('an answer from the far future hides no later change', async (t) => {
  const mirrored = await MirroredEngine.start(t, withPlaces);
  const { token, venue } = mirrored;
  venue.change(token, [['BUY', '0.38', '1']]);
  await mirrored.equal();
  let isFar = true;
  venue.snapshot = (json) => (isFar ? { ...json, timestamp: FAR } : json);
  miss(mirrored, '3');
  await until(() => mirrored.staleCount('gap') === 1 && mirrored.state === 'live');
  venue.change(token, [['BUY', '0.38', '4']]);
  await until(() => mirrored.staleCount('time') > 0);
  isFar = false;
  await mirrored.equal();
  venue.change(token, [['BUY', '0.38', '5']]);
  await mirrored.equal();
});

test('a list without an end is given up', async (t) => {
  const venue = await FakeVenue.start(t);
  venue.repeatsPages = true;
  const api = new SourceApi(venue.url, venue.url, new AbortController().signal);
  await assert.rejects(api.marketsBy('tag_slug', ['all']), /the list does not end/);
});

test('a source that names more streams than its tokens have loses its connection', async (t) => {
  const venue = await FakeVenue.start(t);
  const lost: string[] = [];
  const stream = new SourceStream(venue.streamUrl, {
    opened: () => undefined,
    event: () => undefined,
    lost: (reason) => void lost.push(reason),
  });
  t.after(() => stream.close());
  await until(() => stream.isFollowing);
  const place = { sequence: '1', previous: '0' };
  venue.tellAll(Array.from({ length: 5_000 }, (_, i) => ({ stream_id: `${i}`, ...place })));
  await until(() => lost.includes('damaged'));
  await until(() => venue.connections === 2);
});

test('a source does not count as silent when this process stood still', async (t) => {
  const venue = await FakeVenue.start(t);
  const lost: string[] = [];
  let events = 0;
  const stream = new SourceStream(
    venue.streamUrl,
    {
      opened: () => undefined,
      event: () => {
        events += 1;
      },
      lost: (reason) => void lost.push(reason),
    },
    { pingMs: 200, silenceMs: 1_000, againMs: 100 },
  );
  t.after(() => stream.close());
  await until(() => stream.isFollowing);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
  venue.tellAll({ event_type: 'new_market', market: 'x' });
  await until(() => events > 0);
  assert.deepEqual(lost, []);
});

test('markets that a source reports as resolved are polled, a bounded number of them', async (t) => {
  const venue = await FakeVenue.start(t);
  let looked = 0;
  const mirror = new BookMirror({
    url: venue.url,
    streamUrl: venue.streamUrl,
    rate: 10,
    refreshMs: 60_000,
    api: new SourceApi(venue.url, venue.url, new AbortController().signal),
    choice: { text: '', conditions: [], ids: [], slugs: [], tags: [], top: 0 },
    node: {
      aligned: (market) => market,
      contradictions: () => ({ count: 0, first: [] }),
      isTradable: () => false,
      hasEnded: () => false,
      apply: async () => undefined,
      pull: () => undefined,
    },
    settle: async (conditions) => {
      looked = Math.max(looked, conditions.length);
      return [];
    },
    traded: [],
    log: () => undefined,
  });
  t.after(() => mirror.close());
  await until(() => venue.connections === 1);
  const resolved = (market: string) => ({ event_type: 'market_resolved', market });
  venue.tellAll(Array.from({ length: 12_000 }, (_, i) => resolved(`0x${i}`)));
  await until(() => looked > 0);
  assert.equal(looked, 10_000);
});
