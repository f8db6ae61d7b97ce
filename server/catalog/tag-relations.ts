/**
 * The related tags of a tag. A catalog file does not contain them, so they are computed from the
 * events: a tag is related to others when at least half of its events have one of them too, as
 * those of "elections" have "politics". The more events two tags share, the higher the rank.
 *
 * Thread: the I/O thread; a millisecond for a tag of tens of thousands of events.
 */
import type { PreparedCatalog } from './prepared.ts';

/** Rows, most events in common first, equals by id; without the tags themselves. */
export function relatedTags({ events, tags }: PreparedCatalog, rows: Uint32Array): number[] {
  const own = tags.events;
  const seen = new Uint8Array(events.ids.length);
  const shared = new Uint32Array(tags.ids.length);
  for (const row of rows) {
    for (let i = own.ends[row]!; i < own.ends[row + 1]!; i++) {
      const event = own.values[i]!;
      if (seen[event] === 1) continue;
      seen[event] = 1;
      for (let j = events.tags.ends[event]!; j < events.tags.ends[event + 1]!; j++) {
        shared[events.tags.values[j]!]! += 1;
      }
    }
  }
  const related: number[] = [];
  for (let row = 0; row < shared.length; row++) {
    const count = own.ends[row + 1]! - own.ends[row]!;
    if (count > 0 && 2 * shared[row]! >= count && !rows.includes(row)) related.push(row);
  }
  return related.sort((a, b) => shared[b]! - shared[a]! || a - b);
}
