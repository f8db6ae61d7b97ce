/**
 * Recovery thread (storage/recovery/recovery-thread.ts) as seen by the I/O thread.
 *
 * Thread: I/O.
 */
import type { Worker } from 'node:worker_threads';
import { type EngineMemory, Tables } from '../../engine/tables/tables.ts';
import { startThread } from '../../storage/files/thread.ts';
import type {
  LogReach,
  RecoveredSnapshot,
  RecoveryMessage,
  RecoverySetup,
} from '../../storage/recovery/recovery-thread.ts';
import { SettingsRefused } from '../config/settings-refused.ts';

export interface RecoveredTables extends RecoveredSnapshot {
  readonly t: Tables;
}

export class Recovery {
  /**
   * Resolves once the tables are audited, while indexes are built and workers load; nothing may write them before.
   * Rejects with the invariant that is broken.
   */
  readonly sound: Promise<void>;
  private readonly recovered: Promise<RecoveredTables>;
  private readonly thread: Worker;

  constructor(
    { capacities, dataDir, durability, growing }: RecoverySetup,
    warn: (line: string) => void,
  ) {
    const workerData: RecoverySetup = { capacities, dataDir, durability, growing };
    const file = new URL('../../storage/recovery/recovery-thread', import.meta.url);
    const thread = startThread(file, { workerData });
    this.thread = thread;
    let recovered: (tables: RecoveredTables) => void = () => undefined;
    let sound = (): void => undefined;
    const failed = new Promise<never>((_, reject) => {
      const fail = (why: string): void => reject(new Error(why));
      const refuse = (why: string): void =>
        reject(new SettingsRefused(`${why}; a size that is not set grows by itself`));
      thread.on('message', (message: RecoveryMessage) => {
        if (message.kind === 'warning') warn(message.line);
        else if (message.kind === 'failed') (message.isTooSmall ? refuse : fail)(message.why);
        else if (message.kind === 'sound') sound();
        else recovered(tablesOf(message));
      });
      thread.once('error', reject);
      thread.once('exit', () => fail('recovery: its thread ended without a word'));
    });
    const orFailed = <T>(promise: Promise<T>): Promise<T> => {
      const either = Promise.race([promise, failed]);
      // A failed start no longer waits for it.
      either.catch(() => undefined);
      return either;
    };
    this.recovered = orFailed(new Promise((resolve) => (recovered = resolve)));
    this.sound = orFailed(new Promise((resolve) => (sound = resolve)));
  }

  /** Recovers from snapshot and log, once the log is open. Rejects with an Error that names the damage. */
  tables({ digest, first, last }: LogReach): Promise<RecoveredTables> {
    this.thread.postMessage({ digest, first, last } satisfies LogReach);
    return this.recovered;
  }

  async stop(): Promise<void> {
    await this.thread.terminate();
  }
}

function tablesOf({
  memory,
  ...snapshot
}: RecoveredSnapshot & { memory: EngineMemory }): RecoveredTables {
  return { ...snapshot, t: new Tables(memory) };
}
