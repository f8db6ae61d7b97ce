/**
 * What stands in a book of the source, by the messages so far.
 *
 * Pure; thread: the I/O thread.
 */
import type { SideText, SourceLevel } from './source-message.ts';

type Levels = Map<number, number>;

export class SourceLevels {
  /** Micro-shares by pips. */
  readonly bids: Levels = new Map();
  readonly asks: Levels = new Map();

  set(side: SideText, pips: number, size: number): void {
    const levels = side === 'BUY' ? this.bids : this.asks;
    if (size === 0) levels.delete(pips);
    else levels.set(pips, size);
  }

  replace(bids: readonly SourceLevel[], asks: readonly SourceLevel[]): void {
    this.bids.clear();
    this.asks.clear();
    for (const { pips, size } of bids) this.set('BUY', pips, size);
    for (const { pips, size } of asks) this.set('SELL', pips, size);
  }

  /** Whether it has just these levels. */
  equals(bids: readonly SourceLevel[], asks: readonly SourceLevel[]): boolean {
    return hasJust(this.bids, bids) && hasJust(this.asks, asks);
  }

  get isCrossed(): boolean {
    return this.bids.size > 0 && this.asks.size > 0 && max(this.bids) >= min(this.asks);
  }
}

function hasJust(levels: Levels, others: readonly SourceLevel[]): boolean {
  const standing = others.filter(({ size }) => size > 0);
  return (
    standing.length === levels.size && standing.every(({ pips, size }) => levels.get(pips) === size)
  );
}

function max(levels: Levels): number {
  let most = 0;
  for (const pips of levels.keys()) most = Math.max(most, pips);
  return most;
}

function min(levels: Levels): number {
  let least = Number.POSITIVE_INFINITY;
  for (const pips of levels.keys()) least = Math.min(least, pips);
  return least;
}
