/**
 * Volumes of markets in collateral of taker fills (usdcSize of GET /trades), of all time and of the last 24 hours, and
 * in shares of all time:
 * the projection at the start (storage/projection/volumes.ts), and every later fill.
 *
 * The window of 24 hours is 288 parts of five minutes, the present one included: a fill leaves it up to five minutes
 * early. Sums are exact; the shown value stops at 2^53 - 1 micro-units.
 *
 * Thread: I/O.
 */
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, MicroCollateral, MicroShares } from '../../engine/tables/units.ts';
import { addTo, microOf, moveSum, newSums, type Sums } from '../../storage/projection/sums.ts';
import {
  COLLATERAL,
  DAY_HOURS,
  HOUR_PARTS,
  PART_MS,
  SHARES,
  type Volumes as StoredVolumes,
} from '../../storage/projection/volumes.ts';

const DAY_PARTS = DAY_HOURS * HOUR_PARTS;

export class MarketVolumes {
  private readonly totals: Sums;
  private readonly shares: Sums;
  private readonly days: Sums;
  /** Hours since 1970 in the window, with their parts by market. */
  private readonly hours = new Map<number, Map<number, Sums>>();
  /** Present part of five minutes since 1970. The window is the 288 that end with it. */
  private part = 0;

  constructor({ capacities }: Tables) {
    this.totals = newSums(capacities.markets + 1);
    this.shares = newSums(capacities.markets + 1);
    this.days = newSums(capacities.markets + 1);
  }

  /** Loads the projection, before any fill. Throws DamagedRow; this object is unusable then. */
  load(stored: StoredVolumes): void {
    stored.read(
      (market, sums) => {
        moveSum(sums, COLLATERAL, this.totals, market, 1);
        moveSum(sums, SHARES, this.shares, market, 1);
      },
      (hour, market, sums) => {
        // Parts of the newest hour that are after the end of the window count as well.
        this.advance(hour * HOUR_PARTS);
        for (let i = 0; i < HOUR_PARTS; i++) moveSum(sums, i, this.days, market, 1);
        this.cellsOf(hour).set(market, sums);
      },
    );
  }

  totalOf(market: MarketRow): MicroCollateral {
    return microOf(this.totals, market) as MicroCollateral;
  }

  /** Micro-shares of all time. */
  sharesOf(market: MarketRow): MicroShares {
    return microOf(this.shares, market) as MicroShares;
  }

  dayOf(market: MarketRow, nowMs: number): MicroCollateral {
    this.advance(Math.floor(nowMs / PART_MS));
    return microOf(this.days, market) as MicroCollateral;
  }

  add(market: MarketRow, timeMs: number, collateral: MicroCollateral, shares: MicroShares): void {
    const part = Math.floor(timeMs / PART_MS);
    this.advance(part);
    addTo(this.totals, market, collateral);
    addTo(this.shares, market, shares);
    if (part <= this.part - DAY_PARTS) return;
    const cells = this.cellsOf(Math.floor(part / HOUR_PARTS));
    let sums = cells.get(market);
    if (sums === undefined) {
      sums = newSums(HOUR_PARTS);
      cells.set(market, sums);
    }
    addTo(sums, part % HOUR_PARTS, collateral);
    addTo(this.days, market, collateral);
  }

  private cellsOf(hour: number): Map<number, Sums> {
    let cells = this.hours.get(hour);
    if (cells === undefined) {
      cells = new Map();
      this.hours.set(hour, cells);
    }
    return cells;
  }

  private advance(part: number): void {
    if (part <= this.part) return;
    const firstOut = this.part - DAY_PARTS + 1;
    const lastOut = part - DAY_PARTS;
    this.part = part;
    for (const [hour, cells] of this.hours) {
      const start = hour * HOUR_PARTS;
      const from = Math.max(0, firstOut - start);
      const to = Math.min(HOUR_PARTS - 1, lastOut - start);
      for (const [market, sums] of cells) {
        for (let i = from; i <= to; i++) moveSum(sums, i, this.days, market, -1);
      }
      if (lastOut >= start + HOUR_PARTS - 1) this.hours.delete(hour);
    }
  }
}
