/**
 * Chains of the newest fills by owner. TradesIndex has the chains by wallet; an owner is the
 * account that signs, and may sign for several wallets. A chain is walked by subtracting distances,
 * newest first, and ends at the end of the window of TradesIndex.
 *
 * Memory: 8 bytes a fill of the window and 16 an account.
 *
 * Thread: I/O writes and reads.
 */
import { FILL_WORDS, Fill } from '../../engine/tables/layout.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';

/** No further match or fill; sequences start at 0. */
export const NONE = -1;

export class OwnTradesIndex {
  readonly index: TradesIndex;
  private readonly toTakenBefore: Uint32Array;
  private readonly toMadeBefore: Uint32Array;
  /** By owner: sequence of the newest match taken or fill made + 1; 0 = none. */
  private readonly lastTakenOf: Float64Array;
  private readonly lastMadeOf: Float64Array;
  private end = 0;

  constructor(index: TradesIndex) {
    const { accounts } = index.t.capacities;
    this.index = index;
    this.toTakenBefore = new Uint32Array(index.toMatch.length);
    this.toMadeBefore = new Uint32Array(index.toMatch.length);
    this.lastTakenOf = new Float64Array(accounts + 1);
    this.lastMadeOf = new Float64Array(accounts + 1);
  }

  /** Adds the fills that TradesIndex has added since the last call. */
  follow(): void {
    const { index } = this;
    const { fillI, fillRows } = index.t;
    for (let fill = Math.max(this.end, index.first); fill < index.end; fill++) {
      const row = (fill % fillRows) * FILL_WORDS;
      const slot = fill & index.mask;
      this.toMadeBefore[slot] = this.chain(this.lastMadeOf, fillI[row + Fill.makerOwner]!, fill);
      if (index.toMatch[slot] !== 0) continue;
      this.toTakenBefore[slot] = this.chain(this.lastTakenOf, fillI[row + Fill.takerOwner]!, fill);
    }
    this.end = index.end;
  }

  /** The newest match in which an order of the owner was the taker, or NONE. */
  lastTaken(owner: number): number {
    return this.head(this.lastTakenOf, owner);
  }

  /** The newest fill in which an order of the owner was the maker, or NONE. */
  lastMade(owner: number): number {
    return this.head(this.lastMadeOf, owner);
  }

  takenBefore(match: number): number {
    return this.before(this.toTakenBefore, match);
  }

  madeBefore(fill: number): number {
    return this.before(this.toMadeBefore, fill);
  }

  /** The first fill of a fill's match. */
  matchOf(fill: number): number {
    return fill - this.index.toMatch[fill & this.index.mask]!;
  }

  private head(heads: Float64Array, owner: number): number {
    const newest = heads[owner]! - 1;
    return newest < this.index.first ? NONE : newest;
  }

  private before(distances: Uint32Array, sequence: number): number {
    const distance = distances[sequence & this.index.mask]!;
    const before = sequence - distance;
    // After a pause a walk may stand on a row that has left the window.
    if (sequence < this.index.first || distance === 0) return NONE;
    return before < this.index.first ? NONE : before;
  }

  /** Makes `sequence` the newest of its chain. Returns the distance to the one before, or 0. */
  private chain(heads: Float64Array, owner: number, sequence: number): number {
    const before = heads[owner]! - 1;
    heads[owner] = sequence + 1;
    return before < this.index.first ? 0 : sequence - before;
  }
}
