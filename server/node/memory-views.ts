/**
 * Views of committed batches in memory, in the order in which they receive a batch.
 *
 * Thread: I/O. Not here: projections on disk (projector-service.ts).
 */
import { fillCount } from '../../engine/reads.ts';
import { controlRecordsOf } from '../../storage/control-records/control-records.ts';
import { StoredFills } from '../../storage/projection/fills.ts';
import { MarketInfos } from '../catalog/market-info.ts';
import { HistoryService } from '../market-data/history-service.ts';
import { TradesIndex } from '../market-data/trades-index.ts';
import { BatchMetrics } from '../orders/intake/batch-metrics.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import { Names } from '../streams/names.ts';
import type { RecentBatches } from '../streams/recent-batches.ts';
import { loadRecent, storeRecent } from '../streams/recent-file.ts';
import { DecidedMarkets } from './decided-markets.ts';
import { Listeners } from './listeners.ts';
import type { Ports } from './ports.ts';
import type { Recovered } from './recovered.ts';
import { DERIVE_MS_MAX, type Start } from './start.ts';

export interface MemoryViews {
  readonly infos: MarketInfos;
  readonly tradesIndex: TradesIndex;
  readonly history: HistoryService;
  /** `undefined` when metrics are off. */
  readonly batchMetrics: BatchMetrics | undefined;
  readonly recent: RecentBatches;
  readonly decided: DecidedMarkets;
  readonly committed: Listeners<AppliedBatch>;
}

export async function openViews(
  start: Start,
  { authority, stores, unwritable }: Ports,
  { control, firstFill, replayed, tables }: Recovered,
): Promise<MemoryViews> {
  const { config, log, signal } = start.options;
  const infos = new MarketInfos(tables);
  const tradesIndex = new TradesIndex(tables);
  const end = fillCount(tables);
  tradesIndex.append(Math.max(firstFill, end - config.capacities.trades), end);
  const fills = new StoredFills(tables, stores.derived.fills, firstFill);
  const { projections } = stores;
  const catchingUp = HistoryService.open({ tables, fills, projections, log, signal }, end);
  const history = await start.wait('price history to catch up', catchingUp, DERIVE_MS_MAX);
  start.onClose(() => history.close());
  const batchMetrics = config.adminPort === 0 ? undefined : new BatchMetrics(tables);
  const names = new Names(tables, (market) => infos.find(market));
  const recent = loadRecent(config.dataDir, names, replayed);
  if (unwritable === undefined) {
    start.onClose(() => storeRecent(config.dataDir, names, recent, (line) => log('warn', line)));
  }
  const decided = new DecidedMarkets(tables, () => authority.leads(), log);
  const committed = new Listeners<AppliedBatch>();
  committed.add((batch) => {
    for (const record of controlRecordsOf(batch.commands)) control.apply(record);
    tradesIndex.append(tradesIndex.end, batch.endFill);
    history.append(batch.endFill);
    batchMetrics?.count(batch);
    recent.add(batch);
    decided.committed(batch);
  });
  return { infos, tradesIndex, history, batchMetrics, recent, decided, committed };
}
