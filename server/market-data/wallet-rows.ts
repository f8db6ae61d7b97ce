/**
 * The rows of a wallet, newest match first; in a match first its fill as taker, then its fills as
 * maker in fill order. A row is its key (trades-select.ts). Time may pass between two rows: the
 * walk ends where fills have left the window.
 *
 * Thread: I/O.
 */
import type { TradesIndex } from './trades-index.ts';

/** No further match or fill; sequences start at 0. */
const NONE = -1;

export function* walletRows(index: TradesIndex, account: number): Generator<number, void> {
  const matchOf = (fill: number): number =>
    fill === NONE ? NONE : fill - index.toMatch[fill & index.mask]!;
  const { lastMade, lastTaken, toMakerBefore, toTakerBefore } = index;
  /** Fills of the wallet in one match, newest first. */
  const group: number[] = [];
  let taken = newestOf(index, lastTaken, account);
  let made = newestOf(index, lastMade, account);
  for (;;) {
    const match = Math.max(taken, matchOf(made));
    if (match < index.first) return;
    const isTaker = taken === match;
    if (isTaker) taken = beforeOf(index, toTakerBefore, match);
    group.length = 0;
    while (made !== NONE && matchOf(made) === match) {
      group.push(made);
      made = beforeOf(index, toMakerBefore, made);
    }
    if (isTaker) yield 2 * match;
    for (let i = group.length - 1; i >= 0 && match >= index.first; i--) yield 2 * group[i]! + 1;
  }
}

/** The newest of a chain in the window, or NONE. */
export function newestOf({ first }: TradesIndex, heads: Float64Array, owner: number): number {
  const newest = heads[owner]! - 1;
  return newest < first ? NONE : newest;
}

/** The previous one in a chain, or NONE. */
export function beforeOf(index: TradesIndex, distances: Uint32Array, sequence: number): number {
  const distance = distances[sequence & index.mask]!;
  const before = sequence - distance;
  if (sequence < index.first || distance === 0) return NONE;
  return before < index.first ? NONE : before;
}
