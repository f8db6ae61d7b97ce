/**
 * Worker of a sweep: runs one job at a time. A recording that is small enough stays in memory for the next jobs.
 *
 * Thread: one of the pool (server/common/thread-pool.ts).
 */
import { RecordingDamaged } from '../../../storage/recordings/entries.ts';
import { NoStrategy, StrategyError } from '../strategy-error.ts';
import { registerLoaders } from '../strategy-file.ts';
import { detailOf, runStrategy } from '../strategy-run.ts';
import { numbersOf, type SweepOutcome, type SweepTask } from './job.ts';
import { retainedRecording } from './retained-recording.ts';

let isRegistered = false;

export default async function runJob({ job, loaders }: SweepTask): Promise<SweepOutcome> {
  if (!isRegistered) await registerLoaders(loaders);
  isRegistered ||= loaders.length > 0;
  const { options, origin, recording, span, values } = job;
  try {
    const result = await runStrategy(await retainedRecording(recording), origin, {
      ...options,
      ...span,
      parameters: values,
    });
    const figures = numbersOf(result.figures);
    const { from, levelsRefused, messages, messagesDamaged, to } = result;
    const { pausesCut, timesDecreasing } = result;
    const times = from === undefined || to === undefined ? {} : { from, to };
    const counts = { messages, messagesDamaged, timesDecreasing, levelsRefused, pausesCut };
    return { kind: 'done', row: { recording, values, span, ...times, ...counts, figures } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof StrategyError) return { kind: 'failed', message, detail: detailOf(error) };
    const isUsage =
      error instanceof RangeError ||
      error instanceof RecordingDamaged ||
      error instanceof NoStrategy;
    if (isUsage) return { kind: 'usage', message, detail: '' };
    throw error;
  }
}
