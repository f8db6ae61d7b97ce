/** The sides of a book, and levels as keys: shared by the operations and the readers of a book. */

export const Side = { bid: 0, ask: 1 } as const;
export type Side = (typeof Side)[keyof typeof Side];

export const NO_LEVEL = -1;

/** Converts a level to its key and back: `levels - 1 - level` for asks, without a branch. */
export function keyOf(side: Side, level: number, levels: number): number {
  return ((level ^ -side) + (levels & -side)) | 0;
}
