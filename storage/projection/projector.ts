/**
 * Applies the fills and entries of derived/ to the projections, some thousand in a transaction. Rebuilds unusable
 * projections from the first fill, by the same transactions.
 *
 * Thread: the projector, synchronously.
 */
import { FILL_BYTES, fillRowsOf, fillTime, ONLY_FILL } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import type { DerivedPosition, DerivedTables } from './derived.ts';
import { entryOf } from './entries.ts';
import { crcOf, type ProjectedPosition, type Projections } from './environment.ts';
import { DamagedRow, type FillAt } from './projection.ts';

/** Fills of one transaction; fewer if the disk is nearly full. The more, the more of their changes lie in one page. */
const FILLS_PER_COMMIT = 16_384;
const FILLS_PER_SMALL_COMMIT = 256;
/** Pause between two transactions, so that one takes many. */
const REST_MS = 250;
/**
 * Pause as a multiple of the last transaction's time. If trades are spread over millions of positions, each fill
 * costs two pages of LMDB, and the facts must not wait for that.
 */
const REST_FACTOR = 4;
/**
 * Rows of a fill or an entry: two positions with a key each, two rows of prices, which may be as long as two, two of
 * volumes, one of rebates, and for both wallets a forecast, sums with an hour, and short rows of eight boards.
 */
const ROWS_PER_FILL = 23;

type FactTables = Pick<DerivedTables, 'entries' | 'fills'>;
type FactEnds = Pick<DerivedPosition, 'entries' | 'fills'>;

export interface ProjectorOptions {
  readonly tables: Tables;
  readonly projections: Projections;
  readonly warn: (line: string) => void;
  readonly needRows: (rows: number) => void;
}

export class Projector {
  private readonly options: ProjectorOptions;
  /** Time of the next transaction, and true if fills wait for it. */
  private restsUntil = Number.NEGATIVE_INFINITY;
  private isWaiting = false;
  private readonly rows = new Uint8Array(FILLS_PER_COMMIT * FILL_BYTES);
  private readonly fillI = new Int32Array(this.rows.buffer);
  private readonly fillF = new Float64Array(this.rows.buffer);

  constructor(options: ProjectorOptions) {
    this.options = options;
  }

  /**
   * Applies some of the fills and entries before `ends`, which are in LMDB. Returns false if nothing is due before
   * more of them are, or time passes. Throws the error of a failed write; the next call repeats it.
   * @param isReached true if all that there were at the start are before `ends`
   * @param now unix milliseconds
   */
  step(facts: FactTables, ends: FactEnds, isReached: boolean, now: number): boolean {
    const { projections, warn } = this.options;
    // A reader that finds damage removes the position.
    projections.root.resetReadTxn();
    const position = projections.position();
    if (position === undefined) {
      this.empty(ends.fills);
      return true;
    }
    const { end, entries, isWhole } = position;
    const isAt = end === ends.fills && entries === ends.entries;
    this.isWaiting = end < ends.fills || entries < ends.entries || (isAt && isReached && !isWhole);
    if (!this.isWaiting || now < this.restsUntil) return false;
    const began = performance.now();
    try {
      this.take(facts, position, ends, isReached);
    } catch (error) {
      if (!(error instanceof DamagedRow)) throw error;
      warn(error.message);
      this.empty(ends.fills);
    }
    // A rebuild pauses less, because requests wait for it.
    const took = performance.now() - began;
    this.restsUntil = now + (isWhole ? Math.max(REST_MS, (1 + REST_FACTOR) * took) : took);
    return true;
  }

  /** Milliseconds until waiting fills are due; Infinity = nothing waits. */
  patience(now: number): number {
    return this.isWaiting ? Math.max(0, this.restsUntil - now) : Number.POSITIVE_INFINITY;
  }

  close(): void {
    void this.options.projections.close();
  }

  private fillsPerCommit(): number {
    try {
      this.options.needRows(ROWS_PER_FILL * FILLS_PER_COMMIT);
      return FILLS_PER_COMMIT;
    } catch {
      return FILLS_PER_SMALL_COMMIT;
    }
  }

  private empty(end: number): void {
    if (end > 0) this.options.warn(`projections: made again from fills 0 to ${end - 1}`);
    this.options.projections.empty(false);
  }

  private take(
    { entries, fills }: FactTables,
    { end: from, entries: fromEntry, isWhole }: ProjectedPosition,
    ends: FactEnds,
    isReached: boolean,
  ): void {
    const { needRows, projections, tables } = this.options;
    const most = this.fillsPerCommit();
    const wanted = Math.max(from, Math.min(ends.fills, from + most));
    const toEntry = Math.max(fromEntry, Math.min(ends.entries, fromEntry + most));
    needRows(ROWS_PER_FILL * (wanted - from + toEntry - fromEntry));
    const found = fills.copy(from, wanted, this.rows);
    const rows = [...entries.range(fromEntry, toEntry)];
    // An entry may begin a season: fills behind it wait for the entries before them.
    const last = toEntry < ends.entries ? rows.at(-1)?.[1] : undefined;
    const held =
      found < wanted - from || last === undefined ? 0 : this.after(entryOf(last).time, found);
    const [count, to] = [found - held, wanted - held];
    const isAtEnd = to === ends.fills && toEntry === ends.entries;
    const position = {
      end: to,
      entries: toEntry,
      isWhole: isWhole || (isReached && isAtEnd),
      crc: crcOf(fills, to),
    };
    const { fillF, fillI } = this;
    const fillAt = (sequence: number): FillAt | undefined => {
      // With a gap the rows are no longer in the places of their sequences.
      const isHere = count === to - from && sequence >= from && sequence < to;
      if (isHere) return { rows: { fillF, fillI }, row: (sequence - from) as FillRow };
      const stored = fills.get(sequence);
      return stored && { rows: fillRowsOf(stored), row: ONLY_FILL };
    };
    projections.write({ tables, count, fillI, fillF, fillAt, entries: rows }, position);
    this.miss('fills', to - from - count);
    this.miss('entries', toEntry - fromEntry - rows.length);
  }

  /** Number of the fills at hand that are later than a time. */
  private after(time: number, count: number): number {
    const { fillF } = this;
    let first = count;
    while (first > 0 && fillTime({ fillF }, (first - 1) as FillRow) > time) first -= 1;
    return count - first;
  }

  private miss(what: string, missing: number): void {
    if (missing === 0) return;
    this.options.warn(`projections: ${missing} ${what} are gone, and what they brought about`);
  }
}
