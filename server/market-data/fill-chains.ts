/**
 * Chains through the window of newest fills: the fills or matches of each account or market, newest first. A link is
 * the distance to the previous one. A distance out of the window ends the chain, so dropped fills need no unlinking.
 *
 * Thread: I/O writes and reads. A walk may pause: it ends where fills have left the window.
 */

/** No further match or fill. Fill sequences start at 0. */
export const NONE = -1;

export interface FillWindow {
  readonly first: number;
  /** Row of a fill = fill sequence & mask: `&` takes the low 32 bits of any exact whole number. */
  readonly mask: number;
  /** Distance to the first fill of the match, by row. */
  readonly toMatch: Uint32Array;
}

export class FillChain {
  private readonly window: FillWindow;
  /** Distance to the previous fill of the chain, by row; 0 = none. */
  private readonly distances: Uint32Array;
  /** Newest fill sequence + 1, by account or market; 0 = none. */
  private readonly heads: Float64Array;

  constructor(window: FillWindow, owners: number) {
    this.window = window;
    this.distances = new Uint32Array(window.mask + 1);
    this.heads = new Float64Array(owners + 1);
  }

  add(owner: number, sequence: number): void {
    const { first, mask } = this.window;
    const before = this.heads[owner]! - 1;
    this.heads[owner] = sequence + 1;
    this.distances[sequence & mask] = before < first ? 0 : sequence - before;
  }

  /** Newest fill sequence of a chain in the window, or NONE. */
  newest(owner: number): number {
    const newest = this.heads[owner]! - 1;
    return newest < this.window.first ? NONE : newest;
  }

  before(sequence: number): number {
    const { first, mask } = this.window;
    const distance = this.distances[sequence & mask]!;
    const before = sequence - distance;
    // After a pause a walk may stand on a row that has left the window.
    if (sequence < first || distance === 0) return NONE;
    return before < first ? NONE : before;
  }
}

export interface AccountMatch {
  readonly match: number;
  readonly isTaker: boolean;
  /** Fills of the account as maker, newest first; valid until the next match. */
  readonly made: readonly number[];
}

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
