/**
 * Follows the changes of some keys of etcd: reads what is there, then watches. A watch alone is not enough: through
 * a member that hangs, or has lost the others, it delivers nothing, without an error. So where a watch
 * is silent, ends, or has left something out, the keys are read again, from a majority.
 *
 * Thread: the I/O thread. take() is called again only when the call before has resolved.
 */

import { Unreachable } from '../log/log.ts';
import type { EtcdClient, KeyRange, Row } from './etcd-client.ts';
import { Pause } from './pause.ts';
import type { Subscription } from './replicated-log.ts';

export interface FeedCalls {
  readonly range: KeyRange;
  /** Reads and takes all that is new; resolves with the revision that it has come to. */
  read(): Promise<number>;
  /** Takes what the watch delivers. False: something is missing before it. */
  take(rows: readonly Row[]): Promise<boolean>;
  /** Position; changes whenever something new was taken. */
  mark(): unknown;
  onProblem(problem: string | undefined): void;
  /** Rejected with an error that no second try removes. */
  onEnd(error: Error): void;
}

/** A watch that is silent for so long is compared with a majority. */
const QUIET_MS = 300;
const PAUSE_MS = 100;
const REOPEN_MS = 10;
/** More than this does not wait here; it is read again when its turn comes. */
const WAITING_BYTES_MAX = 2 ** 25;

export class Feed implements Subscription {
  private readonly etcd: Pick<EtcdClient, 'watch'>;
  private readonly calls: FeedCalls;
  private readonly ended: Promise<void>;
  private isOver = false;
  private problem: string | undefined;
  private readonly pause = new Pause();

  constructor(etcd: Pick<EtcdClient, 'watch'>, calls: FeedCalls) {
    this.etcd = etcd;
    this.calls = calls;
    this.ended = this.run();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    this.pause.wake();
    await this.ended;
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      try {
        const revision = await this.calls.read();
        this.report(undefined);
        if (!this.isOver) await this.watch(revision + 1);
        // Where each watch fails at once, it is not opened without pause.
        if (!this.isOver) await this.pause.wait(REOPEN_MS);
      } catch (error) {
        if (this.isOver) return;
        if (!(error instanceof Unreachable)) {
          this.isOver = true;
          return this.calls.onEnd(error as Error);
        }
        this.report(error.message);
        await this.pause.wait(PAUSE_MS);
      }
    }
  }

  private report(problem: string | undefined): void {
    if (this.isOver || (problem === undefined) === (this.problem === undefined)) return;
    this.problem = problem;
    this.calls.onProblem(problem);
  }

  private async watch(revision: number): Promise<void> {
    let waiting: Row[] = [];
    let bytes = 0;
    let isWell = true;
    const stream = this.etcd.watch(this.calls.range, revision, {
      onRows: (rows) => {
        waiting.push(...rows);
        for (const { value } of rows) bytes += value.length;
        if (bytes > WAITING_BYTES_MAX) {
          isWell = false;
          waiting = [];
          stream.stop();
        }
        this.pause.wake();
      },
      onEnd: () => {
        isWell = false;
        this.pause.wake();
      },
    });
    try {
      while (!this.isOver) {
        if (waiting.length > 0) {
          const rows = waiting;
          waiting = [];
          bytes = 0;
          if (!(await this.calls.take(rows))) return;
        } else if (!isWell) {
          return;
        } else if (await this.pause.wait(QUIET_MS)) {
          const mark = this.calls.mark();
          await this.calls.read();
          // A majority has something that the watch did not deliver: its member hangs, or has lost the others.
          if (waiting.length === 0 && this.calls.mark() !== mark) return;
        }
      }
    } finally {
      stream.stop();
    }
  }
}
