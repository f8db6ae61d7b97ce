/**
 * Index of GET /trades: columns parallel to the ring of fills. They link each fill to the first fill of its match,
 * which has the totals of the match. Chains (fill-chains.ts) lead from a fill or match to the previous one of the
 * same wallet, signer or market.
 *
 * A match leaves the window as a whole: when its first fill leaves, no row of it is shown. A worker may write new fills
 * over the oldest ones at any time (capacities.ts), so a row that was read counts only if it is in the window afterwards.
 *
 * Thread: I/O writes and reads. Fills become visible here once they are on disk (docs/protocol.md#consistent-reads).
 */

import { assert } from '../../engine/book/matching.ts';
import {
  fillFails,
  fillMaker,
  fillMakerOwner,
  fillMatch,
  fillRow,
  fillScheduleFee,
  fillSize,
  fillTaker,
  fillTakerCollateral,
  fillTakerOwner,
  fillTakerPrice,
  fillTakerSide,
  fillTakerToken,
  isPrint,
  oldestFill,
  tokenMarket,
} from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { FillChain, type FillWindow, matchesOf } from './fill-chains.ts';

export class TradesIndex implements FillWindow {
  readonly tables: Tables;
  readonly mask: number;
  readonly toMatch: Uint32Array;
  /** Market x 2 + the taker's side. */
  readonly marketSide: Int32Array;
  /** Pips of the taker's price if all fills of the match have the same price; else 0. */
  readonly price: Int32Array;
  /** Micro-units of the whole match: shares, and the taker's collateral. */
  readonly size: Float64Array;
  readonly collateral: Float64Array;
  /** The taker's fee of a schedule, on top of its collateral as a buyer, and off it as a seller. */
  readonly fee: Float64Array;
  /**
   * Matches by the taker's wallet and by its signer, fills by the maker's; matches by market. A trade that fails is in
   * those by signer alone.
   */
  readonly taken: FillChain;
  readonly takenBySigner: FillChain;
  readonly made: FillChain;
  readonly madeBySigner: FillChain;
  readonly inMarket: FillChain;
  /** Fill sequence after the newest visible one. */
  end = 0;
  private begun = 0;
  private readonly window: number;

  constructor(tables: Tables) {
    this.tables = tables;
    this.window = tables.capacities.trades;
    const rows = 2 ** Math.ceil(Math.log2(this.window));
    this.mask = rows - 1;
    this.toMatch = new Uint32Array(rows);
    this.marketSide = new Int32Array(rows);
    this.price = new Int32Array(rows);
    this.size = new Float64Array(rows);
    this.collateral = new Float64Array(rows);
    this.fee = new Float64Array(rows);
    const { accounts, markets } = tables.capacities;
    this.taken = new FillChain(this, accounts);
    this.takenBySigner = new FillChain(this, accounts);
    this.made = new FillChain(this, accounts);
    this.madeBySigner = new FillChain(this, accounts);
    this.inMarket = new FillChain(this, markets);
  }

  /**
   * Adds the fills [firstFill, endFill), which are on disk and follow the earlier ones. The very first call may begin
   * anywhere; a match that began before it stays hidden.
   */
  append(firstFill: number, endFill: number): void {
    assert(this.end === 0 || firstFill === this.end, 'fills are shown in their order');
    assert(firstFill <= endFill, 'fills are shown once');
    if (this.end === 0) this.begun = firstFill;
    this.end = endFill;
    for (let fill = Math.max(firstFill, this.first); fill < endFill; fill++) this.link(fill);
  }

  /** Oldest visible fill sequence. */
  get first(): number {
    return Math.max(this.begun, this.end - this.window, oldestFill(this.tables));
  }

  private link(fill: number): void {
    const { tables } = this;
    const row = fillRow(tables, fill);
    const match = fillMatch(tables, row);
    const slot = fill & this.mask;
    this.toMatch[slot] = fill - match;
    // A print is one row, that of its taker.
    const isPublic = !fillFails(tables, row);
    if (!isPrint(tables, row)) {
      if (isPublic) this.made.add(fillMaker(tables, row), fill);
      this.madeBySigner.add(fillMakerOwner(tables, row), fill);
    }
    if (match < this.first) return;
    const price = fillTakerPrice(tables, row);
    const size = fillSize(tables, row);
    const collateral = fillTakerCollateral(tables, row);
    if (fill === match) {
      const market = tokenMarket(tables, fillTakerToken(tables, row));
      if (isPublic) {
        this.taken.add(fillTaker(tables, row), fill);
        this.inMarket.add(market, fill);
      }
      this.takenBySigner.add(fillTakerOwner(tables, row), fill);
      this.marketSide[slot] = market * 2 + fillTakerSide(tables, row);
      this.price[slot] = price;
      this.size[slot] = size;
      this.collateral[slot] = collateral;
      this.fee[slot] = fillScheduleFee(tables, row);
      return;
    }
    const at = match & this.mask;
    this.size[at]! += size;
    this.collateral[at]! += collateral;
    this.fee[at]! += fillScheduleFee(tables, row);
    if (this.price[at] !== price) this.price[at] = 0;
  }

  matchOf(fill: number): number {
    return fill - this.toMatch[fill & this.mask]!;
  }
}

/**
 * Keys (trades-select.ts) of the rows of a wallet, newest match first. In a match its fill as taker comes first, then
 * its fills as maker in fill order.
 */
export function* walletRows(index: TradesIndex, wallet: number): Generator<number, void> {
  for (const { isTaker, made, match } of matchesOf(index, index.taken, index.made, wallet)) {
    if (isTaker) yield 2 * match;
    for (let i = made.length - 1; i >= 0 && match >= index.first; i--) yield 2 * made[i]! + 1;
  }
}
