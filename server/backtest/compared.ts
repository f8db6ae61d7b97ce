/** Settings of which each value is run, to show side by side what it would change. */
import { IMPACTS } from '../../engine/paper/mirrored-book.ts';
import { QUEUE_RULES } from '../../engine/paper/place.ts';

const LATENCIES_MS = [0, 20, 50, 100, 200, 500];

/** Options of the runs by name of the setting, each with the words for its name. */
export const COMPARED = {
  queue: QUEUE_RULES.map((queue) => ({ words: queue, options: { queue } })),
  impact: IMPACTS.map((impact) => ({ words: impact, options: { impact } })),
  latency: LATENCIES_MS.map((latencyMs) => ({
    words: `${latencyMs} ms`,
    options: { latencyMs },
  })),
} as const;
