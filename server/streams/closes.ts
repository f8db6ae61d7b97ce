/**
 * Close codes of stream connections by reason, and their counts for the metrics.
 *
 * Thread: the I/O thread.
 */
import { type BoundName, STREAM_BOUNDS } from './stream-bounds.ts';

const GOING_AWAY = 1001;
const POLICY = 1008;
const INTERNAL = 1011;
const TRY_LATER = 1013;

const OWN_CLOSES = {
  silent: GOING_AWAY,
  wrong_auth: POLICY,
  no_auth: POLICY,
  revoked: POLICY,
  slow_reader: TRY_LATER,
  begin_anew: TRY_LATER,
  failed: INTERNAL,
} as const;

export type CloseName = keyof typeof OWN_CLOSES | BoundName;

export const CLOSES: ReadonlyMap<CloseName, number> = new Map<CloseName, number>([
  ...(Object.entries(OWN_CLOSES) as [CloseName, number][]),
  ...[...STREAM_BOUNDS.keys()].map((name) => [name, POLICY] as const),
]);

export class CloseCounts {
  private readonly counts = new Map([...CLOSES.keys()].map((name) => [name, 0]));

  add(name: CloseName): void {
    this.counts.set(name, this.counts.get(name)! + 1);
  }

  all(): ReadonlyMap<string, number> {
    return this.counts;
  }
}
