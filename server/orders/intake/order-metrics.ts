/**
 * Durations of the stages of an order, and results of orders: plain counters. A worker leaves its part in the
 * slot of the batch (slots.ts).
 *
 * Thread: I/O. Not here: names and texts of the metrics (server/admin).
 */
import { Histogram } from '../../common/histogram.ts';
import { RESULTS, Slot, type SlotView } from '../exchange-memory/slots.ts';

export const STAGES = [
  'queue',
  'parse',
  'verify',
  'turn',
  'match',
  'log',
  'answer',
  'total',
] as const;
export type Stage = (typeof STAGES)[number];

export class OrderMetrics {
  /** Microseconds: `queue` and `total` of a request, all others of a batch. */
  readonly stages = Object.fromEntries(STAGES.map((stage) => [stage, new Histogram()])) as Readonly<
    Record<Stage, Histogram>
  >;
  readonly batches = new Histogram();
  /** Orders by reject reason; 0 = accepted. */
  readonly results = new Float64Array(RESULTS);
  recoveries = 0;

  now(): number {
    return performance.now();
  }

  /** Counts a batch that leaves the queue; `times` are the arrivals of its requests. */
  dispatched(times: readonly number[]): void {
    const now = this.now();
    this.batches.add(times.length);
    for (const since of times) this.stages.queue.addMs(now - since);
  }

  applied({ f64, results }: SlotView): void {
    const { match, parse, turn, verify } = this.stages;
    parse.addMs(f64[Slot.parseMs]!);
    verify.addMs(f64[Slot.verifyMs]!);
    turn.addMs(f64[Slot.turnWaitMs]!);
    match.addMs(f64[Slot.matchMs]!);
    this.recoveries += f64[Slot.recoveries]!;
    for (let reason = 0; reason < RESULTS; reason++) this.results[reason]! += results[reason]!;
  }

  answered(appended: number, flushed: number, times: readonly number[]): void {
    const now = this.now();
    const { answer, log, total } = this.stages;
    log.addMs(flushed - appended);
    answer.addMs(now - flushed);
    for (const since of times) total.addMs(now - since);
  }
}
