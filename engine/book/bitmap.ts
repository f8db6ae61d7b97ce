/**
 * A bitmap of the occupied price levels of one side. It has layers, so that a search skips gaps of
 * any length. Layer 0 has a bit for each level; each further layer has a bit for each word of the
 * layer below; the top layer is one word. 2^20 levels need four layers. A bit stands for a key, not
 * for a level: the best level of a side has the highest key (book.ts), so every search goes
 * downwards.
 *
 * The layout of a bitmap depends only on the number of its levels. It begins at `base` in `words`.
 */

/** Words of all layers, one after another. */
export function bitmapWords(levels: number): number {
  let words = 0;
  let width = levels;
  do {
    width = (width + 31) >>> 5;
    words += width;
  } while (width > 1);
  return words;
}

/** Words of one layer: a bit for each word of the layer below. */
function widthOf(levels: number, storey: number): number {
  return ((levels - 1) >>> (5 * storey + 5)) + 1;
}

export function occupy(words: Int32Array, base: number, levels: number, key: number): void {
  const word = base + (key >>> 5);
  const before = words[word]!;
  words[word] = before | (1 << (key & 31));
  // A word that was not empty is already marked in the layer above.
  if (before === 0) occupyAbove(words, base, levels, key >>> 5);
}

export function vacate(words: Int32Array, base: number, levels: number, key: number): void {
  const word = base + (key >>> 5);
  const after = words[word]! & ~(1 << (key & 31));
  words[word] = after;
  if (after === 0) vacateAbove(words, base, levels, key >>> 5);
}

/** The highest occupied key below `key`, or -1. */
export function nextBelow(words: Int32Array, base: number, levels: number, key: number): number {
  const index = key >>> 5;
  const below = words[base + index]! & ((1 << (key & 31)) - 1);
  if (below !== 0) return (index << 5) + 31 - Math.clz32(below);
  return climbBelow(words, base, levels, index);
}

/** The highest occupied key, or -1. */
export function highest(words: Int32Array, base: number, levels: number): number {
  const top = levels - 1;
  const isTop = ((words[base + (top >>> 5)]! >>> (top & 31)) & 1) === 1;
  return isTop ? top : nextBelow(words, base, levels, top);
}

/** Marks word `index` of layer 0 as not empty. */
function occupyAbove(words: Int32Array, base: number, levels: number, index: number): void {
  let start = base;
  let at = index;
  for (let width = (levels + 31) >>> 5; width > 1; width = (width + 31) >>> 5) {
    start += width;
    const word = start + (at >>> 5);
    const before = words[word]!;
    words[word] = before | (1 << (at & 31));
    if (before !== 0) return;
    at >>>= 5;
  }
}

function vacateAbove(words: Int32Array, base: number, levels: number, index: number): void {
  let start = base;
  let at = index;
  for (let width = (levels + 31) >>> 5; width > 1; width = (width + 31) >>> 5) {
    start += width;
    const word = start + (at >>> 5);
    const after = words[word]! & ~(1 << (at & 31));
    words[word] = after;
    if (after !== 0) return;
    at >>>= 5;
  }
}

/** The last key of the last non-empty word of layer 0 before word `index`, or -1. */
function climbBelow(words: Int32Array, base: number, levels: number, index: number): number {
  let start = base;
  let at = index;
  for (let storey = 0; widthOf(levels, storey) > 1; ) {
    start += widthOf(levels, storey);
    storey += 1;
    const below = words[start + (at >>> 5)]! & ((1 << (at & 31)) - 1);
    at >>>= 5;
    if (below === 0) continue;
    at = (at << 5) + 31 - Math.clz32(below);
    for (; storey > 0; storey--) {
      start -= widthOf(levels, storey - 1);
      at = (at << 5) + 31 - Math.clz32(words[start + at]!);
    }
    return at;
  }
  return -1;
}
