/**
 * Relations between rows as two flat arrays, from pairs in any order.
 *
 * Pure; runs on the catalog thread.
 */
import type { Relation } from './prepared.ts';

/** Returns the rows `to[i]` of every row `from[i]`, ascending and each once, for `count` rows. */
export function relationOf(
  count: number,
  from: ArrayLike<number>,
  to: ArrayLike<number>,
): Relation {
  const ends = new Uint32Array(count + 1);
  for (let pair = 0; pair < from.length; pair++) ends[from[pair]! + 1]! += 1;
  for (let row = 0; row < count; row++) ends[row + 1]! += ends[row]!;
  const values = new Uint32Array(from.length);
  const next = ends.slice(0, count);
  for (let pair = 0; pair < from.length; pair++) values[next[from[pair]!]!++] = to[pair]!;
  return withoutRepeats({ ends, values });
}

export function valuesOfRow({ ends, values }: Relation, row: number): Uint32Array<ArrayBuffer> {
  return values.subarray(ends[row]!, ends[row + 1]!);
}

/** Relation from values to rows; there are `count` rows of values. */
export function inverseOf(relation: Relation, count: number): Relation {
  const rows = new Uint32Array(relation.values.length);
  for (let row = 0; row + 1 < relation.ends.length; row++) {
    rows.fill(row, relation.ends[row]!, relation.ends[row + 1]!);
  }
  return relationOf(count, relation.values, rows);
}

/**
 * Sorts each row's values if necessary and removes repeated ones, in place; then cuts the arrays to
 * size.
 */
function withoutRepeats({ ends, values }: Relation): Relation {
  let used = 0;
  let start = 0;
  for (let row = 0; row + 1 < ends.length; row++) {
    const end = ends[row + 1]!;
    if (!isAscending(values, start, end)) values.subarray(start, end).sort();
    const first = used;
    for (let at = start; at < end; at++) {
      const value = values[at]!;
      if (used === first || values[used - 1] !== value) values[used++] = value;
    }
    ends[row + 1] = used;
    start = end;
  }
  return { ends, values: used === values.length ? values : values.slice(0, used) };
}

function isAscending(values: Uint32Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) if (values[at - 1]! > values[at]!) return false;
  return true;
}
