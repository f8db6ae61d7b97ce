/**
 * A measuring run in words: the lines while it goes on, its figures, and what speaks against them.
 * Thread: the tool's only one.
 */
import { KINDS } from './mix.ts';
import { THROTTLED, UNANSWERED, WELL } from './outcomes.ts';
import type { Distribution, Figures, Result } from './result.ts';

/** The tool may be late by this part of what it measures. */
const LATE_SHARE_MAX = 0.25;
/** An open loop counts only where at least this part of its rate was answered. */
const RATE_SHARE_MIN = 0.98;
/** A percentile of fewer requests than this beyond it is chance. */
const BEYOND_MIN = 10;

export const THROTTLED_ADVICE =
  'the node limits rates (429): start it with RATE_LIMITS=off, or measure a rate that it allows';

function ms(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  return `${value.toFixed(value < 10 ? 2 : 1)} ms`;
}

export function latencyLine({ p50, p99, max }: Distribution): string {
  return `p50 ${ms(p50)}, p99 ${ms(p99)}, max ${ms(max)}`;
}

function distributionLine(name: string, of: Distribution): string {
  const figures = [
    ['p50', of.p50],
    ['p90', of.p90],
    ['p99', of.p99],
    ['p99.9', of.p99_9],
    ['p99.99', of.p99_99],
    ['max', of.max],
  ] as const;
  const texts = figures.map(([percent, value]) => `${percent} ${ms(value)}`);
  return `${name.padEnd(22)} ${texts.join('  ')}`;
}

/** Lines that are printed at the end. */
export function reportLines(result: Result): string[] {
  const { requests, seconds, ordersPerSecond, requestsPerSecond, outcomes, options } = result;
  const kinds = KINDS.flatMap((kind) => {
    const of = result.latencyMsByKind[kind];
    return of === undefined ? [] : [distributionLine(`  ${kind}, ${of.count}`, of)];
  });
  return [
    `${requests.answered} requests answered in ${seconds.toFixed(1)} s: ` +
      `${ordersPerSecond.toFixed(0)} orders/s, ${requestsPerSecond.toFixed(0)} requests/s; ` +
      `${requests.failed} failed, ${requests.unanswered} unanswered`,
    distributionLine(
      `latency from ${options.rate === undefined ? 'sent' : 'due'}`,
      result.latencyMs,
    ),
    ...kinds,
    // A closed loop has no schedule to be late for.
    ...(options.rate === undefined
      ? []
      : [
          distributionLine('latency from sent', result.serviceMs),
          distributionLine('the tool was late by', result.toolLateMs),
        ]),
    ...Object.entries(outcomes).map(([outcome, orders]) => `${orders} orders: ${outcome}`),
    ...result.warnings.map((warning) => `warning: ${warning}`),
  ];
}

/** Reasons why the figures may be wrong. */
export function warningsOf(
  figures: Figures,
  options: Pick<Result['options'], 'rate' | 'batch'>,
  outcomes: Readonly<Record<string, number>>,
): string[] {
  const warnings: string[] = [];
  const { requests, latencyMs, toolLateMs } = figures;
  const share = requests.answered / Math.max(1, latencyMs.count + requests.failed);
  if (requests.answered === 0) warnings.push('nothing was answered');
  if (share < 1) {
    warnings.push(`${((1 - share) * 100).toFixed(2)} % of the requests had no answer of 200`);
  }
  if (THROTTLED in outcomes) warnings.push(THROTTLED_ADVICE);
  const well = new Set<string>([...Object.values(WELL), THROTTLED, UNANSWERED]);
  const others = Object.keys(outcomes).filter((outcome) => !well.has(outcome));
  if (others.length > 0) warnings.push(`orders ended otherwise than meant: ${others.join('; ')}`);
  if (options.rate !== undefined && figures.ordersPerSecond < options.rate * RATE_SHARE_MIN) {
    warnings.push(
      `sent ${options.rate} orders/s, answered ${figures.ordersPerSecond.toFixed(0)}: ` +
        'beyond saturation the latency says how long the run was',
    );
  }
  if (toolLateMs.p50 > latencyMs.p50 * LATE_SHARE_MAX) {
    warnings.push(
      `the tool was late by ${ms(toolLateMs.p50)} at the median: the processors are too busy`,
    );
  }
  if (latencyMs.count * 0.0001 < BEYOND_MIN) {
    warnings.push(`p99.99 of ${latencyMs.count} requests is chance: --duration makes it longer`);
  }
  return warnings;
}
