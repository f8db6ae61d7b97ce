/**
 * The writer of a log that several machines share, from its claim to its end. It has one group in flight, each swapped
 * with the tail that this writer has left. The first group that is not certainly its own ends it.
 *
 * Thread: I/O.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { GroupCommit } from '../log/group-commit.ts';
import { type LogEntry, OutcomeUnknown, Unreachable, WrongSequence } from '../log/log.ts';
import { Certain, type Group, type TailStore } from './certain.ts';
import { type Claim, type LogWriter, NO_TAIL, NoSpace, type Tail } from './replicated-log.ts';

const PROBE_MS = 1_000;

export async function beginLog<G extends Group>(
  store: TailStore<G>,
  records: readonly LogEntry[],
  epoch: number,
  patienceMs: number,
): Promise<Tail> {
  const group = store.group(NO_TAIL, records, nameOf('begin'), epoch);
  await new Certain(store, patienceMs).commit(group, false);
  return group.tail;
}

function nameOf(node: string): string {
  return `${node}.${randomBytes(8).toString('hex')}`;
}

export class TailWriter<G extends Group> extends GroupCommit implements LogWriter {
  onRoom: (problem: string | undefined) => void = () => undefined;
  tail: Tail;
  private readonly certain: Certain<G>;
  private probe: NodeJS.Timeout | undefined;

  private constructor(certain: Certain<G>, tail: Tail) {
    super({ last: tail.sequence, digest: tail.digest });
    this.certain = certain;
    this.tail = tail;
    certain.onAnswer = (answer) => {
      if (answer === 'full') this.lack();
      else if (answer === 'done') this.hasRoom();
    };
  }

  static async claim<G extends Group>(
    store: TailStore<G>,
    expected: Tail,
    record: LogEntry,
    { heartbeat, node, patienceMs, seen }: Claim,
  ): Promise<TailWriter<G>> {
    const isBeginning = expected.epoch === 0;
    assert(isBeginning || record.sequence === expected.sequence + 1, 'records follow the tail');
    assert(isBeginning || record.before === expected.digest, 'records follow the tail');
    const certain = new Certain(store, patienceMs);
    const group = {
      ...store.group(expected, [record], nameOf(node), expected.epoch + 1),
      heartbeat,
      seen,
    };
    await certain.commit(group, false);
    return new TailWriter(certain, group.tail);
  }

  get epoch(): number {
    return this.tail.epoch;
  }

  protected async write(entries: readonly LogEntry[]): Promise<void> {
    const { certain, tail } = this;
    const group = certain.store.group(tail, entries, tail.writer, tail.epoch);
    await certain.commit(group, true);
    this.tail = group.tail;
  }

  async heartbeat(value: Buffer, msMax: number): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const answer = await this.certain.store
      .heartbeat(this.tail.writer, value, msMax)
      .catch((error: Error) => {
        throw new Unreachable(error.message);
      });
    if (answer === 'done') return;
    if (answer === 'moved') {
      // What is under way finds out by itself whether it came before the other one's claim.
      this.failure ??= new WrongSequence(this.last, this.last + 1);
      throw this.failure;
    }
    this.lack();
    throw new NoSpace();
  }

  end(why: string): void {
    clearInterval(this.probe);
    this.certain.end(why);
    this.failure ??= new OutcomeUnknown(why);
  }

  private lack(): void {
    if (this.probe !== undefined || this.failure !== undefined) return;
    this.probe = setInterval(() => void this.look(), PROBE_MS).unref();
    this.onRoom('the log of the cluster is full');
  }

  private async look(): Promise<void> {
    const isFull = await this.certain.store.isFull(PROBE_MS).catch(() => true);
    if (this.failure !== undefined) clearInterval(this.probe);
    else if (!isFull) this.hasRoom();
  }

  private hasRoom(): void {
    if (this.probe === undefined) return;
    clearInterval(this.probe);
    this.probe = undefined;
    this.onRoom(undefined);
  }
}
