/** A registry of faults without a log: records are taken at once. */
import assert from 'node:assert/strict';
import { Faults } from '../../server/faults/faults.ts';
import { VenueFaults } from '../../server/faults/venue-faults.ts';
import type { ControlRecord } from '../../storage/control-records/control-records.ts';

export function faultsInMemory(): {
  readonly faults: Faults;
  readonly written: readonly ControlRecord[];
} {
  const written: ControlRecord[] = [];
  const venue = new VenueFaults(async (record) => {
    written.push(record);
    assert(record.about === 'fault');
    venue.take(record.kind, record.decision);
  });
  return {
    faults: new Faults({
      venue,
      now: Date.now,
      settle: async () => undefined,
      log: () => undefined,
    }),
    written,
  };
}
