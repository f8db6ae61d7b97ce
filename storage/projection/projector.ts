/**
 * Has the projections take in the fills and entries of derived/, some thousand in a transaction, and makes all of them again
 * where they cannot be used: from the first of each on, by the same transactions.
 *
 * Thread: the follower, synchronously.
 */
import { FILL_BYTES } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { DerivedPosition, DerivedTables } from './derived.ts';
import { crcOf, type ProjectedPosition, type Projections } from './environment.ts';
import { DamagedRow } from './projection.ts';

/** The more fills of one transaction there are, the more of what they change lies in one page. */
const FILLS_PER_COMMIT = 16_384;
/** The same where the disk is nearly full. */
const FILLS_PER_SMALL_COMMIT = 256;
/** Between two transactions, so that one takes many. */
const REST_MS = 250;
/**
 * And so many times as long as the last one took: where trades are spread over millions of positions, each
 * fill costs two pages of LMDB, and the facts must not wait for that.
 */
const REST_FACTOR = 4;
/** Of a fill or an entry: two positions with a key each, two rows of prices, which may be as long as two, and two of volumes. */
const ROWS_PER_FILL = 10;

type FactTables = Pick<DerivedTables, 'entries' | 'fills'>;
type FactEnds = Pick<DerivedPosition, 'entries' | 'fills'>;

export interface ProjectorOptions {
  readonly t: Tables;
  readonly projections: Projections;
  readonly warn: (line: string) => void;
  /** Throws where the disk may have no room for a transaction of so many rows. */
  readonly needRows: (rows: number) => void;
}

export class Projector {
  private readonly o: ProjectorOptions;
  /** When the next transaction may be made, and whether fills wait for it. */
  private restsUntil = Number.NEGATIVE_INFINITY;
  private isWaiting = false;
  /** Those of one transaction. */
  private readonly rows = new Uint8Array(FILLS_PER_COMMIT * FILL_BYTES);
  private readonly fillI = new Int32Array(this.rows.buffer);
  private readonly fillF = new Float64Array(this.rows.buffer);

  constructor(options: ProjectorOptions) {
    this.o = options;
  }

  /**
   * Takes in some of the fills and entries before `ends`, which are in LMDB. False = there is nothing to do before more
   * of them are, or time passes. Throws what a failed write throws; what was not written is taken in by the
   * next call.
   *
   * @param isReached whether all that there were at the start are before `ends`
   * @param now unix milliseconds
   */
  step(facts: FactTables, ends: FactEnds, isReached: boolean, now: number): boolean {
    const { projections, warn } = this.o;
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
    // As long as answers wait for it there is no time to lose.
    const took = performance.now() - began;
    this.restsUntil = now + (isWhole ? Math.max(REST_MS, (1 + REST_FACTOR) * took) : took);
    return true;
  }

  /** Milliseconds until what waits is due; Infinity = nothing waits. */
  patience(now: number): number {
    return this.isWaiting ? Math.max(0, this.restsUntil - now) : Number.POSITIVE_INFINITY;
  }

  close(): void {
    void this.o.projections.close();
  }

  private fillsPerCommit(): number {
    try {
      this.o.needRows(ROWS_PER_FILL * FILLS_PER_COMMIT);
      return FILLS_PER_COMMIT;
    } catch {
      return FILLS_PER_SMALL_COMMIT;
    }
  }

  private empty(end: number): void {
    if (end > 0) this.o.warn(`projections: made again from fills 0 to ${end - 1}`);
    this.o.projections.empty(false);
  }

  private take(
    { entries, fills }: FactTables,
    { end: from, entries: fromEntry, isWhole }: ProjectedPosition,
    ends: FactEnds,
    isReached: boolean,
  ): void {
    const { needRows, projections, t } = this.o;
    const most = this.fillsPerCommit();
    const to = Math.max(from, Math.min(ends.fills, from + most));
    const toEntry = Math.max(fromEntry, Math.min(ends.entries, fromEntry + most));
    needRows(ROWS_PER_FILL * (to - from + toEntry - fromEntry));
    const count = fills.copy(from, to, this.rows);
    const rows = [...entries.range(fromEntry, toEntry)];
    const isAtEnd = to === ends.fills && toEntry === ends.entries;
    const position = {
      end: to,
      entries: toEntry,
      isWhole: isWhole || (isReached && isAtEnd),
      crc: crcOf(fills, to),
    };
    const { fillF, fillI } = this;
    projections.write({ t, count, fillI, fillF, entries: rows }, position);
    this.miss('fills', to - from - count);
    this.miss('entries', toEntry - fromEntry - rows.length);
  }

  private miss(what: string, missing: number): void {
    if (missing === 0) return;
    this.o.warn(`projections: ${missing} ${what} are gone, and what they brought about`);
  }
}
