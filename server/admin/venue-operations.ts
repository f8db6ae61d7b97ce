/**
 * Operations on the venue: its pause, which survives a restart, and its rate limits, which a restart sets back to the
 * settings.
 *
 * Thread: I/O; the pause also on a stopped directory.
 */
import type { Decision } from '../../storage/notes/notes.ts';
import type { RateControl } from '../http/rate-control.ts';
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers } from './operation-table.ts';

type PauseOperation = 'GET /admin/pause' | 'POST /admin/pause' | 'POST /admin/resume';
type LimitOperation = 'GET /admin/rate-limits' | 'POST /admin/rate-limits';

export interface VenuePause {
  /** Undefined: it is not paused. */
  readonly pause: Decision | undefined;
  /** Resolves once it is durable and holds; undefined resumes it. */
  putPause(decision: Decision | undefined): Promise<void>;
}

export function pauseOperations(
  venue: VenuePause,
  now: () => number,
): OperationHandlers<PauseOperation> {
  const put = async (decision: Decision | undefined): Promise<boolean> => {
    const changed = (venue.pause === undefined) !== (decision === undefined);
    await venue.putPause(decision);
    return changed;
  };
  return {
    'GET /admin/pause': () => {
      const { pause } = venue;
      if (pause === undefined) return { paused: false };
      return { paused: true, since: new Date(pause.since).toISOString(), reason: pause.reason };
    },
    async 'POST /admin/pause'({ reason = 'paused by the operator' }) {
      return { paused: true, changed: await put({ since: now(), reason }) };
    },
    async 'POST /admin/resume'() {
      return { paused: false, changed: await put(undefined) };
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
