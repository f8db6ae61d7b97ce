/**
 * Operation on a played recording: a bot advances market time.
 *
 * Thread: I/O.
 */

import type { Static } from '../common/schema.ts';
import { OperationRefused, operation } from './operation-row.ts';
import { StepAnswer, StepInput } from './play-schemas.ts';

export interface SteppedClock {
  /** Undefined = up to the next message. Resolves once everything due by then has happened. */
  step(to: number | undefined): Promise<Static<typeof StepAnswer>>;
  /** Unix milliseconds. */
  now(): number;
  /** True where the clock advances by itself. */
  readonly runs: boolean;
}

export const PLAY_OPERATIONS = [
  operation(
    'POST /clock/step',
    {
      does: 'market time of a recording that is played goes on, and all that is due by then happens',
      input: StepInput,
      answer: StepAnswer,
      ofPlay: true,
    },
    (clock: SteppedClock | undefined) =>
      ({ ms, to }) => {
        if (clock === undefined)
          return new OperationRefused(409, 'no recording is played', 'see the command play');
        if (clock.runs)
          return new OperationRefused(409, 'the clock runs by itself', 'step it with --speed max');
        if (ms !== undefined && to !== undefined)
          return new OperationRefused(400, 'ms and to: one of them', 'not both');
        return clock.step(ms === undefined ? to : clock.now() + ms);
      },
  ),
];
