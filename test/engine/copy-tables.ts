/** The state of an engine set aside, so that a test can compare with it or go back to it. */
import { type Tables, usedSpans } from '../../engine/tables/tables.ts';

/** Copies everything in use into tables of the same capacities, which nobody reads meanwhile. */
export function copyTables(from: Tables, into: Tables): void {
  for (const { bytes, name, start } of usedSpans(from)) {
    const source = from.memory.buffers[name].subarray(start, start + bytes);
    into.memory.buffers[name].set(source, start);
  }
}
