/**
 * Two engines with equal commands have streams with equal messages at equal cursors, whatever their
 * followers did, and a client continues at the other one.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { endOf } from '../../server/streams/numbering.ts';
import type { User } from '../../server/streams/replay-buffer.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';
import { addressWords } from '../engine/engine-driver.ts';
import type { Command } from '../engine/naive-types.ts';
import { BUSY, MARKETS, Stream } from '../engine/stream.ts';
import { FeedStage } from './feed-stage.ts';

interface Event {
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
}

const WALLETS = 7;

class Nodes {
  readonly stages: readonly FeedStage[];
  private readonly stream: Stream;
  private next: Command;

  constructor(random: Random, count: number) {
    this.stages = Array.from({ length: count }, () => new FeedStage(10_000));
    this.stream = new Stream(random, { ...BUSY, changes: 0, policies: 0 }, MARKETS);
    this.next = this.stream.next();
  }

  /** Runs so many batches; calls `afterBatch` when each is published. */
  run(batches: number, afterBatch: () => void = () => undefined): void {
    for (let n = 0; n < batches; ) {
      for (const stage of this.stages) stage.run(this.next);
      this.next = this.stream.next();
      if (this.next.kind !== 'at') continue;
      n += 1;
      for (const stage of this.stages) {
        stage.endBatch();
        while (stage.unflushed.length > 0) stage.flush();
      }
      afterBatch();
    }
  }
}

function follow(stage: FeedStage, wallet: number): User {
  const user = stage.users.enter(addressWords(wallet));
  user.countJoined(user.all.id, 1);
  return user;
}

/** Frames of a user's stream after a cursor. */
function missedOf({ users }: FeedStage, user: User, place: string): string[] | undefined {
  return users.since(user, undefined, place)?.map((event) => users.frame(event, event.ofUser!));
}

test('streams that are followed on two nodes are equal, each message after the one before it', () => {
  withSeed((random) => {
    const nodes = new Nodes(random, 2);
    const { stages } = nodes;
    const [first, second] = stages as [FeedStage, FeedStage];
    nodes.run(50);
    // Of the second node others are clients, too.
    for (let token = 1; token <= 4; token++) {
      first.market.follow(token as never, true);
      for (let times = 0; times < 3; times++) second.market.follow(token as never, true);
    }
    for (let wallet = 1; wallet <= 3; wallet++) follow(first, wallet);
    for (let wallet = 1; wallet <= WALLETS; wallet++) follow(second, wallet);
    const ids = new Set(
      [1, 2, 3].map((wallet) => first.users.find(addressWords(wallet), 0)!.all.id),
    );
    const isCommon = (topic: string): boolean => !topic.startsWith('user:') || ids.has(topic);
    const places = new Map<string, string>();
    let events = 0;
    nodes.run(rounds(300), () => {
      const [own, other] = stages.map((stage) => {
        return stage.taken().filter(({ topic }) => isCommon(topic));
      });
      assert.deepEqual(other, own);
      for (const { text } of own!) {
        const { previous, sequence, stream_id } = JSON.parse(text) as Event;
        assert.equal(previous, places.get(stream_id) ?? previous, 'no gap');
        assert(previous < sequence);
        places.set(stream_id, sequence);
        events += 1;
      }
    });
    assert(events > 500 && places.size > 6, `${events} events of ${places.size} streams`);
  });
});

test('a client continues at a node where it never was, and gets each missed message once', () => {
  withSeed((random) => {
    const nodes = new Nodes(random, 2);
    const { stages } = nodes;
    const [first, second] = stages as [FeedStage, FeedStage];
    const user = follow(first, 1);
    let seen: string[] = [];
    const hear = (): void => void seen.push(...first.taken().map(({ text }) => text));
    nodes.run(rounds(200), hear);
    const other = follow(second, 1);
    assert.equal(other.all.id, user.all.id);
    let places: string[] = [];
    let oldest = -1;
    // How many of the recent events are this user's is drawn, too: more than the last few are wanted.
    for (let more = 0; more < 50 && (oldest === -1 || oldest >= places.length - 20); more += 1) {
      nodes.run(20, hear);
      places = seen.map((text) => (JSON.parse(text) as Event).sequence);
      oldest = places.findIndex((place) => missedOf(second, other, place) !== undefined);
    }
    assert(oldest !== -1 && oldest < places.length - 20, 'more than the last few');
    assert.deepEqual(missedOf(second, other, places[oldest]!), seen.slice(oldest + 1));
    second.taken();
    seen = [];
    nodes.run(50, () => {
      const [own, there] = stages.map((stage) => stage.taken().map(({ text }) => text));
      assert.deepEqual(there, own);
      seen.push(...own!);
    });
    assert(seen.length > 10);
  });
});

test('a cursor before the recent batches is refused, the end of the last batch is not', () => {
  withSeed((random) => {
    const nodes = new Nodes(random, 1);
    const [stage] = nodes.stages as [FeedStage];
    nodes.run(100);
    const batch = stage.recent.all().at(-1)!.sequence;
    stage.recent.clear(batch);
    const user = follow(stage, 1);
    assert.equal(missedOf(stage, user, endOf(batch - 1)), undefined);
    assert.deepEqual(missedOf(stage, user, endOf(batch)), []);
  });
});
