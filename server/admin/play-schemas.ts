/** Inputs and answers of the operations on a played recording. */
import { RECORDING_TIME_MAX } from '../../storage/recordings/times.ts';
import { Type } from '../common/schema.ts';
import { whole } from '../routes/shorthand.ts';
import { inputOf } from './operation-schemas.ts';

/** A year. */
const MS_MAX = 31_536_000_000;

export const StepInput = inputOf({
  ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MS_MAX,
      description: `a whole number of milliseconds from 0 to ${MS_MAX}; without \`ms\` and \`to\`, up to the next message`,
    }),
  ),
  to: Type.Optional(
    whole('market time in unix milliseconds, up to the end of 2099, in place of `ms`', {
      minimum: 0,
      maximum: RECORDING_TIME_MAX,
    }),
  ),
});
export const StepAnswer = Type.Object({
  time: whole('market time, unix milliseconds'),
  next: Type.Union([whole(), Type.Null()], {
    description: 'when the next message of the recording is due; null: it has ended',
  }),
});
