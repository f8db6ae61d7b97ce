/**
 * Open-addressing hash indexes over Int32 entries of two words: tag and slot. The tag is a hash of
 * the key; it alone decides where an entry belongs, so entries can be moved without reading rows,
 * and rows are read only where all 32 bits of the tag agree. Slots are never 0, which means empty. Linear
 * probing, backward-shift deletion: no tombstones, so an index never wears out.
 *
 * A search is a loop of the caller's: `for (let at = home(...); ...; at = next(...))`, because the
 * key comparison differs per table and a callback would cost an allocation.
 */

const GOLDEN = 0x9e3779b1;

export function tagOf(key: Int32Array, offset: number, words: number): number {
  let tag = 0;
  for (let i = 0; i < words; i++) {
    tag = Math.imul(tag ^ key[offset + i]!, GOLDEN);
    tag ^= tag >>> 15;
  }
  return tag;
}

export function home(index: Int32Array, tag: number): number {
  const mask = (index.length >>> 1) - 1;
  return Math.imul(tag, GOLDEN) >>> Math.clz32(mask);
}

export function next(index: Int32Array, at: number): number {
  return (at + 1) & ((index.length >>> 1) - 1);
}

export function indexRoom(index: Int32Array, tag: number): number {
  let at = home(index, tag);
  while (index[2 * at + 1] !== 0) at = next(index, at);
  return at;
}

/** Writes an empty entry that a search for its tag found. */
export function indexPut(index: Int32Array, at: number, tag: number, row: number): void {
  index[2 * at] = tag;
  index[2 * at + 1] = row;
}

export function indexInsert(index: Int32Array, tag: number, row: number): void {
  indexPut(index, indexRoom(index, tag), tag, row);
}

/** Entries of a region of an index that are handled together: 128 KiB. */
const REGION_SHIFT = 14;

/**
 * Sorts entries (tag and slot by turns) by the region of the index where they belong: a region fits a cache, a
 * large index does not.
 */
export function byRegion(index: Int32Array, entries: Int32Array): Int32Array {
  const starts = new Int32Array((index.length >>> (1 + REGION_SHIFT)) + 2);
  const shift = Math.clz32((index.length >>> 1) - 1);
  for (let i = 0; i < entries.length; i += 2) {
    starts[((Math.imul(entries[i]!, GOLDEN) >>> shift) >>> REGION_SHIFT) + 1]! += 2;
  }
  for (let region = 1; region < starts.length; region++) starts[region]! += starts[region - 1]!;
  const sorted = new Int32Array(entries.length);
  for (let i = 0; i < entries.length; i += 2) {
    const region = (Math.imul(entries[i]!, GOLDEN) >>> shift) >>> REGION_SHIFT;
    const at = starts[region]!;
    starts[region] = at + 2;
    sorted[at] = entries[i]!;
    sorted[at + 1] = entries[i + 1]!;
  }
  return sorted;
}

/** Words of a page of memory, on most machines. */
const PAGE_WORDS = 1_024;

/**
 * Fills an empty index. Many entries need nearly all of its pages. These are written first: a page that is read before
 * its first write costs a second fault, which interrupts other threads.
 */
export function indexFill(index: Int32Array, entries: Int32Array): void {
  if (entries.length > (index.length / PAGE_WORDS) * 4) index.fill(0);
  const sorted = byRegion(index, entries);
  const mask = (index.length >>> 1) - 1;
  const shift = Math.clz32(mask);
  for (let i = 0; i < sorted.length; i += 2) {
    let at = Math.imul(sorted[i]!, GOLDEN) >>> shift;
    while (index[2 * at + 1] !== 0) at = (at + 1) & mask;
    index[2 * at] = sorted[i]!;
    index[2 * at + 1] = sorted[i + 1]!;
  }
}

export function indexRemove(index: Int32Array, tag: number, row: number): boolean {
  let hole = home(index, tag);
  for (;;) {
    const found = index[2 * hole + 1];
    if (found === 0) return false;
    if (found === row) break;
    hole = next(index, hole);
  }
  const mask = (index.length >>> 1) - 1;
  let at = hole;
  for (;;) {
    at = next(index, at);
    if (index[2 * at + 1] === 0) break;
    // An entry may move back into the hole unless its home lies cyclically after the hole.
    const distanceHome = (at - home(index, index[2 * at]!)) & mask;
    if (distanceHome < ((at - hole) & mask)) continue;
    index[2 * hole] = index[2 * at]!;
    index[2 * hole + 1] = index[2 * at + 1]!;
    hole = at;
  }
  index[2 * hole] = 0;
  index[2 * hole + 1] = 0;
  return true;
}

export function sameWords(
  a: Int32Array,
  aOffset: number,
  b: Int32Array,
  bOffset: number,
  words: number,
): boolean {
  for (let i = 0; i < words; i++) if (a[aOffset + i] !== b[bOffset + i]) return false;
  return true;
}

/**
 * Finds the slot whose `words` key words, at `column` of rows of 2^shift words, equal the key; 0 = none. The caller
 * says whose slots the index holds.
 */
export function indexFind<Slot extends number>(
  index: Int32Array,
  rows: Int32Array,
  shift: number,
  column: number,
  key: Int32Array,
  offset: number,
  words: number,
  tag: number,
): Slot | 0 {
  for (let at = home(index, tag); ; at = next(index, at)) {
    const row = index[2 * at + 1]! as Slot | 0;
    if (row === 0) return 0;
    if (index[2 * at] !== tag) continue;
    if (sameWords(rows, (row << shift) + column, key, offset, words)) return row;
  }
}
