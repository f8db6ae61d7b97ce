import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd, type EtcdOptions, NO_ETCD } from '../../bench/common/etcd.ts';
import { OutcomeUnknown, Unreachable } from '../../storage/log/log.ts';
import { makeRoom, membersOf } from '../../storage/replicated-log/make-room.ts';
import { type LogWriter, NoSpace } from '../../storage/replicated-log/replicated-log.ts';
import { scriptArgs } from '../common/forms.ts';
import { rounds, SHORT } from '../common/random.ts';
import {
  appendNext,
  claimed,
  claimUntilWon,
  entryOf,
  etcdPlace,
  Observer,
  type Place,
  positionOf,
  rangeOf,
  START,
  until,
} from './log-place.ts';

const MS = 30_000;
const WATCHED_MS = 200;

interface Stage {
  readonly etcd: Etcd;
  readonly place: Place;
}

async function staged(t: TestContext, o: EtcdOptions = {}, keepBytes = 0): Promise<Stage> {
  const etcd = await Etcd.start(o);
  const place = etcdPlace(etcd, 'test', keepBytes);
  t.after(async () => {
    await place.close();
    await etcd.close();
  });
  return { etcd, place };
}

class Load {
  acknowledged = 0;
  failure: Error | undefined;
  private sent: number;
  private isOver = false;
  private readonly writer: LogWriter;
  private readonly running: Promise<unknown>;

  constructor(writer: LogWriter) {
    this.writer = writer;
    this.sent = writer.last;
    this.running = Promise.all(Array.from({ length: 4 }, () => this.run()));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
    if (this.failure !== undefined) throw this.failure;
  }

  async goesOn(): Promise<void> {
    const { sent } = this;
    await until(
      () => {
        if (this.failure !== undefined) throw this.failure;
        return this.acknowledged > sent;
      },
      `batch ${sent + 1} is to be acknowledged`,
    );
  }

  private async run(): Promise<void> {
    try {
      while (!this.isOver) {
        this.sent += 1;
        const entry = entryOf(this.sent, 20 + (this.sent % 2_000));
        await this.writer.append([entry], this.sent - 1);
        assert(entry.sequence > this.acknowledged, 'in their order');
        this.acknowledged = entry.sequence;
      }
    } catch (error) {
      this.failure ??= error as Error;
      this.isOver = true;
    }
  }
}

/** Every record from the first to the acknowledged one is present once and unchanged. */
async function checkAll(place: Place, observer: Observer, acknowledged: number): Promise<void> {
  await observer.has(acknowledged);
  const log = await place.open();
  const { sequence } = await log.tail(MS);
  assert(sequence >= acknowledged, 'what was acknowledged is there');
  const entries = await rangeOf(log, START, sequence);
  assert.deepEqual(
    entries.map((entry) => entry.sequence),
    Array.from({ length: sequence }, (_, i) => i + 1),
  );
  for (const { payload, sequence: n } of entries.slice(1)) {
    assert.deepEqual(payload, Buffer.alloc(20 + (n % 2_000), n & 255), `batch ${n}`);
  }
}

test('no acknowledged record is lost or doubled when the leading member is killed', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd, place } = await staged(t);
  const observer = new Observer(await place.open());
  const writer = await claimed(await place.open());
  const load = new Load(writer);
  for (let round = 0; round < rounds(6); round++) {
    await load.goesOn();
    const leader = await etcd.leader();
    await leader.kill();
    await load.goesOn();
    leader.start();
    await observer.has(load.acknowledged);
  }
  await load.stop();
  await checkAll(place, observer, load.acknowledged);
});

test('a stopped member only delays writer and followers', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd, place } = await staged(t);
  const writing = await place.open();
  const observers = [new Observer(await place.open()), new Observer(await place.open())];
  const load = new Load(await claimed(writing));
  // Each in turn is the one that the writer, a follower, and etcd itself depend on.
  for (const member of etcd.members) {
    await load.goesOn();
    member.pause();
    await load.goesOn();
    for (const observer of observers) await observer.has(load.acknowledged);
    member.resume();
  }
  await load.stop();
  await checkAll(place, observers[0]!, load.acknowledged);
  for (const observer of observers) assert.equal(observer.ended, undefined);
});

test('nothing is acknowledged without a majority and followers learn of it; all continues with one', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd, place } = await staged(t);
  const observer = new Observer(await place.open());
  const log = await place.open();
  const writer = await claimed(log);
  await observer.has(1);
  const [one, two] = etcd.members;
  await Promise.all([one!.kill(), two!.kill()]);
  let isDone = false;
  const append = appendNext(writer).then(() => {
    isDone = true;
  });
  await assert.rejects(log.tail(700), Unreachable);
  await assert.rejects(writer.heartbeat(Buffer.from('x'), 500), Unreachable);
  await until(() => observer.problems.at(-1) !== undefined, 'the follower is notified');
  assert(!isDone);
  one!.start();
  await append;
  await observer.has(2);
  await until(() => observer.problems.at(-1) === undefined, 'the follower is notified');
  two!.start();
});

test('all members killed at once lose nothing that was acknowledged', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd, place } = await staged(t);
  const observer = new Observer(await place.open());
  const load = new Load(await claimed(await place.open()));
  for (let round = 0; round < rounds(2); round++) {
    await load.goesOn();
    await Promise.all(etcd.members.map((member) => member.kill()));
    for (const member of etcd.members) member.start();
    await load.goesOn();
  }
  await load.stop();
  await checkAll(place, observer, load.acknowledged);
});

/** Claims the log and appends; prints acknowledged sequences and the reason of its end. */
const WRITER = `
import { parseEtcdAddress } from './storage/replicated-log/etcd-address.ts';
import { EtcdClient } from './storage/replicated-log/etcd-client.ts';
import { EtcdLog } from './storage/replicated-log/etcd-log.ts';
import { appendNext, claimed } from './test/cluster/log-place.ts';
const [address] = process.argv.slice(-1);
const etcd = await EtcdClient.open(parseEtcdAddress(address), {});
const log = new EtcdLog(etcd, 'test', 0);
const writer = await claimed(log, 'child', 1_000);
try {
  for (;;) {
    await appendNext(writer);
    process.send(writer.last);
  }
} catch (error) {
  process.send(error.constructor.name);
}
await log.close();
process.disconnect();
`;

test('a process that was stopped during a takeover is refused when it wakes', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd, place } = await staged(t);
  const observer = new Observer(await place.open());
  const { args, cwd } = scriptArgs(WRITER);
  const child = spawn(process.execPath, [...args, etcd.address()], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.after(() => child.kill('SIGKILL'));
  const said: (number | string)[] = [];
  child.on('message', (message: number | string) => void said.push(message));
  await until(() => said.length > 20, 'it writes');
  child.kill('SIGSTOP');
  const writer = await claimUntilWon(await place.open());
  const { last } = writer;
  for (let i = 0; i < 20; i++) await appendNext(writer);
  // Longer than its patience.
  await sleep(1_200);
  // Its last messages may come after its exit.
  const closed = once(child, 'close');
  child.kill('SIGCONT');
  await closed;
  assert.equal(said.at(-1), 'WrongSequence');
  assert(Number(said.at(-2)) < last, 'it has acknowledged nothing after the other one had claimed');
  for (let i = 0; i < 5; i++) await appendNext(writer);
  await observer.has(last + 25);
});

test('a full etcd pauses the writer, which continues once an operator has freed room', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd, place } = await staged(t, { quotaBytes: 16 * 2 ** 20 }, 2 ** 20);
  const observer = new Observer(await place.open());
  const log = await place.open();
  const writer = await claimed(log);
  const room: (string | undefined)[] = [];
  writer.onRoom = (problem) => void room.push(problem);
  let done = 1;
  const appends: Promise<void>[] = [];
  for (let sequence = 2; room.length === 0; sequence++) {
    const append = writer.append([entryOf(sequence, 200_000)], sequence - 1);
    const counted = append.then(() => {
      done += 1;
    });
    appends.push(counted);
    await Promise.race([append, until(() => room.length > 0, 'it is full')]);
  }
  assert.match(room[0]!, /full/);
  assert.equal(writer.failure, undefined, 'nothing ends');
  assert((await log.space(MS)).isFull);
  await assert.rejects(writer.heartbeat(Buffer.from('x'), MS), NoSpace);
  const other = await place.open();
  const tail = await other.tail(MS);
  const record = entryOf(tail.sequence + 1);
  const outcome = await other
    .claim(tail, record, { node: 'b', patienceMs: MS })
    .catch((error: Error) => error);
  assert(outcome instanceof NoSpace, `${outcome}`);
  // What is trimmed has been read.
  await observer.has(tail.sequence);
  await log.trim(tail.sequence);
  const operator = await etcd.client();
  const members = (await membersOf(operator)).map(({ member }) => member);
  assert.equal(members.length, 3);
  for (const member of members) {
    const { after, before } = (await makeRoom(operator, member))!;
    assert(after.usedBytes < before.usedBytes, `${after.usedBytes} of ${before.usedBytes} bytes`);
  }
  assert.equal(await makeRoom(operator, 'elsewhere:2379'), undefined);
  await Promise.all(appends);
  await until(() => room.at(-1) === undefined, 'there is room');
  const { isFull, usedBytes } = await log.space(MS);
  assert(!isFull && usedBytes < 8 * 2 ** 20, `${usedBytes} bytes`);
  await appendNext(writer);
  await observer.has(done + 1);
  await etcd.members[0]!.kill();
  assert.equal(await makeRoom(operator, members[0]!), undefined, 'a member that is away');
  operator.close();
});

test('etcd reuses trimmed space, so that its file stays small without an operator', {
  skip: NO_ETCD || SHORT,
}, async (t) => {
  const { place } = await staged(t, { members: 1, quotaBytes: 24 * 2 ** 20 }, 2 ** 20);
  const log = await place.open();
  const writer = await claimed(log);
  for (let i = 0; i < 400; i++) {
    await appendNext(writer, 200_000);
    if (i % 10 === 0) await log.trim(writer.last);
  }
  assert(!(await log.space(MS)).isFull, '80 MB have gone through 24');
  const tail = await log.tail(MS);
  const newest = await rangeOf(log, positionOf(tail.sequence - 5), tail.sequence);
  assert.equal(newest.length, 5, 'the newest megabyte is there');
});

test('a follower that is slower than compaction reads on, or learns that it is too old', {
  skip: NO_ETCD,
}, async (t) => {
  const { place } = await staged(t, { members: 1 }, 5_000);
  const slow = new Observer(await place.open());
  const log = await place.open();
  const writer = await claimed(log);
  // Until its watch is open: what that delivers comes sooner than it would be read.
  let began: number;
  do {
    await slow.has(writer.last);
    began = performance.now();
    await appendNext(writer);
    await slow.has(writer.last);
  } while (performance.now() - began > WATCHED_MS);
  let open = (): void => undefined;
  slow.gate = new Promise((resolve) => {
    open = resolve;
  });
  for (let i = 0; i < 50; i++) await appendNext(writer, 300);
  await log.trim(30);
  for (let i = 0; i < 50; i++) await appendNext(writer, 300);
  open();
  await slow.has(writer.last);
  // More than the feed buffers.
  slow.gate = new Promise((resolve) => {
    open = resolve;
  });
  for (let i = 0; i < 40; i++) await appendNext(writer, 1_000_000);
  open();
  await slow.has(writer.last);
  const late = new Observer(await place.open(), positionOf(10));
  await until(() => late.ended !== undefined, 'it is notified');
  assert.match(late.ended!.message, /batch 11 is not there any more.*begins with 31/);
});

test('a writer whose time limit ends while etcd is unreachable ends with an unknown outcome', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd, place } = await staged(t);
  const writer = await claimed(await place.open(), 'a', 800);
  const observer = new Observer(await place.open());
  await Promise.all(etcd.members.map((member) => member.kill()));
  await assert.rejects(appendNext(writer), OutcomeUnknown);
  for (const member of etcd.members) member.start();
  const next = await claimed(await place.open());
  await appendNext(next);
  await observer.has(next.last);
});

test('a call without an answer delays no later call to that member', {
  skip: NO_ETCD,
}, async (t) => {
  const { etcd } = await staged(t);
  const client = await etcd.client();
  t.after(() => client.close());
  const [member] = etcd.members;
  member!.pause();
  let isAnswered = false;
  let isGivenUp = false;
  const swap = (): Promise<boolean> => client.swap({ key: 'a', expected: undefined, puts: [] }, MS);
  const first = swap().catch(() => {
    isGivenUp = true;
  });
  while (!isAnswered && !isGivenUp) {
    swap().then(
      () => {
        isAnswered = true;
      },
      () => undefined,
    );
    await sleep(100);
  }
  assert(!isGivenUp);
  member!.resume();
  await first;
});

test('closing does not wait for an unreachable etcd', { skip: NO_ETCD }, async (t) => {
  const { etcd, place } = await staged(t, { members: 1 });
  const log = await place.open();
  const writer = await claimed(log);
  const observer = new Observer(log);
  log.announce('a', Buffer.from('x'), { mayReplace: () => true, onTaken: () => undefined });
  log.watchHeartbeats(
    () => undefined,
    () => undefined,
  );
  await observer.has(1);
  await etcd.members[0]!.kill();
  const append = assert.rejects(appendNext(writer), OutcomeUnknown);
  await log.close();
  await append;
  await assert.rejects(log.tail(MS), Unreachable);
  assert.equal(observer.ended, undefined);
});
