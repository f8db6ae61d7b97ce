/**
 * The contract of a log that several machines share. Records, numbers and digests are those of the log of
 * one machine (log/log.ts). Every implementation guarantees:
 *
 * - There is one order of records, without a gap. What was committed is never lost and never changes, whatever
 *   ends or wakes again.
 * - A record is committed when it is on the disks of a majority. tail() and follow() give committed records only,
 *   and tail() shows every record whose append had resolved before the call, on any machine.
 * - The tail alone decides who may write: claim() and append() are one compare-and-swap of the tail with the
 *   records. Of two writers that expect the same tail, one wins; the other has written nothing. A writer
 *   needs no clock and no lease, so one that was stopped for an hour does no harm when it wakes.
 * - An append whose outcome is unknown is repeated with the same comparison until it is certain. Until then it
 *   neither resolves nor rejects; only the end of the writer makes it reject, with OutcomeUnknown.
 *
 * Thread: the I/O thread. No callback is called after stop() or close() has been called.
 */
import type { LogEntry, NewEntry } from '../log/log.ts';

/** The newest record that a node has; { sequence: 0, digest: 0 } before the first. */
export interface Position {
  readonly sequence: number;
  /** Digest of the engine after it. */
  readonly digest: number;
}

/** The newest committed record, and who may follow it up. All zero and '' where there is none. */
export interface Tail extends Position {
  /** Checksum of the record: the link of the one that follows it. */
  readonly link: number;
  /** Bytes of all records up to it, as the log stores them. */
  readonly bytes: number;
  /** From 1, one more with each claim. */
  readonly epoch: number;
  /** Names one claim: the node, and a random part. */
  readonly writer: string;
}

export function isTail(value: unknown): value is Tail {
  if (typeof value !== 'object' || value === null) return false;
  const { bytes, digest, epoch, link, sequence, writer } = value as Tail;
  return (
    typeof writer === 'string' &&
    [bytes, digest, epoch, link, sequence].every((number) => Number.isSafeInteger(number))
  );
}

export const NO_TAIL: Tail = { sequence: 0, digest: 0, link: 0, bytes: 0, epoch: 0, writer: '' };

/** None is called before the subscription is returned. */
export interface FollowCalls {
  /** Each record after the given position, in order, without a gap. The next one waits for what it returns. */
  take(entry: LogEntry): void | Promise<void>;
  /** @param problem reason why nothing comes; `undefined` once records come again. The log retries. */
  onProblem(problem: string | undefined): void;
  /** The log has no record, and the position is of one; false once it has begun. Called when that changes. */
  onEmpty(isEmpty: boolean): void;
  /** The last call: TooOld, LogDamage (the records differ from the position), or what `take` has thrown. */
  onEnd(error: Error): void;
}

export interface Subscription {
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

export interface Announcement extends Subscription {
  readonly state: 'unknown' | 'published' | 'taken';
}

export interface AnnounceCalls {
  /** The value that was found is of a process that has ended. */
  mayReplace(found: Buffer): boolean;
  /** Another process runs under this name, and had it first; may be called again. */
  onTaken(found: Buffer): void;
}

export type SharedName = 'secret' | 'settings';

export interface Claim {
  /** Node id of who claims, at most 64 characters of ASCII. */
  readonly node: string;
  /** Longest time without an answer that the writer retries; then it ends with OutcomeUnknown. */
  readonly patienceMs: number;
  /** The first heartbeat, which is there as soon as the claim is. */
  readonly heartbeat?: Buffer;
  /** The last heartbeat that has come here: after another one the claim is refused, as its leader runs. */
  readonly seen?: Buffer | undefined;
}

export interface Space {
  /** Bytes of the file of the member that has the largest one, and how many of them are in use. */
  readonly usedBytes: number;
  readonly liveBytes: number;
  /** The log takes no more records until an operator has made room. */
  readonly isFull: boolean;
}

export interface ReplicatedLog {
  /** Rejects with Unreachable (log/log.ts) where no majority answers within this time. */
  tail(msMax: number): Promise<Tail>;
  follow(from: Position, calls: FollowCalls): Subscription;
  /**
   * Appends the first record of a new epoch, where the tail is still `expected`, and resolves with who may
   * write from then on. An empty log begins with this record, whatever its sequence. Rejects with WrongSequence
   * (somebody was faster, nothing is written), NoSpace (nothing is written), or OutcomeUnknown: the record may
   * be there or may still appear, but nobody writes after it.
   */
  claim(expected: Tail, record: LogEntry, claim: Claim): Promise<LogWriter>;
  /**
   * Begins an empty log with records of a node, under an epoch that no node has seen; resolves with its tail. Nobody
   * leads after it. Rejects with WrongSequence (the log is not empty), NoSpace, or OutcomeUnknown.
   */
  begin(records: readonly LogEntry[], epoch: number, patienceMs: number): Promise<Tail>;
  /** Each heartbeat of a leader, as soon as it is seen, in order; some may be left out. */
  watchHeartbeats(
    onHeartbeat: (value: Buffer) => void,
    onProblem: (problem: string | undefined) => void,
  ): Subscription;
  /** The newest heartbeat, which a subscription may not have delivered yet; undefined = there was none. */
  lastHeartbeat(msMax: number): Promise<Buffer | undefined>;
  /**
   * Publishes a value of this node until stop(); it expires some ten seconds after the node has ended. The value is
   * one that no other process has.
   */
  announce(node: string, value: Buffer, calls: AnnounceCalls): Announcement;
  nodes(msMax: number): Promise<ReadonlyMap<string, Buffer>>;
  shared(name: SharedName, msMax: number): Promise<Buffer | undefined>;
  /** Puts a shared value in place of `expected`; false where another one is there, or there is no room. */
  share(
    name: SharedName,
    expected: Buffer | undefined,
    value: Buffer,
    msMax: number,
  ): Promise<boolean>;
  space(msMax: number): Promise<Space>;
  isFull(msMax: number): Promise<boolean>;
  /**
   * Gives up records up to this sequence, oldest first, but keeps the newest ones of so many bytes as the log
   * was opened with. To be called by the leader from time to time, also where nothing is to be given up.
   */
  trim(sequence: number): Promise<void>;
  /** Ends all that was begun here: writers reject with OutcomeUnknown, subscriptions are silent. */
  close(): Promise<void>;
}

/** Writes as storage/log/group-commit.ts describes: one append in flight, and none after the first failure. */
export interface LogWriter {
  readonly epoch: number;
  /** Newest committed record of this writer, and the digest after it. */
  readonly last: number;
  readonly digest: number;
  /** Tail after the newest group, which the next claim expects. */
  readonly tail: Tail;
  /** Reason why nothing can be appended any more: WrongSequence (another node writes), OutcomeUnknown. */
  readonly failure: Error | undefined;
  /** Called with the reason why nothing more should be taken in, and with undefined once there is room. */
  onRoom: (problem: string | undefined) => void;
  /** Appends like Log.append(); a rejection may also be OutcomeUnknown. */
  append(entries: readonly NewEntry[], expected: number): Promise<void>;
  whenDurable(): Promise<void>;
  /**
   * Sends the followers a heartbeat. Rejects with WrongSequence where another one has claimed the
   * log, which is then `failure`; NoSpace; Unreachable.
   */
  heartbeat(value: Buffer, msMax: number): Promise<void>;
  /** Gives up writing; what is under way is rejected with OutcomeUnknown. */
  end(why: string): void;
}

export class NoSpace extends Error {
  constructor() {
    super('the log of the cluster is full');
  }
}

/** The log has given up what is needed: a snapshot of another node comes first. */
export class TooOld extends Error {
  readonly first: number;

  constructor(from: number, first: number) {
    super(`batch ${from + 1} is not there any more, the log of the cluster begins with ${first}`);
    this.first = first;
  }
}
