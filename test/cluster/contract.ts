/**
 * The contract of a replicated log as a table of behaviours; `open` returns a client of one log.
 */
import assert from 'node:assert/strict';
import { LogDamage, OutcomeUnknown, WrongSequence } from '../../storage/log/log.ts';
import { type LogWriter, NO_TAIL, TooOld } from '../../storage/replicated-log/replicated-log.ts';
import type { Random } from '../common/random.ts';
import { type Fate, Faults } from '../storage/memory-log.ts';
import {
  appendNext,
  claimed,
  claimUntilWon,
  digestOf,
  entryOf,
  Observer,
  type Place,
  positionOf,
  rangeOf,
  START,
  until,
} from './log-place.ts';

type Open = Place['open'];

const MS = 20_000;
const FATES: readonly Fate[] = ['arrives', 'request lost', 'answer lost', 'late'];

export const BEHAVIOURS: Readonly<Record<string, (open: Open, random: Random) => Promise<void>>> = {
  'a log begins empty, and each claim is a record and an epoch': async (open) => {
    const [one, two] = [await open(), await open()];
    assert.deepEqual(await one.tail(MS), NO_TAIL);
    const writer = await claimed(one, 'first');
    await appendNext(writer);
    const tail = await two.tail(MS);
    assert.deepEqual([tail.sequence, tail.digest, tail.epoch], [2, digestOf(2), 1]);
    assert.match(tail.writer, /^first\.[0-9a-f]{16}$/);
    const next = await claimed(two, 'second');
    assert.deepEqual([next.epoch, next.last, next.digest], [2, 3, digestOf(3)]);
  },

  'a log may begin with any sequence: that of a node which was alone until then': async (open) => {
    const log = await open();
    const writer = await log.claim(NO_TAIL, entryOf(501), { node: 'a', patienceMs: MS });
    await appendNext(writer);
    const entries = await rangeOf(await open(), positionOf(500), 502);
    assert.deepEqual(
      entries.map(({ sequence }) => sequence),
      [501, 502],
    );
    await assert.rejects(rangeOf(log, START, 502), (error) => {
      return error instanceof TooOld && error.first === 501;
    });
  },

  'a log that has nothing of what a node has says so, and the node goes on once it has begun':
    async (open) => {
      const log = await open();
      const [behind, level, fresh] = [
        new Observer(await open(), positionOf(498)),
        new Observer(await open(), positionOf(500)),
        new Observer(await open()),
      ];
      for (const { empties } of [behind, level]) {
        await until(() => empties.length > 0, 'the node is notified');
      }
      const tail = await log.begin([entryOf(499, 700_000), entryOf(500, 700_000)], 501, MS);
      assert.deepEqual([tail.sequence, tail.digest, tail.epoch], [500, digestOf(500), 501]);
      assert.deepEqual(await (await open()).tail(MS), tail);
      await behind.has(500);
      await until(() => level.empties.length > 1, 'the node is notified');
      for (const { empties } of [behind, level]) assert.deepEqual(empties, [true, false]);
      await until(() => fresh.ended !== undefined, 'it needs a copy');
      assert(fresh.ended instanceof TooOld, `${fresh.ended}`);
      assert.deepEqual(fresh.empties, []);
      const writer = await claimed(await open());
      assert.deepEqual([writer.last, writer.epoch], [501, 502]);
      await appendNext(writer);
      for (const observer of [behind, level]) await observer.has(502);
    },

  'a log begins once: whoever would begin it again, or with other records, is refused': async (
    open,
  ) => {
    const logs = [await open(), await open(), await open()];
    const begun = await Promise.allSettled(
      logs.map((log, i) => log.begin([entryOf(500, 50, i)], 600, MS)),
    );
    assert.equal(begun.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const one of begun) {
      if (one.status === 'rejected') assert(one.reason instanceof WrongSequence, one.reason);
    }
    await claimed(logs[0]!);
    await assert.rejects(logs[1]!.begin([entryOf(502)], 601, MS), WrongSequence);
  },

  'what was appended is read on another machine as it was, short and longer than a request': async (
    open,
  ) => {
    const writer = await claimed(await open());
    const sizes = [0, 1, 7, 8, 300, 4_001, 1_032_140, 1_032_141, 2_500_000, 10];
    const entries = sizes.map((bytes, i) => entryOf(i + 2, bytes, i + 77));
    for (const entry of entries.slice(0, 8)) await writer.append([entry], entry.sequence - 1);
    // Several records in one call, and calls that do not wait for one another.
    await Promise.all([writer.append(entries.slice(8), 9), writer.append([entryOf(12)], 11)]);
    const read = await rangeOf(await open(), START, 12);
    assert.deepEqual(read.slice(1, 11).map(plain), entries.map(plain));
    assert.deepEqual(
      (await rangeOf(await open(), positionOf(4), 9)).map(plain),
      read.slice(4, 9).map(plain),
    );
  },

  'many appends that wait share what follows, and resolve in their order': async (open) => {
    const writer = await claimed(await open());
    const done: number[] = [];
    const appends = Array.from({ length: 200 }, (_, i) =>
      writer.append([entryOf(i + 2)], i + 1).then(() => done.push(i + 2)),
    );
    await Promise.all(appends);
    assert.deepEqual(
      done,
      Array.from({ length: 200 }, (_, i) => i + 2),
    );
    assert.equal((await rangeOf(await open(), START, 201)).length, 201);
  },

  'a follower receives every record, whether it begins before, during or after the appends': async (
    open,
  ) => {
    const early = new Observer(await open());
    const writer = await claimed(await open());
    for (let i = 0; i < 20; i++) await appendNext(writer);
    const during = new Observer(await open(), positionOf(7));
    for (let i = 0; i < 20; i++) await appendNext(writer, 30_000);
    const late = new Observer(await open(), positionOf(40));
    await appendNext(writer, 1_500_000);
    for (const observer of [early, during, late]) await observer.has(42);
    assert.deepEqual(
      [early.entries.length, during.entries.length, late.entries.length],
      [42, 35, 2],
    );
    await early.subscription.stop();
    await appendNext(writer);
    await late.has(43);
    assert.equal(early.last, 42, 'nothing after stop()');
  },

  'of two that claim the same tail exactly one may write': async (open) => {
    for (let round = 0; round < 5; round++) {
      const logs = [await open(), await open(), await open()];
      const tail = await logs[0]!.tail(MS);
      const record = entryOf(tail.sequence + 1);
      const claims = await Promise.allSettled(
        logs.map((log, i) => log.claim(tail, record, { node: `n${i}`, patienceMs: MS })),
      );
      const won = claims.filter((claim) => claim.status === 'fulfilled');
      assert.equal(won.length, 1);
      for (const claim of claims) {
        if (claim.status === 'rejected')
          assert(claim.reason instanceof WrongSequence, claim.reason);
      }
      await appendNext(won[0]!.value);
    }
  },

  'a writer that another one has followed is refused, for good, and has written nothing': async (
    open,
  ) => {
    const [one, two] = [await open(), await open()];
    const stale = await claimed(one, 'stale');
    await appendNext(stale, 50, 1);
    const writer = await claimed(two, 'new');
    await appendNext(writer, 50, 2);
    await assert.rejects(appendNext(stale, 50, 3), WrongSequence);
    await assert.rejects(appendNext(stale, 50, 3), WrongSequence);
    assert(stale.failure instanceof WrongSequence);
    await appendNext(writer, 50, 4);
    const entries = await rangeOf(one, START, 5);
    assert.deepEqual(
      entries.map(({ payload }) => payload[0]),
      [1, 1, 3, 2, 4],
    );
  },

  'a stale writer learns from its heartbeat that another one writes': async (open) => {
    const stale = await claimed(await open());
    await stale.heartbeat(Buffer.from('one'), MS);
    const writer = await claimed(await open());
    await assert.rejects(stale.heartbeat(Buffer.from('two'), MS), WrongSequence);
    assert(stale.failure instanceof WrongSequence);
    await assert.rejects(appendNext(stale), WrongSequence);
    await writer.heartbeat(Buffer.from('three'), MS);
  },

  'a claim follows what the writer before it has left, and brings its first heartbeat': async (
    open,
  ) => {
    const [one, two] = [await open(), await open()];
    const first = await claimed(one);
    await appendNext(first);
    first.end('it leaves');
    const claim = (heartbeat: string) => ({
      node: 'next',
      patienceMs: MS,
      heartbeat: Buffer.from(heartbeat),
    });
    const record = entryOf(first.last + 1);
    const next = await two.claim(first.tail, record, claim('won'));
    assert.equal(`${await one.lastHeartbeat(MS)}`, 'won');
    assert.deepEqual(next.tail, await one.tail(MS));
    await assert.rejects(one.claim(first.tail, record, claim('lost')), WrongSequence);
    assert.equal(`${await two.lastHeartbeat(MS)}`, 'won');
  },

  'a claim is refused where a heartbeat has come that its node has not seen': async (open) => {
    const [one, two] = [await open(), await open()];
    const first = await claimed(one);
    const tail = await two.tail(MS);
    const record = entryOf(first.last + 1);
    const claim = (seen: string) => ({ node: 'next', patienceMs: MS, seen: Buffer.from(seen) });
    await assert.rejects(two.claim(tail, record, claim('older')), WrongSequence);
    await first.heartbeat(Buffer.from('older'), MS);
    await first.heartbeat(Buffer.from('newest'), MS);
    await assert.rejects(two.claim(tail, record, claim('older')), WrongSequence);
    assert.deepEqual(await one.tail(MS), tail, 'nothing was written');
    await two.claim(tail, record, claim('newest'));
    await assert.rejects(first.heartbeat(Buffer.from('late'), MS), WrongSequence);
  },

  'heartbeats are seen in their order, the last one also by who comes later': async (open) => {
    const seen: string[] = [];
    const problem = (): void => undefined;
    (await open()).watchHeartbeats((value) => void seen.push(value.toString()), problem);
    const writer = await claimed(await open());
    for (let i = 0; i < 10; i++) await writer.heartbeat(Buffer.from(`${i}`), MS);
    await until(() => seen.at(-1) === '9', 'the last heartbeat is seen');
    assert.deepEqual(seen, [...new Set(seen)].sort());
    const later: string[] = [];
    (await open()).watchHeartbeats((value) => void later.push(value.toString()), problem);
    await until(() => later.length > 0, 'who comes later sees it');
    assert.deepEqual(later, ['9']);
    assert.equal(String(await (await open()).lastHeartbeat(MS)), '9');
  },

  'an append whose requests and answers are lost or late is there once': async (open, random) => {
    const faults = impatient();
    const observer = new Observer(await open());
    const writer = await claimed(await open(faults));
    faults.fate = () => random.pick(FATES);
    for (let i = 0; i < 25; i++) await appendNext(writer, 20 + random.below(300));
    await observer.has(26);
    assert.equal((await (await open()).tail(MS)).sequence, 26);
  },

  'an append whose answer is lost is acknowledged, although another writer has followed it': async (
    open,
  ) => {
    const faults = Object.assign(new Faults(), { patienceMs: 400 });
    const [one, two] = [await open(faults), await open()];
    const stale = await claimed(one);
    faults.fate = () => 'answer lost';
    const append = appendNext(stale, 50, 9);
    while ((await two.tail(MS)).sequence < 2);
    faults.fate = () => 'arrives';
    await appendNext(await claimed(two));
    await append;
    await assert.rejects(appendNext(stale), WrongSequence);
    const entries = await rangeOf(two, START, 4);
    assert.deepEqual(
      entries.map(({ payload }) => payload[0]),
      [1, 9, 3, 4],
    );
  },

  'a claim whose answer is lost is known to be won, and one that is late may be lost': async (
    open,
    random,
  ) => {
    const faults = impatient();
    faults.fate = () => random.pick(FATES);
    const [one, two] = [await open(faults), await open()];
    for (let round = 0; round < 6; round++) {
      const tail = await two.tail(MS);
      const record = entryOf(tail.sequence + 1);
      const [a, b] = await Promise.allSettled([
        one.claim(tail, record, { node: 'one', patienceMs: MS }),
        two.claim(tail, record, { node: 'two', patienceMs: MS }),
      ]);
      const won = a.status === 'fulfilled' ? a : b;
      assert.deepEqual([a.status, b.status].sort(), ['fulfilled', 'rejected']);
      await appendNext((won as PromiseFulfilledResult<LogWriter>).value);
    }
  },

  'a writer that ends leaves its last append unknown, and the next one goes on without a gap':
    async (open, random) => {
      const observer = new Observer(await open());
      for (let round = 0; round < 6; round++) {
        const faults = impatient();
        const writer = await claimUntilWon(await open(faults));
        const fate = random.pick(FATES.slice(1));
        faults.fate = () => fate;
        const append = appendNext(writer, 40, 200);
        setTimeout(() => writer.end('the test ends it'), 5 + random.below(40));
        // Its answer may have been lost only.
        await append.catch((error: Error) => assert(error instanceof OutcomeUnknown, error));
        await assert.rejects(appendNext(writer), OutcomeUnknown);
      }
      const writer = await claimUntilWon(await open());
      await appendNext(writer);
      await observer.has(writer.last);
      assert.deepEqual(
        observer.entries.map(({ sequence }) => sequence),
        Array.from({ length: writer.last }, (_, i) => i + 1),
      );
    },

  'a writer without any answer gives up after its patience, and what it wrote is unknown': async (
    open,
  ) => {
    const faults = impatient();
    const writer = await claimed(await open(faults), 'a', 300);
    faults.fate = () => 'request lost';
    const [first, second] = [appendNext(writer), writer.append([entryOf(3)], 2)];
    await assert.rejects(first, OutcomeUnknown);
    await assert.rejects(second, OutcomeUnknown);
    await appendNext(await claimed(await open()));
  },

  'what is trimmed is too old for readers and followers, and the rest stays': async (open) => {
    const [one, two] = [await open(), await open()];
    const writer = await claimed(one);
    for (let i = 0; i < 30; i++) await appendNext(writer);
    await one.trim(20);
    const tooOld = (error: unknown): boolean => error instanceof TooOld && error.first === 21;
    await assert.rejects(rangeOf(two, START, 31), tooOld);
    assert.equal((await rangeOf(two, positionOf(20), 31)).length, 11);
    const observer = new Observer(two, positionOf(3));
    await until(() => observer.ended !== undefined, 'the follower is notified');
    assert(tooOld(observer.ended));
    await one.trim(1_000);
    await appendNext(writer);
    assert.equal((await rangeOf(two, positionOf(30), 32)).length, 2, 'the last one of all stays');
  },

  'records that differ from those of a node are damage, and are not handed to it': async (open) => {
    const log = await open();
    const writer = await claimed(log);
    for (let i = 0; i < 5; i++) await appendNext(writer);
    const places = [
      { sequence: 3, digest: 1 },
      { sequence: 6, digest: 1 },
      { sequence: 60, digest: digestOf(60) },
    ];
    for (const from of places) {
      const observer = new Observer(log, from);
      await until(() => observer.ended !== undefined, 'the follower is notified');
      assert(observer.ended instanceof LogDamage, `${observer.ended}`);
      assert.equal(observer.entries.length, 0);
    }
    await assert.rejects(rangeOf(log, places[0]!, 6), LogDamage);
  },

  'nodes see what the others publish about themselves': async (open) => {
    const [one, two] = [await open(), await open()];
    const calls = { mayReplace: () => true, onTaken: () => undefined };
    const first = one.announce('one', Buffer.from('1'), calls);
    const other = one.announce('other', Buffer.from('x'), calls);
    const shows = async (expected: Record<string, string>): Promise<void> => {
      let seen: Record<string, string> = {};
      for (const end = performance.now() + MS; performance.now() < end; ) {
        const nodes = await two.nodes(MS);
        seen = Object.fromEntries([...nodes].map(([node, value]) => [node, value.toString()]));
        if (JSON.stringify(seen) === JSON.stringify(expected)) return;
      }
      assert.deepEqual(seen, expected);
    };
    await shows({ one: '1', other: 'x' });
    // A node that starts again may announce itself before its run before has ended.
    two.announce('one', Buffer.from('2'), calls);
    await shows({ one: '2', other: 'x' });
    await first.stop();
    await other.stop();
    await shows({ one: '2' });
  },

  'a name that another process has is free once that one stops': async (open) => {
    const [one, two] = [await open(), await open()];
    const calls = { mayReplace: () => false, onTaken: () => undefined };
    const first = one.announce('n', Buffer.from('1'), calls);
    await until(() => first.state === 'published', 'the first one has the name');
    const second = two.announce('n', Buffer.from('2'), calls);
    await until(() => second.state === 'taken', 'the second one waits');
    assert.equal(`${(await one.nodes(MS)).get('n')}`, '1');
    await first.stop();
    await until(() => second.state === 'published', 'the second one has the name');
    assert.equal(`${(await one.nodes(MS)).get('n')}`, '2');
  },

  'of two that put a shared value in place of the same one, one does': async (open) => {
    const [one, two] = [await open(), await open()];
    assert.equal(await one.shared('secret', MS), undefined);
    const [a, b] = [Buffer.from('a'), Buffer.from('b')];
    assert.equal(await one.share('secret', undefined, a, MS), true);
    assert.equal(await two.share('secret', undefined, b, MS), false);
    assert.equal(await two.share('secret', b, b, MS), false);
    assert.deepEqual(await two.shared('secret', MS), a);
    assert.equal(await two.share('secret', a, b, MS), true);
    assert.deepEqual(await one.shared('secret', MS), b);
    assert.equal(await one.shared('settings', MS), undefined);
  },

  'closing ends writers and followers, while they have something under way': async (open) => {
    const faults = impatient();
    const log = await open(faults);
    const observer = new Observer(await open());
    const writer = await claimed(log);
    faults.fate = () => 'request lost';
    const append = assert.rejects(appendNext(writer), OutcomeUnknown);
    const follower = new Observer(log);
    await log.close();
    await append;
    const { last } = follower;
    await appendNext(await claimed(await open()));
    await observer.has(2);
    assert.equal(follower.last, last);
    assert.equal(follower.ended, undefined);
  },
};

/** A client that notices losses soon; none of them reads page by page. */
function impatient(): Faults {
  return Object.assign(new Faults(), { patienceMs: 20 });
}

function plain({ after, before, payload, sequence, time }: ReturnType<typeof entryOf>): unknown[] {
  return [sequence, time, before, after, payload.length, payload[0], payload.at(-1)];
}
