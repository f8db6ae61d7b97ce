/**
 * The levels of a source in one book, in the prices of its first outcome: what the source said, and nothing of
 * paper orders. A source may be crossed for some messages, because it sends the two sides one after the other.
 *
 * Thread: that of its owner.
 */
import { Side } from '../commands.ts';
import { PIPS_PER_UNIT } from '../tables/units.ts';
import { Levels } from './levels.ts';

/** A price level of a source: pips and micro-shares. */
export interface SourceLevel {
  readonly pips: number;
  readonly size: number;
}

/** A level that has another size: `side` is Side.buy for a bid. 0 = it is gone. */
export interface SourceChange extends SourceLevel {
  readonly side: number;
}

export class SourceBook {
  /** By side. */
  readonly sides: readonly [Levels, Levels] = [new Levels(), new Levels()];

  /** True while the best bid is not below the best ask. */
  get crossed(): boolean {
    const [bids, asks] = this.sides;
    return bids.best + asks.best >= PIPS_PER_UNIT && bids.best > 0 && asks.best > 0;
  }

  /**
   * The first key of a side that crosses the other side. Levels of a crossed source from there on do not stand:
   * which of the two sides is older is not known, and neither can be traded.
   */
  firstCrossed(side: number): number {
    const { best } = this.sides[side === Side.buy ? 1 : 0];
    return best === 0 ? PIPS_PER_UNIT : PIPS_PER_UNIT - best;
  }
}
