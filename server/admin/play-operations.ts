/**
 * The operation of a recording that is played: market time goes on when a bot says so.
 *
 * Thread: the I/O thread.
 */
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers, OperationInput, OperationOutput } from './operation-table.ts';

/** What steps. */
export interface SteppedClock {
  /** Undefined = up to the next message. Resolves once all that is due by then has happened. */
  step(to: number | undefined): Promise<OperationOutput<'POST /clock/step'>>;
  /** Unix milliseconds. */
  now(): number;
  /** Whether it runs by itself. */
  readonly runs: boolean;
}

/** @param clock undefined where no recording is played */
export function playOperations(
  clock: SteppedClock | undefined,
): OperationHandlers<'POST /clock/step'> {
  return {
    'POST /clock/step'({ ms, to }: OperationInput<'POST /clock/step'>) {
      if (clock === undefined)
        return new OperationRefused(409, 'no recording is played', 'see the command play');
      if (clock.runs)
        return new OperationRefused(409, 'the clock runs by itself', 'step it with --speed max');
      if (ms !== undefined && to !== undefined)
        return new OperationRefused(400, 'ms and to: one of them', 'not both');
      return clock.step(ms === undefined ? to : clock.now() + ms);
    },
  };
}
