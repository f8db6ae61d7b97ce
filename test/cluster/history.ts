/**
 * Several nodes that take the log from one another while their network loses, doubles and delays
 * messages. Acknowledged records are in the log exactly once, refused ones never. A record that was
 * acknowledged before another was sent precedes it.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { OutcomeUnknown, WrongSequence } from '../../storage/log/log.ts';
import type { LogWriter, ReplicatedLog } from '../../storage/replicated-log/replicated-log.ts';
import type { Random } from '../common/random.ts';
import { type Fate, Faults } from '../storage/memory-log.ts';
import { Observer, type Place, rangeOf, START } from './log-place.ts';

export interface HistoryShape {
  readonly nodes: number;
  readonly records: number;
  readonly patienceMs: number;
}

interface Sent {
  readonly id: number;
  readonly sequence: number;
  /** Time of sending, by a clock that counts events. */
  readonly sentAt: number;
  outcome: 'under way' | 'acknowledged' | 'refused' | 'unknown';
  endedAt: number;
}

const MS = 60_000;
const FATES: readonly Fate[] = [
  'arrives',
  'arrives',
  'arrives',
  'request lost',
  'answer lost',
  'late',
];

class History {
  readonly all: Sent[] = [];
  private clock = 0;

  async record(sequence: number, send: (id: number) => Promise<unknown>): Promise<void> {
    const id = this.all.length + 1;
    this.clock += 1;
    const sent: Sent = { id, sequence, sentAt: this.clock, outcome: 'under way', endedAt: 0 };
    this.all.push(sent);
    try {
      await send(id);
      sent.outcome = 'acknowledged';
    } catch (error) {
      assert(error instanceof WrongSequence || error instanceof OutcomeUnknown, `${error}`);
      sent.outcome = error instanceof WrongSequence ? 'refused' : 'unknown';
    }
    this.clock += 1;
    sent.endedAt = this.clock;
  }

  check(ids: readonly number[]): void {
    assert.equal(new Set(ids).size, ids.length, 'no record is there twice');
    let newestSentAt = 0;
    for (const [i, id] of ids.entries()) {
      const { endedAt, outcome, sentAt, sequence } = this.all[id - 1]!;
      assert.notEqual(outcome, 'refused', `record ${id} was refused and is there`);
      assert.equal(sequence, i + 1, `record ${id} is where its writer sent it`);
      if (outcome === 'acknowledged') {
        assert(
          endedAt > newestSentAt,
          `record ${id} was acknowledged before one before it was sent`,
        );
      }
      newestSentAt = Math.max(newestSentAt, sentAt);
    }
    const there = new Set(ids);
    for (const { id, outcome } of this.all) {
      if (outcome === 'acknowledged') assert(there.has(id), `record ${id} is lost`);
    }
  }
}

function digestOf(id: number): number {
  return Math.imul(id, 0x9e3779b1);
}

function entryOf(sequence: number, id: number, bytes: number) {
  const payload = Buffer.alloc(4 + bytes, id & 255);
  payload.writeUInt32LE(id);
  return { sequence, time: sequence, after: digestOf(id), payload };
}

/** Resolves with the numbers of acknowledged, refused and unknown records. */
export async function runHistory(
  open: Place['open'],
  random: Random,
  shape: HistoryShape,
): Promise<Readonly<Record<string, number>>> {
  const history = new History();
  const observers = [new Observer(await open()), new Observer(await open())];
  await Promise.all(Array.from({ length: shape.nodes }, (_, i) => runNode(i)));

  async function runNode(i: number): Promise<void> {
    const faults = Object.assign(new Faults(), { patienceMs: 20 });
    faults.fate = () => random.pick(FATES);
    const log = await open(faults);
    for (let left = shape.records; left > 0; ) {
      const writer = await claim(log, `node-${i}`);
      left -= 1;
      if (writer === undefined) continue;
      const count = random.between(1, 8);
      left -= count;
      const appends = Array.from({ length: count }, async (_, n) => {
        const sequence = writer.last + 1 + n;
        const bytes = random.below(random.chance(3) ? 1_500_000 : 2_000);
        await history.record(sequence, (id) =>
          writer.append([entryOf(sequence, id, bytes)], sequence - 1),
        );
      });
      if (random.chance(25)) setTimeout(() => writer.end('the test ends it'), random.below(30));
      await Promise.all(appends);
      await sleep(random.below(15));
    }
  }

  async function claim(log: ReplicatedLog, node: string): Promise<LogWriter | undefined> {
    const tail = await log.tail(MS).catch(() => undefined);
    if (tail === undefined) return undefined;
    const sequence = tail.sequence + 1;
    let writer: LogWriter | undefined;
    await history.record(sequence, async (id) => {
      const record = { ...entryOf(sequence, id, 10), before: tail.digest };
      writer = await log.claim(tail, record, { node, patienceMs: shape.patienceMs });
    });
    return writer;
  }

  // The last claim of all: what is still on the way comes too late.
  const log = await open();
  for (let writer: LogWriter | undefined; writer === undefined; ) {
    writer = await claim(log, 'last');
  }
  const { sequence } = await log.tail(MS);
  const entries = await rangeOf(log, START, sequence);
  const ids = entries.map(({ payload }) => payload.readUInt32LE());
  for (const { payload } of entries) {
    const id = payload.readUInt32LE();
    assert(
      payload.subarray(4).equals(Buffer.alloc(payload.length - 4, id & 255)),
      'as it was sent',
    );
  }
  history.check(ids);
  for (const observer of observers) {
    await observer.has(sequence);
    const seen = observer.entries.map(({ payload }) => payload.readUInt32LE());
    assert.deepEqual(seen.slice(0, ids.length), ids, 'followers see the same');
  }
  const counts: Record<string, number> = { acknowledged: 0, refused: 0, unknown: 0 };
  for (const { outcome } of history.all) counts[outcome]! += 1;
  return counts;
}
