/**
 * Updates the live statistics of the catalog from books and fills. Passes over all markets, more than
 * one a second, search for changes: of the version of a market's books, of its volume, or of the
 * volume of its last 24 hours. A pass runs in slices, with other work of the thread between them.
 * So a change of very many markets shows later than a change of few.
 *
 * Thread: the I/O thread.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { findMarket, foundMarkets } from '../../engine/markets/markets.ts';
import { AMOUNT_MAX } from '../../engine/tables/capacities.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import type { CatalogStatistics } from './market-statistics.ts';
import type { PreparedCatalog, TextIndex } from './prepared.ts';
import { BookStatistics, BUSY } from './read-statistics.ts';
import { valuesOfRow } from './relation.ts';
import { NUMBER_KEY, NUMBER_KEY_UNITS } from './text-index.ts';

export interface MarketVolumes {
  totalOf(market: MarketRow): number;
  /** Volume of the last 24 hours in micro-units; `now` in unix milliseconds. */
  dayOf(market: MarketRow, now: number): number;
}

/** Interval of passes: a change shows within a second. */
const PASS_MS = 750;
/** Longest time of a pass without a pause, and the length of the pause. */
const SLICE_MS = 1;
const PAUSE_MS = 4;
/** Unchanged markets between two readings of the clock: a few microseconds. */
const LOOK_EVERY = 128;

export interface StatisticsServiceOptions {
  readonly tables: Tables;
  readonly volumes: MarketVolumes;
  readonly now: () => number;
}

interface Target {
  readonly prepared: PreparedCatalog;
  readonly statistics: CatalogStatistics;
}

export class StatisticsService {
  private readonly options: StatisticsServiceOptions;
  private readonly reader: BookStatistics;
  private followed: StatisticsPass | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(options: StatisticsServiceOptions) {
    this.options = options;
    this.reader = new BookStatistics(options.tables);
  }

  /**
   * Brings the statistics of a generation up to date and goes on updating them, in place of the
   * previous generation's. A market that is registered later is found by the next pass.
   */
  async follow(target: Target): Promise<void> {
    const next = new StatisticsPass(this.options, this.reader, target);
    while (!next.advance(SLICE_MS) && !this.isClosed) await breathe();
    if (this.isClosed) return;
    // The most frequent sort order. The first sort is slow, until V8 has compiled it.
    target.statistics.column('markets', 'volume').order();
    target.statistics.column('events', 'volume').order();
    clearTimeout(this.timer);
    this.followed = next;
    this.timer = setTimeout(this.pass, PASS_MS);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private began = 0;
  private readonly pass = (): void => {
    const now = performance.now();
    if (this.followed!.isDone) this.began = now;
    const isDone = this.followed!.advance(SLICE_MS);
    const wait = isDone ? PASS_MS - (performance.now() - this.began) : PAUSE_MS;
    this.timer = setTimeout(this.pass, Math.max(wait, PAUSE_MS));
  };
}

const condition = new Int32Array(ID_WORDS);

function readCondition({ keyEnds, units }: TextIndex, key: number, out: Int32Array): boolean {
  const start = keyEnds[key]!;
  if (keyEnds[key + 1]! - start !== NUMBER_KEY_UNITS || units[start] !== NUMBER_KEY) return false;
  for (let w = 0; w < out.length; w++) {
    const at = start + 1 + 2 * w;
    out[w] = (units[at]! << 16) | units[at + 1]!;
  }
  return true;
}

class StatisticsPass {
  private readonly options: StatisticsServiceOptions;
  private readonly reader: BookStatistics;
  private readonly target: Target;
  /**
   * Registered markets that are listed: their rows in the engine and in the catalog, and the shown
   * version.
   */
  private readonly slots: number[] = [];
  private readonly rows: number[] = [];
  private readonly versions: number[] = [];
  private readonly shownVolumes: Float64Array;
  private readonly shownDays: Float64Array;
  /** Keys of condition ids that are to be looked up; a found market never changes. */
  private keys: number[] = [];
  private nextKey = 0;
  /** Keys without a market in the engine, and the number of markets when they were looked up. */
  private missing: number[];
  private markets = -1;
  private next = 0;

  constructor(options: StatisticsServiceOptions, reader: BookStatistics, target: Target) {
    this.options = options;
    this.reader = reader;
    this.target = target;
    const { keyEnds } = target.prepared.markets.keys.conditionId!;
    this.missing = Array.from({ length: keyEnds.length - 1 }, (_, key) => key);
    this.shownVolumes = target.statistics.column('markets', 'volume').values;
    this.shownDays = target.statistics.column('markets', 'volume24hr').values;
  }

  get isDone(): boolean {
    return this.next === 0;
  }

  /**
   * Continues the pass, or begins one, for about `ms` milliseconds, and publishes the changes.
   * Returns true when the pass is complete.
   */
  advance(ms: number): boolean {
    const end = performance.now() + ms;
    if (!this.lookUp(end)) return false;
    const now = this.options.now();
    let looked = 0;
    while (this.next < this.slots.length) {
      const isRead = this.update(this.next++, now);
      looked += 1;
      if ((isRead || looked % LOOK_EVERY === 0) && performance.now() > end) break;
    }
    this.target.statistics.publish();
    if (this.next < this.slots.length) return false;
    this.next = 0;
    return true;
  }

  /** Looks for the markets that have no row yet; false when the time is over before all are looked up. */
  private lookUp(end: number): boolean {
    const conditions = this.target.prepared.markets.keys.conditionId!;
    const markets = foundMarkets(this.options.tables);
    const isDone = this.nextKey === this.keys.length;
    if (isDone && markets !== this.markets) {
      this.markets = markets;
      this.nextKey = 0;
      this.keys = this.missing;
      this.missing = [];
    }
    while (this.nextKey < this.keys.length) {
      this.addCondition(conditions, this.keys[this.nextKey++]!);
      if (this.nextKey % LOOK_EVERY === 0 && performance.now() > end) return false;
    }
    return true;
  }

  private addCondition(conditions: TextIndex, key: number): void {
    if (!readCondition(conditions, key, condition)) return;
    const marketRow = findMarket(this.options.tables, condition, 0);
    if (marketRow === 0) {
      this.missing.push(key);
      return;
    }
    for (const row of valuesOfRow(conditions.rows, key)) {
      this.slots.push(marketRow);
      this.rows.push(row);
      this.versions.push(BUSY);
    }
  }

  /** Reads the changes of a market; false when there are none, or when they cannot be read now. */
  private update(index: number, now: number): boolean {
    const { reader, target } = this;
    const { volumes } = this.options;
    const marketRow = this.slots[index]! as MarketRow;
    const row = this.rows[index]!;
    const volume = Math.min(volumes.totalOf(marketRow), AMOUNT_MAX);
    const isTraded = volume !== this.shownVolumes[row];
    const shownDay = this.shownDays[row]!;
    // Without another trade this volume only falls.
    const volumeDay = isTraded || shownDay > 0 ? volumes.dayOf(marketRow, now) : 0;
    const isSame = !isTraded && volumeDay === shownDay;
    if (isSame && reader.versionOf(marketRow) === this.versions[index]) return false;
    const version = reader.read(marketRow, target.prepared.markets.outcomes[row]!);
    if (version === BUSY) return false;
    this.versions[index] = version;
    target.statistics.setMarket(row, Object.assign(reader.statistics, { volume, volumeDay }));
    return true;
  }
}
