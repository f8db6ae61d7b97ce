/**
 * The index of GET /trades: columns parallel to the ring of fills. For each of the newest fills they
 * say where its match began, and which fill of the same wallet or market came before it. A chain is
 * walked by subtracting distances, newest first. A distance that leads out of the window ends the
 * chain, so nothing has to be unlinked when the ring drops old fills.
 *
 *   fill    toMatch | toMakerBefore                                  distances; 0 = none
 *   match   toTakerBefore | toMarketBefore | marketSide | price      at its first fill
 *           size f64 | collateral f64
 *
 * A match leaves the window as a whole: when its first fill leaves, no row of it is shown.
 *
 * Thread: I/O writes and reads. Fills become visible here once they are on disk
 * (docs/protocol.md#consistent-reads).
 */
import { assert } from '../../engine/book/matching.ts';
import { FILL_DOUBLES, FILL_WORDS, Fill, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';

export class TradesIndex {
  readonly t: Tables;
  /** Row of a fill = sequence & mask: `&` takes the low 32 bits of any exact whole number. */
  readonly mask: number;
  readonly toMatch: Uint32Array;
  readonly toMakerBefore: Uint32Array;
  readonly toTakerBefore: Uint32Array;
  readonly toMarketBefore: Uint32Array;
  /** Market x 2 + the taker's side. */
  readonly marketSide: Int32Array;
  /** Pips of the taker's price when all fills of the match have the same price; else 0. */
  readonly price: Int32Array;
  /** Micro-units of the whole match: shares, and the taker's collateral. */
  readonly size: Float64Array;
  readonly collateral: Float64Array;
  /** By account or market: sequence of the newest fill or match + 1; 0 = none. */
  readonly lastTaken: Float64Array;
  readonly lastMade: Float64Array;
  readonly lastInMarket: Float64Array;
  /** The oldest visible sequence, and the sequence after the newest. */
  first = 0;
  end = 0;
  private begun = 0;
  private readonly window: number;

  constructor(tables: Tables) {
    this.t = tables;
    this.window = tables.capacities.trades;
    const rows = 2 ** Math.ceil(Math.log2(this.window));
    this.mask = rows - 1;
    this.toMatch = new Uint32Array(rows);
    this.toMakerBefore = new Uint32Array(rows);
    this.toTakerBefore = new Uint32Array(rows);
    this.toMarketBefore = new Uint32Array(rows);
    this.marketSide = new Int32Array(rows);
    this.price = new Int32Array(rows);
    this.size = new Float64Array(rows);
    this.collateral = new Float64Array(rows);
    this.lastTaken = new Float64Array(tables.capacities.accounts + 1);
    this.lastMade = new Float64Array(tables.capacities.accounts + 1);
    this.lastInMarket = new Float64Array(tables.capacities.markets + 1);
  }

  /**
   * Adds the fills [firstFill, endFill), which are on disk and follow the earlier ones. The very
   * first call may begin anywhere; a match that began before it stays hidden.
   */
  append(firstFill: number, endFill: number): void {
    assert(this.end === 0 || firstFill === this.end, 'fills are shown in their order');
    assert(firstFill <= endFill, 'fills are shown once');
    if (this.end === 0) this.begun = firstFill;
    this.end = endFill;
    this.first = Math.max(this.begun, endFill - this.window);
    for (let fill = Math.max(firstFill, this.first); fill < endFill; fill++) this.link(fill);
  }

  private link(fill: number): void {
    const { fillF, fillI, fillRows, tokenI } = this.t;
    const row = fill % fillRows;
    const f = row * FILL_DOUBLES;
    const i = row * FILL_WORDS;
    const match = fillF[f + Fill.match]!;
    const slot = fill & this.mask;
    this.toMatch[slot] = fill - match;
    this.toMakerBefore[slot] = this.chain(this.lastMade, fillI[i + Fill.maker]!, fill);
    if (match < this.first) return;
    const price = fillI[i + Fill.takerPrice]!;
    const size = fillF[f + Fill.size]!;
    const collateral = fillF[f + Fill.takerCollateral]!;
    if (fill === match) {
      const market = tokenI[(fillI[i + Fill.takerToken]! << TOKEN_I) + Token.market]!;
      this.toTakerBefore[slot] = this.chain(this.lastTaken, fillI[i + Fill.taker]!, fill);
      this.toMarketBefore[slot] = this.chain(this.lastInMarket, market, fill);
      this.marketSide[slot] = market * 2 + fillI[i + Fill.takerSide]!;
      this.price[slot] = price;
      this.size[slot] = size;
      this.collateral[slot] = collateral;
      return;
    }
    const at = match & this.mask;
    this.size[at]! += size;
    this.collateral[at]! += collateral;
    if (this.price[at] !== price) this.price[at] = 0;
  }

  /** Makes `sequence` the newest of its chain. Returns the distance to the one before, or 0. */
  private chain(heads: Float64Array, owner: number, sequence: number): number {
    const before = heads[owner]! - 1;
    heads[owner] = sequence + 1;
    return before < this.first ? 0 : sequence - before;
  }
}
