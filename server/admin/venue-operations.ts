/**
 * Operations on the venue: its pause, which survives a restart, and its rate limits, which a restart sets back to the
 * settings.
 *
 * Thread: I/O; the pause also on a stopped directory.
 */
import type { OperatorStore } from '../../storage/kv/operator-rows.ts';
import type { RateControl } from '../http/rate-control.ts';
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers } from './operation-table.ts';

type PauseOperation = 'GET /admin/pause' | 'POST /admin/pause' | 'POST /admin/resume';
type LimitOperation = 'GET /admin/rate-limits' | 'POST /admin/rate-limits';

/** @param apply pauses the node that runs, or resumes it with undefined */
export function pauseOperations(
  store: Pick<OperatorStore, 'pause' | 'putPause'>,
  apply: (reason: string | undefined) => void,
  now: () => number,
): OperationHandlers<PauseOperation> {
  return {
    'GET /admin/pause': () => {
      const note = store.pause();
      if (note === undefined) return { paused: false };
      return { paused: true, since: new Date(note.since).toISOString(), reason: note.reason };
    },
    async 'POST /admin/pause'({ reason = 'paused by the operator' }) {
      const changed = store.pause() === undefined;
      await store.putPause({ since: now(), reason });
      apply(reason);
      return { paused: true, changed };
    },
    async 'POST /admin/resume'() {
      const changed = store.pause() !== undefined;
      await store.putPause(undefined);
      apply(undefined);
      return { paused: false, changed };
    },
  };
}

/** @param rates undefined with RATE_LIMITS=off */
export function limitOperations(rates: RateControl | undefined): OperationHandlers<LimitOperation> {
  const OFF = new OperationRefused(
    409,
    'rate limits are off',
    'start the node with RATE_LIMITS=on',
  );
  return {
    'GET /admin/rate-limits': () => (rates === undefined ? OFF : rates.shown()),
    'POST /admin/rate-limits': ({ limit, name }) => {
      if (rates === undefined) return OFF;
      const problem = rates.change(`${name}=${limit}`);
      return problem === undefined
        ? rates.shown()
        : new OperationRefused(400, 'invalid limit', problem);
    },
  };
}
