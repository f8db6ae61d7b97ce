/**
 * Source levels of one book in the prices of its first outcome, without paper orders. A source may be crossed for
 * some messages, because it sends its two sides one after the other.
 *
 * Thread: that of its owner.
 */
import { Side } from '../commands.ts';
import { PIPS_PER_UNIT } from '../tables/units.ts';
import { Levels } from './levels.ts';

export interface SourceLevel {
  readonly pips: number;
  readonly size: number;
}

/** New size of a source level, 0 = gone. `side` is Side.buy for a bid. */
export interface SourceChange extends SourceLevel {
  readonly side: number;
}

export class SourceBook {
  readonly sides: readonly [Levels, Levels] = [new Levels(), new Levels()];

  get crossed(): boolean {
    const [bids, asks] = this.sides;
    return bids.best + asks.best >= PIPS_PER_UNIT && bids.best > 0 && asks.best > 0;
  }

  /**
   * First key of a side that crosses the other one. From there on levels are not sent: it is unknown which side is
   * older, and neither can be traded.
   */
  firstCrossed(side: number): number {
    const { best } = this.sides[side === Side.buy ? 1 : 0];
    return best === 0 ? PIPS_PER_UNIT : PIPS_PER_UNIT - best;
  }
}
