/**
 * A ladder: one level row per price, sorted by construction, with a bitmap of occupied levels whose
 * storeys jump over gaps of any length. Storey 0 has a bit per level, each further storey a bit per
 * word of the one below; 2^20 levels need four.
 *
 * Bids and asks share the rows: a price cannot be both while a book is not crossed, so everything
 * up to the best bid is a bid and everything from the best ask on is an ask (audit.ts proves it).
 *
 * In memory, in rows of 16 bytes from `base` on: the bitmap, then one row per level.
 */
import { assert } from './assert.ts';
import * as layout from './layout.ts';
import * as limits from './limits.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { LEVEL_I } = layout;
const { LADDER_LEVELS_MAX } = limits;

/** Geometry of a ladder: a function of the number of its levels alone. */
export interface LadderShape {
  /** Levels are numbered 0 to levels - 1. */
  readonly levels: number;
  /** Word offset of each storey of the bitmap, from the ladder's first word. */
  readonly storeys: Int32Array;
  /** Level rows begin this many rows after the base. */
  readonly firstLevelRow: number;
  /** Rows taken from the level table in all. */
  readonly rows: number;
}

export function ladderShape(levels: number): LadderShape {
  assert(Number.isInteger(levels) && levels >= 2, 'a ladder has two levels or more');
  assert(levels <= LADDER_LEVELS_MAX, 'a ladder has at most 2^20 levels');
  const storeys: number[] = [];
  let words = 0;
  let width = levels;
  do {
    storeys.push(words);
    width = (width + 31) >>> 5;
    words += width;
  } while (width > 1);
  const firstLevelRow = (words + (1 << LEVEL_I) - 1) >>> LEVEL_I;
  return {
    levels,
    storeys: Int32Array.from(storeys),
    firstLevelRow,
    rows: firstLevelRow + levels,
  };
}

/** Marks a level as occupied. `words` holds the bitmap from word `base` on. */
export function occupy(shape: LadderShape, words: Int32Array, base: number, level: number): void {
  const storeys = shape.storeys;
  let at = level;
  for (let storey = 0; storey < storeys.length; storey++) {
    const word = base + storeys[storey]! + (at >>> 5);
    const before = words[word]!;
    words[word] = before | (1 << (at & 31));
    if (before !== 0) return;
    at >>>= 5;
  }
}

/** Marks a level as empty. */
export function vacate(shape: LadderShape, words: Int32Array, base: number, level: number): void {
  const storeys = shape.storeys;
  let at = level;
  for (let storey = 0; storey < storeys.length; storey++) {
    const word = base + storeys[storey]! + (at >>> 5);
    const after = words[word]! & ~(1 << (at & 31));
    words[word] = after;
    if (after !== 0) return;
    at >>>= 5;
  }
}

/** The lowest occupied level above `level`, or -1. */
export function nextAbove(
  shape: LadderShape,
  words: Int32Array,
  base: number,
  level: number,
): number {
  const storeys = shape.storeys;
  let at = level;
  for (let storey = 0; storey < storeys.length; storey++) {
    const index = at >>> 5;
    // -2 << 31 is 0: no bit lies above bit 31 of a word.
    const above = words[base + storeys[storey]! + index]! & (-2 << (at & 31));
    if (above !== 0) {
      at = (index << 5) + 31 - Math.clz32(above & -above);
      while (storey > 0) {
        storey--;
        const below = words[base + storeys[storey]! + at]!;
        at = (at << 5) + 31 - Math.clz32(below & -below);
      }
      return at;
    }
    at = index;
  }
  return -1;
}

/** The highest occupied level below `level`, or -1. */
export function nextBelow(
  shape: LadderShape,
  words: Int32Array,
  base: number,
  level: number,
): number {
  const storeys = shape.storeys;
  let at = level;
  for (let storey = 0; storey < storeys.length; storey++) {
    const index = at >>> 5;
    const below = words[base + storeys[storey]! + index]! & ((1 << (at & 31)) - 1);
    if (below !== 0) {
      at = (index << 5) + 31 - Math.clz32(below);
      while (storey > 0) {
        storey--;
        at = (at << 5) + 31 - Math.clz32(words[base + storeys[storey]! + at]!);
      }
      return at;
    }
    at = index;
  }
  return -1;
}
