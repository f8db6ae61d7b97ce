import assert from 'node:assert/strict';
import test from 'node:test';
import { endOf } from '../../server/streams/numbering.ts';
import { CHARACTERS_MAX, type User } from '../../server/streams/replay-buffer.ts';
import { rounds, withSeed } from '../common/random.ts';
import { addressWords } from '../engine/engine-driver.ts';
import { BUSY, MARKETS, Stream, type StreamShape } from '../engine/stream.ts';
import { FeedStage } from './feed-stage.ts';
import { withSource } from './source-stage.ts';

interface UserEvent {
  readonly event_type: 'order' | 'trade';
  readonly id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly stream_id: string;
  readonly type: string;
  readonly status: string;
  readonly price: string;
  readonly size: string;
  readonly original_size: string;
  readonly size_matched: string;
  readonly associate_trades: readonly string[] | null;
  readonly taker_order_id: string;
  readonly trader_side: string;
  readonly order_type: string;
  readonly reason?: string;
  readonly maker_orders: readonly {
    readonly order_id: string;
    readonly owner: string;
    readonly matched_amount: string;
  }[];
}

const NIL = '00000000-0000-0000-0000-000000000000';

function micro(text: string): number {
  const [whole, fraction = ''] = text.split('.');
  return Number(whole + fraction.padEnd(6, '0'));
}

interface Known {
  readonly original: number;
  readonly type: string;
  /** Matched size by its trades, and by its order messages. */
  traded: number;
  matched: number;
  isOver: boolean;
}

/** A client that checks that one user's messages fit together. */
class Owner {
  readonly orders = new Map<string, Known>();
  readonly ends = new Map<string, number>();
  trades = 0;
  private sequence = endOf(0);

  take(event: UserEvent): void {
    assert.equal(event.previous, this.sequence, 'nothing lies between two events');
    assert(event.sequence > event.previous);
    this.sequence = event.sequence;
    if (event.event_type === 'trade') this.trade(event);
    else this.order(event);
  }

  private trade(event: UserEvent): void {
    const { maker_orders: makers, size, status, taker_order_id: taker, trader_side } = event;
    const own = makers.filter(({ owner }) => owner !== NIL);
    const isTaker = trader_side === 'TAKER';
    if (!isTaker) assert.equal(own.length, makers.length, 'a maker is shown its own orders');
    const total = makers.reduce((sum, { matched_amount }) => sum + micro(matched_amount), 0);
    if (isTaker) assert.equal(total, micro(size));
    // It is confirmed at once, with the same words.
    if (status === 'CONFIRMED') return;
    this.trades += 1;
    if (isTaker) this.add(taker, micro(size));
    for (const { matched_amount, order_id } of own) this.add(order_id, micro(matched_amount));
  }

  private add(id: string, size: number): void {
    const known = this.orders.get(id);
    assert(known !== undefined, 'an order is placed before it trades');
    assert(!known.isOver, 'nothing is said of an order after its last event');
    known.traded += size;
  }

  private order(event: UserEvent): void {
    const { id, order_type: type, original_size, reason, size_matched, status } = event;
    const known = this.orders.get(id);
    if (event.type === 'PLACEMENT') {
      assert.equal(known, undefined, 'an order is placed once');
      assert.deepEqual([status, size_matched, reason], ['LIVE', '0', undefined]);
      const original = micro(original_size);
      this.orders.set(id, { original, type, traded: 0, matched: 0, isOver: false });
      return;
    }
    assert(known !== undefined && !known.isOver, 'first placed, then changed, then over');
    known.matched = micro(size_matched);
    assert.equal(known.matched, known.traded, 'a trade comes before the order event of it');
    if (event.type === 'UPDATE') assert.equal(event.associate_trades?.length, 1);
    known.isOver = status !== 'LIVE';
    assert.equal(known.isOver, reason !== undefined);
    if (reason === undefined) return;
    this.ends.set(reason, (this.ends.get(reason) ?? 0) + 1);
    const isMatched = reason === 'filled' || reason === 'fakRemainder';
    assert.equal(event.type, isMatched ? 'UPDATE' : 'CANCELLATION');
    assert.equal(status, isMatched ? 'MATCHED' : 'CANCELED');
    if (reason === 'filled') assert.equal(known.matched, known.original);
    if (reason === 'fakRemainder') assert.equal(type, 'FAK');
  }
}

const shapes: readonly (readonly [string, Partial<StreamShape>, hasSource?: boolean])[] = [
  ['of a busy exchange', {}],
  [
    'of accounts that meet themselves under changing terms',
    { accounts: 3, policies: 3, changes: 2 },
  ],
  ['of an exchange with a source', { policies: 1 }, true],
];
for (const [of, shape, hasSource] of shapes) {
  test(`${of}, every order is placed, trades, and ends once, in this order`, () => {
    withSeed((random) => {
      const all = { ...BUSY, ...shape };
      const plain = () => ({ stage: new FeedStage(), stream: new Stream(random, all, MARKETS) });
      const { stage, stream } = hasSource === true ? withSource(random, all) : plain();
      const owners = new Map<string, Owner>();
      for (let n = 1; n <= 7; n++) {
        const user = stage.users.enter(addressWords(n));
        user.countJoined(user.all.id, 1);
        owners.set(user.all.id, new Owner());
      }
      let placed = 0;
      for (let i = 0; i < rounds(12_000); i++) {
        const { reason } = stage.run(stream.next());
        if (reason === 0) placed += 1;
        while (stage.unflushed.length > 0) stage.flush();
        for (const { text, topic } of stage.taken()) {
          owners.get(topic)!.take(JSON.parse(text) as UserEvent);
        }
      }
      stage.endBatch();
      stage.flush();
      for (const { text, topic } of stage.taken()) {
        owners.get(topic)!.take(JSON.parse(text) as UserEvent);
      }
      const live = [...owners.values()].flatMap(({ orders }) =>
        [...orders.values()].filter(({ isOver }) => !isOver),
      );
      assert.equal(live.length, stage.openOrders(), 'what has not ended is what is open');
      const ends = new Set([...owners.values()].flatMap((owner) => [...owner.ends.keys()]));
      for (const reason of ['filled', 'fakRemainder', 'canceled', 'expired', 'selfTrade']) {
        assert(ends.has(reason) || reason === 'selfTrade', `some order ended so: ${reason}`);
      }
      assert(placed > 1_000);
    });
  });
}

test('the newest messages are stored for clients that reconnect, and only of users who subscribed before', () => {
  withSeed((random) => {
    const stage = new FeedStage(200);
    const stream = new Stream(random, BUSY, MARKETS);
    const user = stage.users.enter(addressWords(1));
    const published: string[] = [];
    user.countJoined(user.all.id, 1);
    for (let i = 0; i < 3_000; i++) {
      stage.run(stream.next());
      while (stage.unflushed.length > 0) stage.flush();
      published.push(...stage.taken().map(({ text }) => text));
    }
    const places = published.map((text) => (JSON.parse(text) as UserEvent).sequence);
    assert(places.length > 300, 'more than is stored');
    assert.equal(stage.users.find(addressWords(2), 0), undefined);
    const frames = (from: string): string[] | undefined =>
      stage.users.since(user, undefined, from)?.map((event) => {
        return stage.users.frame(event, event.ofUser!);
      });
    assert.deepEqual(frames(places.at(-1)!), []);
    assert.deepEqual(frames(places.at(-2)!), published.slice(-1));
    assert.deepEqual(frames(places.at(-201)!), published.slice(-200));
    assert.equal(frames(places.at(-202)!), undefined, 'no longer stored');
    assert.deepEqual(frames(stage.users.place), []);
    assert.equal(frames(endOf(1_000_000)), undefined, 'the log never came that far');
    stage.users.leave(user);
    assert.equal(stage.users.enter(addressWords(1)), user, 'remembered while it is away');
  });
});

test('streams of single markets have their own numbers', () => {
  withSeed((random) => {
    const stage = new FeedStage();
    const stream = new Stream(random, BUSY, MARKETS);
    const user = stage.users.enter(addressWords(1));
    for (let i = 0; i < 2_000; i++) stage.run(stream.next());
    stage.endBatch();
    while (stage.unflushed.length > 0) stage.flush();
    const all = stage.users.since(user, undefined, endOf(0))!;
    const conditions = new Set(all.map(({ condition }) => condition));
    assert(conditions.size > 3);
    for (const condition of conditions) {
      const own = stage.users.since(user, condition, endOf(0))!;
      const places = own.map(({ ofMarket }) => ofMarket.sequence);
      assert.deepEqual(
        own.map(({ ofMarket }) => ofMarket.previous),
        [endOf(0), ...places.slice(0, -1)],
      );
      assert.deepEqual(
        own,
        all.filter((event) => event.condition === condition),
      );
    }
    assert.deepEqual(stage.taken(), [], 'nobody has joined, so nothing is sent');
  });
});

test('stored messages have a bound in bytes, as a trade of many orders is a hundred times as long as others', () => {
  const stage = new FeedStage();
  const { users } = stage;
  const user = users.enter(addressWords(1));
  const long = 'x'.repeat(CHARACTERS_MAX / 64);
  for (let i = 0; i < 100; i++) stage.tell(user, '0x1', long);
  assert.equal(users.since(user, undefined, endOf(36))?.length, 64);
  assert.equal(users.since(user, undefined, endOf(35)), undefined, 'no longer stored');
  stage.tell(user, '0x1', 'x'.repeat(2 * CHARACTERS_MAX));
  assert.equal(
    users.since(user, undefined, endOf(100))?.length,
    1,
    'the last one stays, however long',
  );
});

test('a flood of messages of some users displaces none of another', () => {
  const stage = new FeedStage();
  const { users } = stage;
  const [calm, ...busy] = [1, 2, 3, 4].map((n) => users.enter(addressWords(n)));
  for (let i = 0; i < 5; i++) stage.tell(calm!, '0x1', `before ${i}`);
  for (let i = 0; i < 1_000; i++) stage.tell(busy[0]!, '0x1', `${i}`);
  for (let i = 0; i < 3_000; i++) stage.tell(busy[i % busy.length]!, '0x2', `${i}`);
  stage.tell(calm!, '0x2', 'after');
  const bodies = (user: User, sequence: number, condition?: string) =>
    users.since(user, condition, endOf(sequence))?.map(({ body }) => body);
  const before = Array.from({ length: 5 }, (_, i) => `before ${i}`);
  assert.deepEqual(bodies(calm!, 0), [...before, 'after']);
  assert.deepEqual(bodies(calm!, 0, '0x1'), before);
  assert.deepEqual(bodies(calm!, 0, '0x2'), ['after']);
  const [first] = busy;
  assert.equal(bodies(first!, 0), undefined);
  assert.equal(bodies(first!, 3_960)?.at(-1), '2997');
  assert.equal(bodies(first!, 0, '0x1'), undefined, 'its own older ones made room');
});
