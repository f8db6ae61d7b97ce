/**
 * Whether recovered tables keep every invariant: walked in a thread of its own, while indexes are built and
 * workers load. Nobody may write them before it resolves.
 *
 * Thread: the I/O thread.
 */
import type { EngineMemory } from '../engine/tables.ts';
import type { AuditMessage } from '../storage/audit-thread.ts';
import { startThread } from './common/thread.ts';

/** Rejects with the invariant that is broken. */
export function audited(memory: EngineMemory): Promise<void> {
  const thread = startThread(new URL('../storage/audit-thread', import.meta.url), {
    workerData: memory,
  });
  const done = new Promise<void>((resolve, reject) => {
    thread.once('message', (problem: AuditMessage) => {
      if (problem === undefined) resolve();
      else reject(new Error(`recovery: the tables are wrong: ${problem}`));
    });
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('recovery: the audit ended without a word')));
  });
  // Who waits for it may be gone by then.
  done.catch(() => undefined);
  return done;
}
