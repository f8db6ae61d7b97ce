import assert from 'node:assert/strict';
import test from 'node:test';
import { State } from '../../engine/tables/layout.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { endOf } from '../../server/streams/numbering.ts';
import { topics } from '../../server/streams/topics.ts';
import type { BookJson } from '../common/node-harness.ts';
import { withSeed } from '../common/random.ts';
import { ROOMY } from '../engine/engine-driver.ts';
import { BUSY, MARKETS, Stream, type StreamShape } from '../engine/stream.ts';
import { BookFollower } from './book-follower.ts';
import { FeedStage } from './feed-stage.ts';
import { withSource } from './source-stage.ts';

class StageClient {
  readonly follower = new BookFollower();
  private readonly stage: FeedStage;
  private readonly wanted: readonly TokenRow[];
  private readonly topics = new Set<string>();

  constructor(stage: FeedStage, wanted: readonly TokenRow[]) {
    this.stage = stage;
    this.wanted = wanted;
    for (const token of wanted) {
      const book = stage.market.follow(token, false);
      const join = (): void => {
        this.follower.take(stage.market.snapshot(book, token).toString());
        this.topics.add(topics.asset(token));
        this.topics.add(topics.book(book.bookRow));
      };
      if (book.isPublished) join();
      else book.waiting.push(join);
    }
  }

  hear({ text, topic }: { readonly topic: string; readonly text: string }): void {
    if (this.topics.has(topic)) this.follower.take(text);
  }

  /** Checks that its books equal the engine's after the last published batch. */
  compare(state: ReadonlyMap<TokenRow, BookJson>): void {
    for (const token of this.wanted) {
      if (!this.topics.has(topics.asset(token))) continue;
      const { asset_id, hash } = state.get(token)!;
      assert.equal(this.follower.hash(asset_id), hash);
    }
  }

  leave(): void {
    for (const token of this.wanted) this.stage.market.leave(token, false);
  }
}

function booksOf(stage: FeedStage): Map<TokenRow, BookJson> {
  const books = new Map<TokenRow, BookJson>();
  for (let slot = 1; slot <= stage.t.state[State.tokens]!; slot++) {
    const token = slot as TokenRow;
    books.set(token, JSON.parse(String(stage.books.render(token))) as BookJson);
  }
  return books;
}

const shapes: readonly (readonly [string, Partial<StreamShape>, hasSource?: boolean])[] = [
  ['while they trade', {}],
  ['while ticks and terms change', { changes: 3, policies: 2, sweeps: 2, cancels: 10 }],
  ['while a source moves its levels, and terms change', { changes: 1, policies: 2 }, true],
];
for (const [when, shape, hasSource] of shapes) {
  test(`${when}, snapshot and deltas equal the books of POST /books at the same hash`, () => {
    withSeed((random) => {
      const all = { ...BUSY, ...shape };
      const plain = () => ({ stage: new FeedStage(), stream: new Stream(random, all, MARKETS) });
      const { stage, stream } = hasSource === true ? withSource(random, all) : plain();
      while (stage.unflushed.length > 0) stage.flush();
      let clients: StageClient[] = [];
      let confirmed = 0;
      /** Books after each unpublished batch, and after the last published one. */
      const states: Map<TokenRow, BookJson>[] = [];
      let published = new Map<TokenRow, BookJson>();
      for (let batches = 0; batches < 800; ) {
        const command = stream.next();
        if (command.kind !== 'at') {
          stage.run(command);
          continue;
        }
        const before = stage.unflushed.length;
        stage.endBatch();
        if (stage.unflushed.length > before) states.push(booksOf(stage));
        batches += 1;
        // The disk is behind by a few batches; subscribers come and go at any time.
        const tokens = stage.t.state[State.tokens]!;
        if (tokens > 0 && random.chance(15)) {
          const wanted = new Set(Array.from({ length: 3 }, () => random.between(1, tokens)));
          clients.push(new StageClient(stage, [...wanted] as TokenRow[]));
        }
        if (clients.length > 4) {
          const [gone] = clients.splice(random.below(4), 1);
          confirmed += gone!.follower.confirmed;
          gone!.leave();
        }
        while (stage.unflushed.length > random.below(4)) {
          stage.flush();
          for (const frame of stage.taken()) for (const client of clients) client.hear(frame);
          published = states.shift() ?? published;
          for (const client of clients) client.compare(published);
        }
        stage.run(command);
      }
      confirmed += clients.reduce((sum, { follower }) => sum + follower.confirmed, 0);
      for (const client of clients) client.leave();
      clients = [];
      assert(confirmed > 100, `books came behind the deltas that led to them: ${confirmed}`);
    });
  });
}

test('a batch of books without followers publishes nothing, then or later', () => {
  const stage = new FeedStage();
  withSeed((random) => {
    const stream = new Stream(random);
    for (let i = 0; i < 500; i++) stage.run(stream.next());
    stage.endBatch();
    while (stage.unflushed.length > 0) stage.flush();
    assert.deepEqual(stage.taken(), []);
    const client = new StageClient(stage, [1 as TokenRow]);
    client.compare(booksOf(stage));
    assert.equal(client.follower.events, 1);
  });
});

test('the markets of a large new catalog are published a few at a time, each once and in order', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const wait = (turns: number): void => {
    for (let i = 0; i < turns; i++) t.mock.timers.tick(100);
  };
  const stage = new FeedStage(0, { ...ROOMY, markets: 200, tokens: 400 });
  const terms = { grid: 100, baseFeeBps: 0, minSize: 0n, tradable: true, ended: false };
  const addMarkets = (first: number, last: number): void => {
    stage.run({ kind: 'at', time: first });
    for (let condition = first; condition <= last; condition++) {
      stage.run({ kind: 'market', condition, outcomes: 2, ...terms, negRisk: false });
    }
    stage.endBatch();
    stage.flush();
  };
  const event = { id: '', ticker: '', slug: '', title: '', description: '' };
  const story = (question: string) => () => {
    return {
      question,
      slug: '',
      outcomes: [],
      description: '',
      active: true,
      tick: 0.01,
      listed: {},
      event,
    };
  };
  addMarkets(1, 100);
  stage.newMarkets.announce(story('first'));
  const published = stage.taken();
  assert(published.length > 0 && published.length <= 32, `${published.length} at once`);
  wait(1);
  // Those of the next catalog are published with its texts, and so are the others.
  addMarkets(101, 150);
  wait(10);
  stage.newMarkets.announce(story('second'));
  wait(100);
  published.push(...stage.taken());
  const events = published.map(({ text }) => JSON.parse(text));
  const places = events.map(({ sequence }) => sequence);
  assert.deepEqual(
    events.map(({ previous }) => previous),
    [endOf(0), ...places.slice(0, -1)],
  );
  const batches = places.map((place) => Number(place.slice(0, 12)));
  assert.deepEqual([batches[99], batches[100]], [1, 2], 'the batch that registered the market');
  assert.equal(new Set(events.map(({ id }) => id)).size, 150);
  assert.deepEqual(
    events.map(({ question }) => question).filter((text, i, all) => text !== all[i - 1]),
    ['first', 'second'],
  );
  assert.equal(
    events.findIndex(({ question }) => question === 'second'),
    100,
  );
});
