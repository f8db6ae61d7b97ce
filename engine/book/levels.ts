/** Sides of a book, and levels as keys: what both the operations and the readers of a book need. */

export const Side = { bid: 0, ask: 1 } as const;
export type Side = (typeof Side)[keyof typeof Side];

/** What best() and worse() answer when there is no such level. */
export const NO_LEVEL = -1;

/** The key of a level, and the level of a key: `levels - 1 - level` for asks, without a branch. */
export function keyOf(side: Side, level: number, levels: number): number {
  return ((level ^ -side) + (levels & -side)) | 0;
}
