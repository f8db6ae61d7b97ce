/**
 * The log that several machines share, on etcd. Keys below the name of the venue:
 *
 *   log/<sequence>                  a group of records (group-value.ts), by the sequence of its last one
 *   more/<sequence>/<writer>/<n>    its further values, where it has several; put before it
 *   tail                            the newest record, and who wrote it: what each append is compared with
 *   owner                           who has claimed last: what each heartbeat is compared with
 *   leader                          the last heartbeat
 *   nodes/<node>                    what a node publishes about itself, under a lease
 *   secret, settings                what all nodes have to have in common (server/cluster/membership.ts)
 *
 * Thread: the I/O thread.
 */

import { LogDamage, type LogEntry, Unreachable } from '../log/log.ts';
import { Announcer } from './announcer.ts';
import { BadValues } from './bad-values.ts';
import type { Answer, TailStore } from './certain.ts';
import { Chain } from './chain.ts';
import { type EtcdClient, isFullText, type KeyRange, type Page, type Row } from './etcd-client.ts';
import { Feed } from './feed.ts';
import {
  decodeHead,
  decodeRecords,
  type EncodedGroup,
  encodeGroup,
  type GroupHead,
} from './group-value.ts';
import {
  type AnnounceCalls,
  type Announcement,
  type Claim,
  type FollowCalls,
  isTail,
  NO_TAIL,
  type Position,
  type ReplicatedLog,
  type SharedName,
  type Space,
  type Subscription,
  type Tail,
  TooOld,
} from './replicated-log.ts';
import { beginLog, TailWriter } from './tail-writer.ts';

const DIGITS = 16;
const READ_MS = 3_000;
const TRIM_MS = 30_000;
const CLOSE_MS = 700;
/** Bytes of one read, estimated from the groups before. */
const PAGE_BYTES = 2 ** 22;
const PAGE_GROUPS_MAX = 64;

const GROUP_ADVICE =
  'this node stays behind until the value is put back, or the key is deleted and it takes the copy of another node';
const TAIL_ADVICE = 'nobody can lead until the value is put back';

interface StoredGroup {
  readonly key: string;
  readonly value: Buffer;
  readonly head: GroupHead;
}

export class EtcdLog implements ReplicatedLog, TailStore<EncodedGroup> {
  private readonly etcd: EtcdClient;
  private readonly prefix: string;
  private readonly keepBytes: number;
  private readonly badValues: BadValues;
  private readonly writers = new Set<TailWriter<EncodedGroup>>();
  private readonly subscriptions = new Set<Subscription>();

  /**
   * @param keepBytes so much of the newest records trim() leaves
   * @param warn of values that cannot be read
   */
  constructor(
    etcd: EtcdClient,
    name: string,
    keepBytes: number,
    warn: (line: string) => void = () => undefined,
  ) {
    this.badValues = new BadValues(warn);
    this.etcd = etcd;
    this.prefix = `${name}/`;
    this.keepBytes = keepBytes;
  }

  async tail(msMax: number): Promise<Tail> {
    const stored = await this.etcd.get(this.key('tail'), msMax);
    if (stored === undefined) return NO_TAIL;
    return this.badValues.read(this.key('tail'), TAIL_ADVICE, () => tailOf(stored));
  }

  follow(from: Position, calls: FollowCalls): Subscription {
    const chain = new Chain(from);
    const pages = new Pages();
    let isOver = false;
    let isEmpty = false;
    const onEmpty = (now: boolean): void => {
      if (now !== isEmpty && !isOver) calls.onEmpty(now);
      isEmpty = now;
    };
    const take = async (rows: readonly Row[]): Promise<boolean> => {
      if (rows.length > 0) onEmpty(false);
      for (const row of rows) {
        const group = this.stored(row);
        if (!chain.reaches(group.head.first)) return false;
        if (group.head.tail.sequence <= chain.at.sequence) continue;
        for (const entry of chain.take(await this.records(group))) {
          if (isOver) return false;
          await calls.take(entry);
        }
      }
      return true;
    };
    const feed = new Feed(this.etcd, {
      range: this.below('log/'),
      read: async () => {
        chain.forget();
        for (;;) {
          const page = await this.next(chain, pages);
          if (page.rows.length === 0) onEmpty(await this.hasNothing(chain.at));
          if (!(await take(page.rows)) || !page.hasMore) return page.revision;
        }
      },
      take,
      mark: () => chain.at.sequence,
      onProblem: calls.onProblem,
      onEnd: calls.onEnd,
    });
    return this.subscribed({
      stop: () => {
        isOver = true;
        return feed.stop();
      },
    });
  }

  async claim(expected: Tail, record: LogEntry, claim: Claim): Promise<TailWriter<EncodedGroup>> {
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
    const start = this.key('leader');
    const range = { start, end: `${start}\0` };
    let seen: Buffer | undefined;
    let count = 0;
    const take = (rows: readonly Row[]): Promise<boolean> => {
      for (const { value } of rows) {
        if (seen?.equals(value)) continue;
        seen = value;
        count += 1;
        onHeartbeat(value);
      }
      return Promise.resolve(true);
    };
    return this.subscribed(
      new Feed(this.etcd, {
        range,
        read: async () => {
          const { revision, rows } = await this.etcd.page(range, 1, READ_MS);
          await take(rows);
          return revision;
        },
        take,
        mark: () => count,
        onProblem,
        onEnd: (error) => onProblem(error.message),
      }),
    );
  }

  lastHeartbeat(msMax: number): Promise<Buffer | undefined> {
    return this.etcd.get(this.key('leader'), msMax);
  }

  announce(node: string, value: Buffer, calls: AnnounceCalls): Announcement {
    const announcer = new Announcer(this.etcd, this.key(`nodes/${node}`), value, calls);
    const { stop } = this.subscribed(announcer);
    return {
      get state() {
        return announcer.state;
      },
      stop,
    };
  }

  async nodes(msMax: number): Promise<ReadonlyMap<string, Buffer>> {
    const { rows } = await this.etcd.page(this.below('nodes/'), 0, msMax);
    const { length } = this.key('nodes/');
    return new Map(rows.map(({ key, value }) => [key.slice(length), value]));
  }

  shared(name: SharedName, msMax: number): Promise<Buffer | undefined> {
    return this.etcd.get(this.key(name), msMax);
  }

  async share(
    name: SharedName,
    expected: Buffer | undefined,
    value: Buffer,
    msMax: number,
  ): Promise<boolean> {
    const puts = [{ key: this.key(name), value }];
    return (await this.put(name, expected, puts, msMax)) === 'done';
  }

  async space(msMax: number): Promise<Space> {
    const [members, isFull] = await Promise.all([this.etcd.status(msMax), this.etcd.isFull(msMax)]);
    const usedBytes = Math.max(...members.map((member) => member.usedBytes));
    const largest = members.find((member) => member.usedBytes === usedBytes);
    if (largest === undefined) throw new Unreachable('no member answers with its size');
    return { usedBytes, liveBytes: largest.liveBytes, isFull };
  }

  async trim(sequence: number): Promise<void> {
    const tail = await this.tail(READ_MS);
    const upTo = Math.min(sequence, await this.spare(tail));
    // A group goes with its last record; the last group of all stays.
    const end = digits(Math.min(upTo + 1, tail.sequence));
    await this.etcd.delete({ start: this.key('log/'), end: this.key(`log/${end}`) }, TRIM_MS);
    await this.etcd.delete({ start: this.key('more/'), end: this.key(`more/${end}`) }, TRIM_MS);
    const { revision } = await this.etcd.page(this.below('log/'), 1, READ_MS);
    // Two leaders may do it at once, of which the second one finds nothing to do.
    await this.etcd.compact(revision, TRIM_MS).catch(() => undefined);
  }

  async close(): Promise<void> {
    for (const writer of this.writers) writer.end('the node closes');
    const stopped = Promise.all([...this.subscriptions].map(({ stop }) => stop()));
    // Announcements are removed, if etcd answers in time.
    const timer = setTimeout(() => this.etcd.close(), CLOSE_MS);
    await stopped;
    clearTimeout(timer);
    this.etcd.close();
  }

  group(expected: Tail, entries: readonly LogEntry[], writer: string, epoch: number): EncodedGroup {
    return encodeGroup(expected, entries, writer, epoch);
  }

  async swap(
    { heartbeat, expected, seen, tail, values }: EncodedGroup,
    msMax: number,
  ): Promise<Answer> {
    const last = digits(tail.sequence);
    for (const [i, value] of values.entries()) {
      if (i === 0) continue;
      const key = this.moreKey(tail, i);
      const answer = await this.put('tail', tailBytes(expected), [{ key, value }], msMax);
      if (answer !== 'done') return answer;
    }
    const puts = [
      { key: this.key(`log/${last}`), value: values[0]! },
      { key: this.key('tail'), value: tailBytes(tail)! },
    ];
    if (tail.epoch !== expected.epoch) {
      puts.push({ key: this.key('owner'), value: Buffer.from(tail.writer) });
    }
    if (heartbeat !== undefined) puts.push({ key: this.key('leader'), value: heartbeat });
    const unchanged = seen && { key: this.key('leader'), value: seen };
    return this.put('tail', tailBytes(expected), puts, msMax, unchanged);
  }

  async writerOf(sequence: number, msMax: number): Promise<string> {
    const { rows } = await this.etcd.page(this.from(sequence), 1, msMax);
    const group = rows[0] === undefined ? undefined : this.stored(rows[0]);
    return group !== undefined && group.head.first <= sequence ? group.head.tail.writer : '';
  }

  heartbeat(writer: string, value: Buffer, msMax: number): Promise<Answer> {
    const puts = [{ key: this.key('leader'), value }];
    return this.put('owner', Buffer.from(writer), puts, msMax);
  }

  isFull(msMax: number): Promise<boolean> {
    return this.etcd.isFull(msMax);
  }

  private async put(
    name: string,
    expected: Buffer | undefined,
    puts: readonly Row[],
    msMax: number,
    unchanged?: Row,
  ): Promise<Answer> {
    try {
      const swap = { key: this.key(name), expected, puts, unchanged };
      const isDone = await this.etcd.swap(swap, msMax);
      return isDone ? 'done' : 'moved';
    } catch (error) {
      if (isFullText(error as Error)) return 'full';
      throw error;
    }
  }

  /**
   * The log is empty though a node has records. Only what was committed is applied, so any other log ends at
   * this position or later; throws LogDamage where it does not.
   */
  private async hasNothing({ digest, sequence }: Position): Promise<boolean> {
    const tail = await this.tail(READ_MS);
    if (tail.epoch === NO_TAIL.epoch) return sequence > 0;
    if (tail.sequence > sequence) return false;
    if (tail.sequence === sequence && tail.digest === digest) return false;
    const end = `it ends with batch ${tail.sequence}, digest ${tail.digest}`;
    throw new LogDamage(`${end}; this node has batch ${sequence}, digest ${digest}`);
  }

  /** The groups from the next record on, and no others; throws TooOld where it is gone. */
  private async next(chain: Chain, pages: Pages): Promise<Page> {
    const { sequence } = chain.at;
    const range = this.from(sequence + 1);
    const page = await this.etcd.page(range, pages.groups, READ_MS).catch((error: Error) => {
      // It may have been too much for the connection.
      pages.groups = Math.ceil(pages.groups / 2);
      throw error;
    });
    pages.note(page);
    const [row] = page.rows;
    const first = row === undefined ? 0 : this.stored(row).head.first;
    if (first > sequence + 1) throw new TooOld(sequence, first);
    return page;
  }

  private stored({ key, value }: Row): StoredGroup {
    const head = this.badValues.read(key, GROUP_ADVICE, () => decodeHead(key, value));
    return { key, value, head };
  }

  private async records({
    head,
    key,
    value,
  }: StoredGroup): Promise<ReturnType<typeof decodeRecords>> {
    const more: Buffer[] = [];
    for (let i = 1; i < head.values; i++) {
      const found = await this.etcd.get(this.moreKey(head.tail, i), READ_MS);
      if (found === undefined) throw new TooOld(head.first - 1, head.tail.sequence + 1);
      more.push(found);
    }
    return this.badValues.read(key, GROUP_ADVICE, () => decodeRecords(key, value, more));
  }

  /** Returns the sequence up to which records may be removed, so that the newest `keepBytes` stay. */
  private async spare({ bytes, sequence }: Tail): Promise<number> {
    // The last group up to which all together have no more than these bytes.
    const bytesMax = bytes - this.keepBytes;
    let low = 0;
    let high = bytesMax <= 0 ? 0 : sequence;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const { rows } = await this.etcd.page(this.from(middle), 1, READ_MS);
      const { first, tail } = this.stored(rows[0]!).head;
      if (tail.bytes <= bytesMax) low = Math.min(tail.sequence, high);
      else high = Math.min(first, middle) - 1;
    }
    return low;
  }

  private subscribed(subscription: Subscription): Subscription {
    const own = {
      stop: async () => {
        await subscription.stop();
        this.subscriptions.delete(own);
      },
    };
    this.subscriptions.add(own);
    return own;
  }

  private key(name: string): string {
    return this.prefix + name;
  }

  private moreKey({ sequence, writer }: Tail, i: number): string {
    return this.key(`more/${digits(sequence)}/${writer}/${i}`);
  }

  /** All keys that begin so; `name` ends with '/'. */
  private below(name: string): KeyRange {
    return { start: this.key(name), end: this.key(`${name.slice(0, -1)}0`) };
  }

  /** The groups that end with this record or a later one. */
  private from(sequence: number): KeyRange {
    return { start: this.key(`log/${digits(sequence)}`), end: this.below('log/').end };
  }
}

class Pages {
  groups = 4;

  note({ rows }: Page): void {
    if (rows.length === 0) return;
    const bytes = rows.reduce((sum, { value }) => sum + value.length, 0) / rows.length;
    this.groups = Math.min(PAGE_GROUPS_MAX, Math.max(1, Math.floor(PAGE_BYTES / bytes)));
  }
}

function tailOf(stored: Buffer): Tail {
  const tail: unknown = JSON.parse(stored.toString());
  if (!isTail(tail)) throw new Error('it is no tail');
  return tail;
}

function digits(sequence: number): string {
  return String(sequence).padStart(DIGITS, '0');
}

function tailBytes(tail: Tail): Buffer | undefined {
  return tail.writer === '' ? undefined : Buffer.from(JSON.stringify(tail));
}
