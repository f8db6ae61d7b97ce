/**
 * A replicated log in memory, with faults that a test chooses for each client. The writer is the
 * product's, only the store of records differs.
 */
import { crc32 } from 'node:zlib';
import { LogDamage, type LogEntry, Unreachable } from '../../storage/log/log.ts';
import type { Answer, Group, TailStore } from '../../storage/replicated-log/certain.ts';
import {
  type AnnounceCalls,
  type Announcement,
  type Claim,
  type FollowCalls,
  NO_TAIL,
  type Position,
  type ReplicatedLog,
  type SharedName,
  type Space,
  type Subscription,
  type Tail,
  TooOld,
} from '../../storage/replicated-log/replicated-log.ts';
import { beginLog, TailWriter } from '../../storage/replicated-log/tail-writer.ts';

interface Stored {
  readonly entry: LogEntry;
  readonly writer: string;
}

export class MemoryCluster {
  stored: Stored[] = [];
  tail = NO_TAIL;
  owner = '';
  heartbeat: Buffer | undefined;
  readonly shared = new Map<SharedName, Buffer>();
  readonly announced = new Map<string, { value: Buffer; faults: Faults }>();
  /** refuses: nothing is stored. pretends: the record is stored, and the answer denies it. */
  full: 'no' | 'refuses' | 'pretends' = 'no';
  private readonly wakes = new Set<() => void>();

  /** Loses everything, like a store whose disks are lost. */
  lose(): void {
    this.stored = [];
    this.tail = NO_TAIL;
    this.owner = '';
    this.heartbeat = undefined;
    this.wake();
  }

  changed(msMax: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.wakes.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, msMax);
      this.wakes.add(wake);
    });
  }

  wake(): void {
    for (const wake of [...this.wakes]) wake();
  }
}

/** Outcome of a request. late: it arrives after its client has given it up. */
export type Fate = 'arrives' | 'request lost' | 'answer lost' | 'late';

/** The network of one client; everything can be changed at any time. */
export class Faults {
  /** Cut off from the log: no request arrives, no answer and no record comes back. */
  isCut = false;
  losesHeartbeats = false;
  /**
   * True: each heartbeat is delivered before the previous one, like a read that overtakes the
   * watch.
   */
  swapsHeartbeats = false;
  fate: () => Fate = () => 'arrives';
  /** Milliseconds of each way. */
  delayMs: () => number = () => 0;
  /**
   * Milliseconds after which a client gives up lost or late requests, unless it does so earlier.
   */
  patienceMs = 1_000;
}

interface MemoryGroup extends Group {
  readonly entries: readonly LogEntry[];
}

const LATE_MS = 30;
const ANNOUNCE_MS = 10;
const LATE_TURNS = 4;

export class MemoryLog implements ReplicatedLog, TailStore<MemoryGroup> {
  readonly cluster: MemoryCluster;
  readonly faults: Faults;
  private readonly writers = new Set<TailWriter<MemoryGroup>>();
  private readonly subscriptions = new Set<Subscription>();

  constructor(cluster: MemoryCluster, faults = new Faults()) {
    this.cluster = cluster;
    this.faults = faults;
  }

  tail(msMax: number): Promise<Tail> {
    return this.request(msMax, () => this.cluster.tail);
  }

  async *range(from: Position, to: number): AsyncIterable<LogEntry> {
    for (let at = from; at.sequence < to; ) {
      const entry = await this.request(1_000, () => this.after(at));
      if (entry === undefined) throw new LogDamage(`batch ${at.sequence + 1}: it is missing`);
      yield entry;
      at = { sequence: entry.sequence, digest: entry.after };
    }
  }

  follow(from: Position, calls: FollowCalls): Subscription {
    let at = from;
    let wasEmpty = false;
    return this.subscribe(async (isOver) => {
      try {
        const isEmpty = this.cluster.tail === NO_TAIL && at.sequence > 0;
        if (isEmpty !== wasEmpty) calls.onEmpty(isEmpty);
        wasEmpty = isEmpty;
        if (!isEmpty) this.compareEnd(at);
        for (let entry = this.after(at); entry !== undefined; entry = this.after(at)) {
          await pause(this.faults.delayMs());
          if (isOver() || this.faults.isCut) return true;
          at = { sequence: entry.sequence, digest: entry.after };
          await calls.take(entry);
          if (isOver()) return true;
        }
        return true;
      } catch (error) {
        if (!isOver()) calls.onEnd(error as Error);
        return false;
      }
    }, calls.onProblem);
  }

  async claim(expected: Tail, record: LogEntry, claim: Claim): Promise<TailWriter<MemoryGroup>> {
    const writer = await TailWriter.claim(this, expected, record, claim);
    this.writers.add(writer);
    return writer;
  }

  begin(records: readonly LogEntry[], epoch: number, patienceMs: number): Promise<Tail> {
    return beginLog(this, records, epoch, patienceMs);
  }

  watchHeartbeats(
    onHeartbeat: (value: Buffer) => void,
    onProblem: (problem: string | undefined) => void,
  ): Subscription {
    let seen: Buffer | undefined;
    return this.subscribe(async (isOver) => {
      const { heartbeat } = this.cluster;
      if (heartbeat === undefined || heartbeat === seen || this.faults.losesHeartbeats) return true;
      await pause(this.faults.delayMs());
      if (isOver() || this.faults.isCut) return true;
      const before = seen;
      seen = heartbeat;
      onHeartbeat(heartbeat);
      if (this.faults.swapsHeartbeats && before !== undefined) onHeartbeat(before);
      return true;
    }, onProblem);
  }

  lastHeartbeat(msMax: number): Promise<Buffer | undefined> {
    return this.request(msMax, () => this.cluster.heartbeat);
  }

  announce(node: string, value: Buffer, calls: AnnounceCalls): Announcement {
    const { announced } = this.cluster;
    const own = { value, faults: this.faults };
    const announcement = {
      state: 'unknown' as Announcement['state'],
      stop: () => {
        clearInterval(timer);
        if (announced.get(node) === own) announced.delete(node);
        this.subscriptions.delete(announcement);
        return Promise.resolve();
      },
    };
    const attempt = (): void => {
      const found = announced.get(node);
      const isFree = found === undefined || found === own || found.faults.isCut;
      if (isFree || calls.mayReplace(found.value)) {
        announced.set(node, own);
        announcement.state = 'published';
        clearInterval(timer);
      } else announcement.state = 'taken';
    };
    const timer = setInterval(attempt, ANNOUNCE_MS);
    attempt();
    this.subscriptions.add(announcement);
    return announcement;
  }

  shared(name: SharedName, msMax: number): Promise<Buffer | undefined> {
    return this.request(msMax, () => this.cluster.shared.get(name));
  }

  share(
    name: SharedName,
    expected: Buffer | undefined,
    value: Buffer,
    msMax: number,
  ): Promise<boolean> {
    return this.request(msMax, () => {
      const { full, shared } = this.cluster;
      const found = shared.get(name);
      const isExpected =
        found === undefined ? expected === undefined : expected?.equals(found) === true;
      if (full !== 'no' || !isExpected) return false;
      shared.set(name, Buffer.from(value));
      return true;
    });
  }

  nodes(msMax: number): Promise<ReadonlyMap<string, Buffer>> {
    return this.request(msMax, () => {
      const present = [...this.cluster.announced].filter(([, { faults }]) => !faults.isCut);
      return new Map(present.map(([node, { value }]) => [node, value]));
    });
  }

  space(msMax: number): Promise<Space> {
    const isFull = this.cluster.full !== 'no';
    return this.request(msMax, () => ({ usedBytes: 0, liveBytes: 0, isFull }));
  }

  trim(sequence: number): Promise<void> {
    return this.request(1_000, () => {
      const { stored, tail } = this.cluster;
      this.cluster.stored = stored.filter(({ entry }) => {
        return entry.sequence > sequence || entry.sequence === tail.sequence;
      });
    });
  }

  async close(): Promise<void> {
    for (const writer of this.writers) writer.end('the node closes');
    await Promise.all([...this.subscriptions].map((subscription) => subscription.stop()));
  }

  group(expected: Tail, entries: readonly LogEntry[], writer: string, epoch: number): MemoryGroup {
    const copies = entries.map((entry) => ({ ...entry, payload: Buffer.from(entry.payload) }));
    const { after: digest, payload, sequence } = copies.at(-1)!;
    const link = crc32(payload, expected.link);
    const bytes = copies.reduce((sum, entry) => sum + entry.payload.length, expected.bytes);
    return { expected, entries: copies, tail: { sequence, digest, link, bytes, epoch, writer } };
  }

  swap(group: MemoryGroup, msMax: number): Promise<Answer> {
    const { cluster } = this;
    return this.request(msMax, () => {
      if (cluster.full === 'refuses') return 'full';
      if (cluster.tail.writer !== group.expected.writer) return 'moved';
      if (cluster.tail.sequence !== group.expected.sequence) return 'moved';
      if (group.seen !== undefined && !cluster.heartbeat?.equals(group.seen)) return 'moved';
      const { writer } = group.tail;
      cluster.stored.push(...group.entries.map((entry) => ({ entry, writer })));
      if (cluster.tail.epoch < group.tail.epoch) cluster.owner = writer;
      cluster.tail = group.tail;
      cluster.heartbeat = group.heartbeat ?? cluster.heartbeat;
      cluster.wake();
      return cluster.full === 'pretends' ? 'full' : 'done';
    });
  }

  writerOf(sequence: number, msMax: number): Promise<string> {
    return this.request(msMax, () => {
      const found = this.cluster.stored.find(({ entry }) => entry.sequence === sequence);
      return found?.writer ?? '';
    });
  }

  heartbeat(writer: string, value: Buffer, msMax: number): Promise<Answer> {
    const { cluster } = this;
    return this.request(msMax, () => {
      if (cluster.owner !== writer) return 'moved';
      if (cluster.full !== 'no') return 'full';
      cluster.heartbeat = Buffer.from(value);
      cluster.wake();
      return 'done';
    });
  }

  isFull(msMax: number): Promise<boolean> {
    return this.request(msMax, () => this.cluster.full !== 'no');
  }

  private compareEnd({ digest, sequence }: Position): void {
    const { tail } = this.cluster;
    if (tail.sequence > sequence || (tail.sequence === sequence && tail.digest === digest)) return;
    throw new LogDamage(`it ends with batch ${tail.sequence}; this node has batch ${sequence}`);
  }

  /** The record after a position; `undefined` while there is none. */
  private after({ digest, sequence }: Position): LogEntry | undefined {
    const { stored, tail } = this.cluster;
    if (tail.sequence <= sequence) return undefined;
    const first = stored[0]!.entry.sequence;
    if (first > sequence + 1) throw new TooOld(sequence, first);
    const { entry } = stored[sequence + 1 - first]!;
    if (entry.before !== digest) {
      throw new LogDamage(`batch ${entry.sequence}: it does not follow the one that is here`);
    }
    return entry;
  }

  /** Runs `work` after each change until it returns false. */
  private subscribe(
    work: (isOver: () => boolean) => Promise<boolean>,
    onProblem: (problem: string | undefined) => void,
  ): Subscription {
    let isOver = false;
    let wasCut = false;
    const run = async (): Promise<void> => {
      for (;;) {
        // Before the look, so that no change between the two is missed.
        const changed = this.cluster.changed(10);
        const { isCut } = this.faults;
        if (isCut !== wasCut && !isOver) onProblem(isCut ? 'no answer' : undefined);
        wasCut = isCut;
        if (!isCut && !(await work(() => isOver))) isOver = true;
        if (isOver) return;
        await changed;
      }
    };
    // As with etcd, nothing is delivered before the caller has its subscription.
    const ended = Promise.resolve().then(run);
    const subscription = {
      stop: async () => {
        isOver = true;
        this.subscriptions.delete(subscription);
        this.cluster.wake();
        await ended;
      },
    };
    this.subscriptions.add(subscription);
    return subscription;
  }

  private request<T>(msMax: number, work: () => T): Promise<T> {
    const { faults } = this;
    return new Promise((resolve, reject) => {
      const fate = faults.fate();
      const isLost = faults.isCut || fate !== 'arrives';
      const waitMs = isLost ? Math.min(msMax, faults.patienceMs) : msMax;
      const late = async (): Promise<void> => {
        // Where the process stood still, an answer that needs no time comes in some turns.
        for (let turn = 0; turn < LATE_TURNS; turn++) await pause(0);
        reject(new Unreachable(`${waitMs} ms have passed`));
      };
      const timer = setTimeout(() => void late(), waitMs);
      const settle = (done: () => void): void => {
        clearTimeout(timer);
        done();
      };
      if (faults.isCut || fate === 'request lost') return;
      const arrive = async (): Promise<void> => {
        await pause(faults.delayMs() + (fate === 'late' ? waitMs + LATE_MS : 0));
        if (faults.isCut) return;
        try {
          const value = work();
          await pause(faults.delayMs());
          if (!faults.isCut && fate !== 'answer lost') settle(() => resolve(value));
        } catch (error) {
          settle(() => reject(error));
        }
      };
      void arrive();
    });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => (ms > 0 ? setTimeout(resolve, ms) : setImmediate(resolve)));
}
