/**
 * Figures of the order path as lines. Thread: any.
 */
const US = 1_000;

/** The value below which the part `share` of them lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Mean of the middle two of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Values of percentiles as a text in microseconds, from milliseconds. */
export function percentiles(ms: readonly number[], shares: readonly number[]): string {
  return shares
    .map((share) => {
      const name = share === 1 ? 'max' : `p${100 * share}`;
      return `${name} ${(US * percentile(ms, share)).toFixed(0)} us`;
    })
    .join(', ');
}

/** A line of percentiles, from milliseconds. */
export function latencies(name: string, ms: readonly number[]): void {
  const at = (share: number): string => `${(US * percentile(ms, share)).toFixed(0)}`;
  const text = `p10 ${at(0.1)}, p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, max ${at(1)} us`;
  print(name, `${text} (${ms.length})`);
}

/** A ratio of two figures of one run, and what it should be. */
export interface Ratio {
  readonly name: string;
  readonly ratio: number;
  readonly bound: 'at most' | 'at least';
  readonly aim: number;
}

export function ratioLine({ aim, bound, name, ratio }: Ratio): void {
  const isMet = bound === 'at most' ? ratio <= aim : ratio >= aim;
  print(name, `${ratio.toFixed(2)} x, ${bound} ${aim}${isMet ? '' : ': MISSED'}`);
}

export function print(name: string, what: string): void {
  process.stdout.write(`${name.padEnd(44)} ${what}\n`);
}
