/**
 * Repeats a compare-and-swap of the tail until its outcome is certain. The network to the store may lose a
 * request, lose its answer, or deliver it late. The same comparison makes each repetition harmless, and the
 * writer's name in the tail says whose record it is.
 *
 * Thread: the I/O thread. It does not order the groups; tail-writer.ts does.
 */
import { type LogEntry, OutcomeUnknown, WrongSequence } from '../log/log.ts';
import { Pause } from './pause.ts';
import { NoSpace, type Tail } from './replicated-log.ts';

/** done: it took place. moved: the tail is not the expected one, or the last heartbeat is not. full: the store takes nothing more. */
export type Answer = 'done' | 'moved' | 'full';

/** Records that are committed together, encoded for the store. */
export interface Group {
  readonly expected: Tail;
  /** Tail after the group. */
  readonly tail: Tail;
  /** First heartbeat of a claim, and the newest that it has seen (Claim of replicated-log.ts). */
  readonly heartbeat?: Buffer | undefined;
  readonly seen?: Buffer | undefined;
}

/** The place where the log lies. Every call rejects where there is no answer in time. */
export interface TailStore<G extends Group> {
  group(expected: Tail, entries: readonly LogEntry[], writer: string, epoch: number): G;
  /** After a rejection it may still take place, at any time, as long as the tail is the expected one. */
  swap(group: G, msMax: number): Promise<Answer>;
  tail(msMax: number): Promise<Tail>;
  /** Writer of the record; '' where the record is gone. */
  writerOf(sequence: number, msMax: number): Promise<string>;
  heartbeat(writer: string, value: Buffer, msMax: number): Promise<Answer>;
  isFull(msMax: number): Promise<boolean>;
}

/** Time of the first try; it doubles with each further one, up to the second bound. */
const TRY_MS = 500;
const TRY_MS_MAX = 4_000;
const TRIES_MIN = 3;
/** Between two tries, so that a store that fails at once is not called without pause. */
const PAUSE_MS = 20;
const PAUSE_FULL_MS = 500;

export class Certain<G extends Group> {
  readonly store: TailStore<G>;
  /** Called with 'full' and 'done', so that the owner notices a store that is full. */
  onAnswer: (answer: Answer) => void = () => undefined;
  private readonly patienceMs: number;
  private ended: Error | undefined;
  private problem = '';
  private interrupt: (error: Error) => void = () => undefined;
  private readonly pause = new Pause();

  constructor(store: TailStore<G>, patienceMs: number) {
    this.store = store;
    this.patienceMs = patienceMs;
  }

  end(why: string): void {
    this.ended ??= new OutcomeUnknown(why);
    this.interrupt(this.ended);
    this.pause.wake();
  }

  /**
   * Resolves once the group is committed. Rejects with WrongSequence where it never will be, with
   * OutcomeUnknown, and, where `mayWait` is false, with NoSpace.
   */
  async commit(group: G, mayWait: boolean): Promise<void> {
    let answeredAt = performance.now();
    let isUncertain = false;
    let tryMs = TRY_MS;
    for (let tries = 1; ; tries++) {
      const answer = await this.ask(this.store.swap(group, tryMs));
      if (answer === 'done') return this.onAnswer(answer);
      if (answer === undefined) isUncertain = true;
      else answeredAt = performance.now();
      if (answer === 'full') this.onAnswer(answer);
      // A store that is full may have taken it all the same.
      const isCommitted = await this.isCommitted(group, tryMs);
      if (isCommitted === true) return;
      // The last heartbeat is another one than a claim has seen, and none comes twice.
      if (answer === 'moved' && isCommitted === false && group.seen !== undefined) {
        throw new WrongSequence(group.expected.sequence, group.expected.sequence);
      }
      if (answer === 'full' && isCommitted === false && !mayWait) {
        throw isUncertain ? new OutcomeUnknown('the log is full') : new NoSpace();
      }
      const silentMs = performance.now() - answeredAt;
      // A process that was stopped for long has not tried for so long.
      if (silentMs > this.patienceMs && tries >= TRIES_MIN) {
        throw new OutcomeUnknown(`nothing for ${Math.round(silentMs)} ms: ${this.problem}`);
      }
      tryMs = Math.min(2 * tryMs, TRY_MS_MAX);
      await this.pause.wait(answer === 'full' ? PAUSE_FULL_MS : PAUSE_MS);
    }
  }

  /**
   * The group is committed; undefined where there is no answer, false where it may still be. Rejects
   * where it never will be.
   */
  private async isCommitted({ expected, tail }: G, tryMs: number): Promise<boolean | undefined> {
    const found = await this.ask(this.store.tail(tryMs));
    if (found === undefined) return undefined;
    if (isSame(found, expected)) return false;
    if (isSame(found, tail)) return true;
    const { sequence } = tail;
    if (found.sequence > sequence) {
      const writer = await this.ask(this.store.writerOf(sequence, tryMs));
      if (writer === undefined) return undefined;
      if (writer === tail.writer) return true;
      if (writer === '') {
        throw new OutcomeUnknown(`${found.writer} writes, and batch ${sequence} is gone`);
      }
    }
    throw new WrongSequence(expected.sequence, found.sequence);
  }

  /** The answer, or undefined where there is none. Rejects only after end(). */
  private ask<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.interrupt = reject;
      if (this.ended !== undefined) reject(this.ended);
      work.then(resolve, ({ message }: Error) => {
        this.problem = message;
        resolve(undefined);
      });
    });
  }
}

function isSame(a: Tail, b: Tail): boolean {
  return a.sequence === b.sequence && a.writer === b.writer && a.link === b.link;
}
