/**
 * Price history and volumes as requests read them: at the start what the follower has projected, then every
 * fill behind that in memory, and each flushed fill while the node runs. So answers are whole at once, also
 * while the follower makes all of it again.
 *
 * Thread: I/O. It writes nothing; none of this stands between an order and its answer.
 */
import { ledgerTotals } from '../../engine/ledger/reads.ts';
import {
  FILL_BYTES,
  type FillRows,
  fillRow,
  fillTakerCollateral,
  fillTakerToken,
  fillTime,
  ONLY_FILL,
  tokenMarket,
} from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { crcOf, type Projections } from '../../storage/projection/environment.ts';
import type { StoredFills } from '../../storage/projection/fills.ts';
import { DamagedRow } from '../../storage/projection/projection.ts';
import { nextTurn } from '../common/next-turn.ts';
import { PriceHistory } from './price-history.ts';
import { Volumes } from './volumes.ts';

export interface HistoryOptions {
  readonly tables: Tables;
  /** All fills that were recovered. */
  readonly fills: StoredFills;
  /** Undefined where there are none, and none can be made. */
  readonly projections: Projections | undefined;
  readonly log: (level: 'info' | 'warn', line: string) => void;
  /** Gives up catching up. */
  readonly signal?: AbortSignal | undefined;
}

/** Between two looks at which fills have come to the disk. */
const FORGET_MS = 5_000;
const FILLS_PER_TURN = 2 ** 15;

export class HistoryKeeper {
  readonly prices: PriceHistory;
  readonly volumes: Volumes;
  private readonly o: HistoryOptions;
  /** Fills before it are counted. */
  private end: number;
  private readonly timer: NodeJS.Timeout;

  private constructor(options: HistoryOptions, volumes: Volumes, end: number) {
    this.o = options;
    this.volumes = volumes;
    this.end = end;
    this.prices = new PriceHistory(options.projections, end);
    this.timer = setInterval(() => this.forget(), FORGET_MS).unref();
  }

  /** Takes over what is on disk, where it follows from these fills, and the others of the first `end`. */
  static async open(options: HistoryOptions, end: number): Promise<HistoryKeeper> {
    const loaded = load(options, end);
    const keeper = new HistoryKeeper(options, loaded.volumes, loaded.end);
    try {
      await keeper.catchUp(end);
    } catch (error) {
      keeper.close();
      throw error;
    }
    return keeper;
  }

  /** The fills before `end` are on disk, and lie in the ring; they follow those of the last call. */
  append(end: number): void {
    const { tables } = this.o;
    for (let fill = this.end; fill < end; fill++) this.count(tables, fillRow(tables, fill));
    this.end = end;
  }

  /** Drops from memory what has come to the disk. */
  forget(): void {
    this.prices.forget(this.end);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async catchUp(end: number): Promise<void> {
    const { fills, log, signal } = this.o;
    if (this.end < end) log('info', `price history: reading fills ${this.end} to ${end - 1}`);
    const bytes = new Uint8Array(FILL_BYTES);
    const one = { fillI: new Int32Array(bytes.buffer), fillF: new Float64Array(bytes.buffer) };
    let missing = end - this.end;
    while (this.end < end) {
      const last = Math.min(end, this.end + FILLS_PER_TURN);
      for (const [, row] of fills.range(this.end, last, ({ message }) => log('warn', message))) {
        bytes.set(row);
        this.count(one, ONLY_FILL);
        missing -= 1;
      }
      this.end = last;
      // Other work of this thread runs, and the signal may abort.
      await nextTurn();
      signal?.throwIfAborted();
    }
    if (missing > 0) log('warn', `price history: ${missing} fills are gone`);
    this.forget();
  }

  /** Counts one fill, which lies in this row. */
  private count(fills: FillRows, row: FillRow): void {
    this.prices.add(fills, row);
    const market = tokenMarket(this.o.tables, fillTakerToken(fills, row));
    this.volumes.add(market, fillTime(fills, row), fillTakerCollateral(fills, row));
  }
}

/** What is on disk; where it is damaged, or follows from other fills, it is thrown away. */
function load(options: HistoryOptions, end: number): { volumes: Volumes; end: number } {
  const { fills, log, projections, tables } = options;
  const nothing = { volumes: new Volumes(tables), end: 0 };
  const { entries } = ledgerTotals(tables);
  const isWhole = end === 0 && entries === 0;
  const position = projections?.position();
  if (projections === undefined) return nothing;
  if (position === undefined) {
    // Of no fills and entries all is there; else the follower begins anew.
    if (isWhole) projections.reject(true);
    return nothing;
  }
  try {
    const isOfLog = position.end <= end && position.entries <= entries;
    const isOurs = isOfLog && position.crc === crcOf(fills, position.end);
    if (isOurs) {
      const volumes = new Volumes(tables);
      volumes.load(projections.volumes);
      return { volumes, end: position.end };
    }
    log('warn', 'projections: they follow from other fills; all of it is made again');
  } catch (error) {
    if (!(error instanceof DamagedRow)) throw error;
    log('warn', `${error.message}; all of it is made again`);
  }
  projections.reject(isWhole);
  return nothing;
}
