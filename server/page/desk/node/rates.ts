/**
 * Rates and latencies of a window of time: the difference of the newest and an older summary, whose counters only grow.
 * After a restart of the node the counters begin at 0, and so does this.
 */
import type { Latency, NodeSummary, Summary } from './summary.ts';

type Total = keyof NodeSummary['totals'];

interface Sample {
  /** Unix milliseconds. */
  readonly at: number;
  readonly totals: NodeSummary['totals'];
  readonly latency: Latency;
}

const KEPT_MS = 125_000;
const MS = 1_000;

export class Rates {
  /** Oldest first. */
  private samples: Sample[] = [];

  add({ node, time }: Summary): void {
    const last = this.samples.at(-1);
    if (node === null || last?.at === time) return;
    const { latency, totals } = node;
    if (last !== undefined && totals.requests < last.totals.requests) this.samples = [];
    this.samples.push({ at: time, totals, latency });
    while (time - (this.samples[0]?.at ?? time) > KEPT_MS) this.samples.shift();
  }

  /** Rates by second, at each of `times`. */
  series(name: Total): number[] {
    return this.samples
      .slice(1)
      .map((sample, i) => rateOf(this.samples[i] ?? sample, sample, name));
  }

  /** Unix seconds. */
  get times(): number[] {
    return this.samples.slice(1).map(({ at }) => at / MS);
  }

  recent(name: Total, ms: number): number | undefined {
    const { first, last } = this.window(ms);
    if (first === undefined || last === undefined) return undefined;
    return rateOf(first, last, name);
  }

  latency(ms: number): Latency | undefined {
    const { first, last } = this.window(ms);
    if (last === undefined) return undefined;
    const { bounds_us, counts } = last.latency;
    return { bounds_us, counts: counts.map((n, i) => n - (first?.latency.counts[i] ?? 0)) };
  }

  private window(ms: number) {
    const last = this.samples.at(-1);
    const first = this.samples.find(({ at }) => at >= (last?.at ?? 0) - ms);
    return { first: first === last ? undefined : first, last };
  }
}

function rateOf(from: Sample, to: Sample, name: Total): number {
  const counted = to.totals[name] - from.totals[name];
  return (counted * MS) / Math.max(1, to.at - from.at);
}

/** @returns upper bound in us of the bucket of a quantile; undefined where nothing is counted, Infinity behind the last */
export function quantile({ bounds_us, counts }: Latency, part: number): number | undefined {
  const all = counts.reduce((sum, n) => sum + n, 0);
  if (all === 0) return undefined;
  let sum = 0;
  const at = counts.findIndex((n) => {
    sum += n;
    return sum >= all * part;
  });
  return bounds_us[at] ?? Number.POSITIVE_INFINITY;
}
