/** An engine that runs a challenge stream, as the runner sees it. */
import type { Reports } from './reports.ts';

export interface Contender {
  readonly name: string;
  /** False for an engine whose results do not say each fill: it writes no reports. */
  readonly reportsFills: boolean;
  /** Empties its book, outside the measured time. */
  prepare(): void;
  /** Applies the whole stream, and writes what happened. */
  run(reports: Reports): void;
}
