import { type Tables, usedSpans } from '../../engine/tables/tables.ts';

/** Copies all used rows into tables of equal capacities, which nobody reads meanwhile. */
export function copyTables(from: Tables, into: Tables): void {
  for (const { bytes, name, start } of usedSpans(from)) {
    const source = from.memory.buffers[name].subarray(start, start + bytes);
    into.memory.buffers[name].set(source, start);
  }
}
