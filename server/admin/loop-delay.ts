/**
 * Delay of the event loop over the last whole period, so that several readers get the same values.
 *
 * Thread: I/O.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const PERIOD_MS = 10_000;
/** Each measurement wakes the thread, and is most of what an idle node does. */
const RESOLUTION_MS = 50;
const NS = 1e6;

export interface Delay {
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class LoopDelay {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({
    resolution: RESOLUTION_MS,
  });
  private readonly timer: NodeJS.Timeout;
  private last: Delay | undefined;

  constructor() {
    this.histogram.enable();
    this.timer = setInterval(() => {
      this.last = this.read();
      this.histogram.reset();
    }, PERIOD_MS);
    this.timer.unref();
  }

  /** Delay of the last period; during the first period, of its part so far. */
  delay(): Delay {
    return this.last ?? this.read();
  }

  stop(): void {
    clearInterval(this.timer);
    this.histogram.disable();
  }

  private read(): Delay {
    const { histogram } = this;
    // The histogram has the time between two measurements, so the intended interval is subtracted.
    const late = (ns: number): number => Math.max(0, Math.round(ns / NS) - RESOLUTION_MS);
    if (histogram.count === 0) return { p50: 0, p99: 0, max: 0 };
    return {
      p50: late(histogram.percentile(50)),
      p99: late(histogram.percentile(99)),
      max: late(histogram.max),
    };
  }
}
