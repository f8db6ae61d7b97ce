/**
 * Figures of a measuring run from its samples: HDR histograms of nanoseconds, which keep three digits
 * at every size, of all requests, of each kind and of each stretch of time.
 *
 * The histograms are those of Node itself (a copy of HdrHistogram_c).
 * Thread: the tool's only one.
 * Non-goals: words about them (report.ts).
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { KINDS, type Kind } from './mix.ts';
import type { Distribution, Figures, PercentileFigures, Stretch } from './result.ts';
import { Fate, samplesOf } from './samples.ts';

const NS_PER_MS = 1e6;
/** Longest latency that is counted; longer ones count as this. */
const LONGEST_NS = 3600 * 1e9;
const DIGITS = 3;
/** Stretches of time are many, and for the eye. */
const STRETCH_DIGITS = 2;
const STEPS_PER_NINE = 10;
const STRETCHES_MAX = 200;
const STRETCH_SECONDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60] as const;

function histogram(digits = DIGITS): RecordableHistogram {
  return createHistogram({ lowest: 1, highest: LONGEST_NS, figures: digits });
}

function record(into: RecordableHistogram, ms: number): void {
  into.record(Math.min(LONGEST_NS, Math.max(1, Math.round(ms * NS_PER_MS))));
}

interface Bin {
  readonly latency: RecordableHistogram;
  /** Requests by the time of the answer. Latency begins when a request is due. */
  requests: number;
  orders: number;
}

export interface Clock {
  readonly warmupSeconds: number;
  /** Expected length of the counted part. A closed loop may take another time. */
  readonly durationSeconds: number;
}

export class FigureCollector {
  readonly #clock: Clock;
  readonly #stretchSeconds: number;
  readonly #latency = histogram();
  readonly #service = histogram();
  readonly #toolLate = histogram();
  readonly #kinds: Readonly<Record<Kind, RecordableHistogram>> = {
    fok: histogram(),
    gtc: histogram(),
    cancel: histogram(),
  };
  readonly #bins: (Bin | undefined)[] = [];
  readonly #requests = { answered: 0, failed: 0, unanswered: 0 };
  #orders = 0;
  #lastAnswerMs = 0;
  /** Latencies since the last call of `recent`, warm-up included. */
  #recent = histogram(STRETCH_DIGITS);
  #recentOrders = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#stretchSeconds =
      STRETCH_SECONDS.find((seconds) => clock.durationSeconds / seconds <= STRETCHES_MAX) ??
      Math.ceil(clock.durationSeconds / STRETCHES_MAX);
  }

  /** Rows of samples.ts. */
  add(rows: Float64Array): void {
    const warmupMs = this.#clock.warmupSeconds * 1000;
    for (const sample of samplesOf(rows)) {
      const { fate, latencyMs, kind } = sample;
      if (fate !== Fate.failed) record(this.#recent, latencyMs);
      if (fate === Fate.answered) this.#recentOrders += sample.orders;
      const dueMs = sample.dueMs - warmupMs;
      if (dueMs < 0) continue;
      if (fate === Fate.failed) {
        this.#requests.failed += 1;
        continue;
      }
      record(this.#latency, latencyMs);
      record(this.#kinds[kind], latencyMs);
      record(this.#toolLate, sample.toolLateMs);
      record(this.#bin(dueMs).latency, latencyMs);
      if (fate === Fate.unanswered) {
        this.#requests.unanswered += 1;
        continue;
      }
      this.#requests.answered += 1;
      this.#orders += sample.orders;
      record(this.#service, sample.serviceMs);
      const answeredMs = dueMs + latencyMs;
      this.#lastAnswerMs = Math.max(this.#lastAnswerMs, answeredMs);
      const bin = this.#bin(answeredMs);
      bin.requests += 1;
      bin.orders += sample.orders;
    }
  }

  /** Returns orders and latencies since the last call. */
  recent(): { readonly orders: number; readonly latency: Distribution } {
    const latency = distribution(this.#recent);
    const orders = this.#recentOrders;
    this.#recent = histogram(STRETCH_DIGITS);
    this.#recentOrders = 0;
    return { orders, latency };
  }

  figures(): Figures {
    const kinds = KINDS.filter((kind) => this.#kinds[kind].count > 0);
    const seconds = Math.max(0.001, this.#lastAnswerMs / 1000);
    const { answered } = this.#requests;
    return {
      requests: { ...this.#requests },
      seconds,
      requestsPerSecond: answered / seconds,
      ordersPerSecond: this.#orders / seconds,
      latencyMs: distribution(this.#latency),
      latencyMsByKind: Object.fromEntries(
        kinds.map((kind) => [kind, distribution(this.#kinds[kind])]),
      ),
      serviceMs: distribution(this.#service),
      toolLateMs: distribution(this.#toolLate),
      percentiles: percentiles(this.#latency),
      servicePercentiles: percentiles(this.#service),
      stretchSeconds: this.#stretchSeconds,
      overTime: this.#stretches(),
    };
  }

  #bin(ms: number): Bin {
    const index = Math.floor(ms / 1000 / this.#stretchSeconds);
    const bin = this.#bins[index] ?? { latency: histogram(STRETCH_DIGITS), requests: 0, orders: 0 };
    this.#bins[index] = bin;
    return bin;
  }

  #stretches(): Stretch[] {
    const seconds = this.#stretchSeconds;
    return Array.from(this.#bins, (bin, index) => {
      const fromSeconds = Math.round(index * seconds * 10) / 10;
      if (bin === undefined) return { fromSeconds, requestsPerSecond: 0, ordersPerSecond: 0 };
      const rates = {
        fromSeconds,
        requestsPerSecond: bin.requests / seconds,
        ordersPerSecond: bin.orders / seconds,
      };
      return bin.latency.count === 0 ? rates : { ...rates, latencyMs: distribution(bin.latency) };
    });
  }
}

const PERCENTILES: Readonly<Record<keyof PercentileFigures, number>> = {
  p50: 50,
  p75: 75,
  p90: 90,
  p95: 95,
  p99: 99,
  p99_9: 99.9,
  p99_99: 99.99,
};

/** Milliseconds; all 0 where nothing was counted. */
function distribution(of: RecordableHistogram): Distribution {
  const { count } = of;
  const at = (percent: number): number => (count === 0 ? 0 : of.percentile(percent) / NS_PER_MS);
  const entries = Object.entries(PERCENTILES).map(([name, percent]) => [name, at(percent)]);
  return {
    count,
    min: count === 0 ? 0 : of.min / NS_PER_MS,
    mean: count === 0 ? 0 : of.mean / NS_PER_MS,
    ...(Object.fromEntries(entries) as PercentileFigures),
    max: count === 0 ? 0 : of.max / NS_PER_MS,
  };
}

/**
 * Percent and milliseconds, ascending: ten steps for each nine of the percentile, as far as the count
 * tells anything, and the longest at 100.
 */
function percentiles(of: RecordableHistogram): [number, number][] {
  if (of.count === 0) return [];
  const points: [number, number][] = [[0, of.min / NS_PER_MS]];
  for (let step = 1; 10 ** (step / STEPS_PER_NINE) <= of.count; step += 1) {
    const percent = 100 * (1 - 10 ** (-step / STEPS_PER_NINE));
    points.push([percent, of.percentile(percent) / NS_PER_MS]);
  }
  points.push([100, of.max / NS_PER_MS]);
  return points;
}
