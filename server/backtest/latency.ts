/**
 * Latencies of a backtest: milliseconds that a message of the feed, or an order, travels. Fixed, drawn from a
 * distribution with a seed, or measured. Drawn ones are whole milliseconds, so that the last bits of Math.log and
 * Math.exp decide nothing.
 *
 * Thread: that of the run. Not here: the order of messages on their way (run.ts, venue.ts).
 */
import { seededRandom } from '../common/seeded-random.ts';

/** Milliseconds; a decimal as text; or `NAME:PARAMETERS` of a distribution, as in `lognormal:50,0.5`. */
export type LatencyChoice = number | string;

/** Returns the milliseconds for something sent at a time. */
export type Latency = (time: number) => number;

interface Distribution {
  readonly parameters: string;
  /** True if the parameters can be used. Both are 0 or more. */
  readonly allows?: (first: number, second: number) => boolean;
  readonly draw: (random: () => number, first: number, second: number) => number;
}

/** Distributions by name, each of two parameters. */
const DISTRIBUTIONS: Readonly<Record<string, Distribution>> = {
  uniform: {
    parameters: 'LEAST,MOST',
    allows: (least, most) => least <= most,
    draw: (random, least, most) => least + random() * (most - least),
  },
  exponential: {
    parameters: 'LEAST,MEAN_ABOVE',
    draw: (random, least, mean) => least - mean * Math.log(1 - random()),
  },
  lognormal: {
    parameters: 'MEDIAN,SIGMA',
    draw: (random, median, sigma) => median * Math.exp(sigma * normal(random)),
  },
};

/** Drawn latencies end here: an hour, however long the tail of a distribution is. */
const DRAWN_MS_MAX = 3_600_000;

export const LATENCY_RULE = `0 or more milliseconds, or ${Object.entries(DISTRIBUTIONS)
  .map(([name, { parameters }]) => `${name}:${parameters}`)
  .join(', ')}`;

export interface Latencies {
  /** Undefined = the strategy sees everything at once. */
  readonly feed: Latency | undefined;
  /** Undefined = orders arrive at once. */
  readonly order: Latency | undefined;
}

/** Latencies of a file (measured-latency.ts). */
interface Measured {
  feed(): Latency;
  order(): Latency;
}

export interface LatencySettings {
  readonly latencyMs: LatencyChoice;
  readonly feedLatencyMs: LatencyChoice;
  readonly seed: number;
}

/** Value of a setting whose latencies are those of a file. */
export const MEASURED = 'measured';

/** Returns the latencies of checked settings. Feed and orders draw from sequences of their own. */
export function latenciesOf(
  { feedLatencyMs, latencyMs, seed }: LatencySettings,
  measured: Measured | undefined,
): Latencies {
  return {
    order: latencyMs === MEASURED ? measured?.order() : latencyOf(latencyMs, seed),
    feed: feedLatencyMs === MEASURED ? measured?.feed() : latencyOf(feedLatencyMs, ~seed),
  };
}

/** True for a choice that latencyOf() takes. */
export function isLatency(choice: LatencyChoice): boolean {
  return typeof choice === 'number' ? isMs(choice) : parsed(choice) !== undefined;
}

/** Returns the choice in its shortest form: a fixed latency is a number. */
export function shortestLatency(choice: LatencyChoice): LatencyChoice {
  const ms = Number(choice);
  return choice !== '' && isMs(ms) ? ms : choice;
}

function latencyOf(choice: LatencyChoice, seed: number): Latency | undefined {
  if (choice === 0) return undefined;
  if (typeof choice === 'number') return () => choice;
  const { distribution, first, second } = parsed(choice)!;
  const random = seededRandom(seed);
  return () => Math.round(Math.min(distribution.draw(random, first, second), DRAWN_MS_MAX));
}

function parsed(text: string) {
  const [, name = '', ...parameters] = /^(\w+):(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const [first = Number.NaN, second = Number.NaN] = parameters.map(Number);
  const distribution = Object.hasOwn(DISTRIBUTIONS, name) ? DISTRIBUTIONS[name] : undefined;
  if (distribution === undefined || !isMs(first) || !isMs(second)) return undefined;
  if (distribution.allows?.(first, second) === false) return undefined;
  return { distribution, first, second };
}

export function isMs(ms: number): boolean {
  return ms >= 0 && ms < Number.POSITIVE_INFINITY;
}

/** Draws from the standard normal distribution (Box and Muller). */
function normal(random: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}
