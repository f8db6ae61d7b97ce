/**
 * Price history and volumes for requests: projected fills on disk, and every newer fill in memory. Answers are
 * complete at once, also while the projector rebuilds the projection.
 *
 * Thread: I/O. It writes nothing. Orders and their answers do not depend on it.
 */
import { ledgerTotals } from '../../engine/ledger/reads.ts';
import {
  FILL_BYTES,
  type FillRows,
  fillFails,
  fillRow,
  fillSize,
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
import { nextIteration } from '../common/event-loop.ts';
import { PriceHistory } from './price-history.ts';
import { MarketVolumes } from './volumes.ts';

export interface HistoryOptions {
  readonly tables: Tables;
  readonly fills: StoredFills;
  /** `undefined` if there are none and none can be made. */
  readonly projections: Projections | undefined;
  readonly log: (level: 'info' | 'warn', line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

const FORGET_MS = 5_000;
const FILLS_PER_TURN = 2 ** 15;

export class HistoryService {
  readonly prices: PriceHistory;
  readonly volumes: MarketVolumes;
  private readonly options: HistoryOptions;
  private end: number;
  private readonly timer: NodeJS.Timeout;

  private constructor(options: HistoryOptions, volumes: MarketVolumes, end: number) {
    this.options = options;
    this.volumes = volumes;
    this.end = end;
    this.prices = new PriceHistory(options.projections, end);
    this.timer = setInterval(() => this.forget(), FORGET_MS).unref();
  }

  /** Loads the projection if it follows from these fills, and counts the others of the first `end`. */
  static async open(options: HistoryOptions, end: number): Promise<HistoryService> {
    const loaded = load(options, end);
    const keeper = new HistoryService(options, loaded.volumes, loaded.end);
    try {
      await keeper.catchUp(end);
    } catch (error) {
      keeper.close();
      throw error;
    }
    return keeper;
  }

  /** Counts the fills before `end` that follow those of the last call. They are on disk and in the ring. */
  append(end: number): void {
    const { tables } = this.options;
    for (let fill = this.end; fill < end; fill++) this.count(tables, fillRow(tables, fill));
    this.end = end;
  }

  forget(): void {
    this.prices.forget(this.end);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async catchUp(end: number): Promise<void> {
    const { fills, log, signal } = this.options;
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
      await nextIteration();
      signal?.throwIfAborted();
    }
    if (missing > 0) log('warn', `price history: ${missing} fills are gone`);
    this.forget();
  }

  private count(fills: FillRows, row: FillRow): void {
    if (fillFails(fills, row)) return;
    this.prices.add(fills, row);
    const market = tokenMarket(this.options.tables, fillTakerToken(fills, row));
    const collateral = fillTakerCollateral(fills, row);
    this.volumes.add(market, fillTime(fills, row), collateral, fillSize(fills, row));
  }
}

function load(options: HistoryOptions, end: number): { volumes: MarketVolumes; end: number } {
  const { fills, log, projections, tables } = options;
  const nothing = { volumes: new MarketVolumes(tables), end: 0 };
  const { entries } = ledgerTotals(tables);
  const isWhole = end === 0 && entries === 0;
  const position = projections?.position();
  if (projections === undefined) return nothing;
  if (position === undefined) {
    // Without fills and entries an empty projection is complete; else the projector rebuilds it.
    if (isWhole) projections.reject(true);
    return nothing;
  }
  try {
    const isOfLog = position.end <= end && position.entries <= entries;
    const isOurs = isOfLog && position.crc === crcOf(fills, position.end);
    if (isOurs) {
      const volumes = new MarketVolumes(tables);
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
