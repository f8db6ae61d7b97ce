/**
 * Chains through the window of newest fills: for each account or market its fills or matches, newest
 * first. A link is the distance to the one before. A distance that leads out of the window ends the
 * chain, so nothing has to be unlinked when the ring drops old fills.
 *
 * Thread: I/O writes and reads. A walk may pause: it ends where fills have left the window.
 */

/** No further match or fill; sequences start at 0. */
export const NONE = -1;

/** The fills that the chains link (TradesIndex). */
export interface FillWindow {
  /** The oldest visible sequence. */
  readonly first: number;
  /** Row of a fill = sequence & mask: `&` takes the low 32 bits of any exact whole number. */
  readonly mask: number;
  /** By row, the distance to the first fill of the match. */
  readonly toMatch: Uint32Array;
}

export class FillChain {
  private readonly window: FillWindow;
  /** By row of a fill: 0 = none before it. */
  private readonly distances: Uint32Array;
  /** By account or market: sequence of the newest + 1; 0 = none. */
  private readonly heads: Float64Array;

  /** @param owners the highest row of an account, or of a market */
  constructor(window: FillWindow, owners: number) {
    this.window = window;
    this.distances = new Uint32Array(window.mask + 1);
    this.heads = new Float64Array(owners + 1);
  }

  /** Makes `sequence` the newest of its chain. */
  add(owner: number, sequence: number): void {
    const { first, mask } = this.window;
    const before = this.heads[owner]! - 1;
    this.heads[owner] = sequence + 1;
    this.distances[sequence & mask] = before < first ? 0 : sequence - before;
  }

  /** The newest of a chain in the window, or NONE. */
  newest(owner: number): number {
    const newest = this.heads[owner]! - 1;
    return newest < this.window.first ? NONE : newest;
  }

  /** The previous one in a chain, or NONE. */
  before(sequence: number): number {
    const { first, mask } = this.window;
    const distance = this.distances[sequence & mask]!;
    const before = sequence - distance;
    // After a pause a walk may stand on a row that has left the window.
    if (sequence < first || distance === 0) return NONE;
    return before < first ? NONE : before;
  }
}

/** A match in which an account took part. */
export interface AccountMatch {
  readonly match: number;
  readonly isTaker: boolean;
  /** Fills in which the account was the maker, newest first; valid until the next match. */
  readonly made: readonly number[];
}

/** Merges both chains of an account: its matches, newest first. */
export function* matchesOf(
  window: FillWindow,
  takenChain: FillChain,
  madeChain: FillChain,
  account: number,
): Generator<AccountMatch, void> {
  const matchOf = (fill: number): number =>
    fill === NONE ? NONE : fill - window.toMatch[fill & window.mask]!;
  const group: number[] = [];
  let taken = takenChain.newest(account);
  let made = madeChain.newest(account);
  for (;;) {
    const match = Math.max(taken, matchOf(made));
    // A match leaves the window as a whole, and with it the older ones of both chains.
    if (match < window.first) return;
    const isTaker = taken === match;
    if (isTaker) taken = takenChain.before(match);
    group.length = 0;
    while (made !== NONE && matchOf(made) === match) {
      group.push(made);
      made = madeChain.before(made);
    }
    yield { match, isTaker, made: group };
  }
}
