/**
 * Composition of the catalog: its service, edits of operators, repairs of a catalog generation, and the sync
 * with the catalog of another API.
 *
 * Thread: I/O. Not here: the catalog itself (server/catalog).
 */
import type { EngineMemory } from '../../engine/tables/tables.ts';
import type { LoadedCatalogGeneration } from '../catalog/catalog-generation.ts';
import type { CatalogService } from '../catalog/catalog-service.ts';
import { CatalogRepairs } from '../catalog/edits/catalog-repairs.ts';
import { MarketEdits } from '../catalog/edits/market-edits.ts';
import { StatisticsService } from '../catalog/statistics-service.ts';
import { type RunningSync, startSync } from '../catalog/sync-service.ts';
import { NO_CONTRADICTIONS } from '../common/contradictions.ts';
import { DEMO_CONDITIONS } from '../demo/demo-catalog.ts';
import type { Authority } from './authority.ts';
import { conditionsWithPayouts } from './decided-markets.ts';
import { Listeners } from './listeners.ts';
import type { MemoryViews } from './memory-views.ts';
import type { Ports } from './ports.ts';
import type { Recovered } from './recovered.ts';
import { OPEN_MS_MAX, type Start } from './start.ts';
import { loadStartupCatalog } from './startup-commands.ts';
import type { Writer } from './writer.ts';

export interface CatalogParts {
  readonly catalog: CatalogService;
  readonly edits: MarketEdits;
  readonly repairs: CatalogRepairs;
  /** Receives each catalog generation that comes into use after the first. */
  readonly switched: Listeners<LoadedCatalogGeneration>;
  /** `undefined` without CATALOG_SYNC_URL, and on a read-only node. */
  readonly sync: Pick<RunningSync, 'contradictions' | 'pull'> | undefined;
}

/** Opens the catalog. @param begun resolves once the engine takes commands; the catalog loads meanwhile */
export async function openCatalogParts(
  start: Start,
  { authority, clock, stores, unwritable }: Ports,
  { control, tables }: Recovered,
  { decided, history, infos }: MemoryViews,
  writer: Writer,
  begun: Promise<void>,
): Promise<CatalogParts> {
  const { config, log, onFatal, signal } = start.options;
  const { dataDir, durability } = config;
  const leads = (): boolean => authority.leads();
  const isLeading = leads();
  if (authority.member !== undefined) stores.catalog.awaitRecords(control.catalog);
  else if (unwritable === undefined) stores.catalog.awaitNone(control.catalog);
  const switched = new Listeners<LoadedCatalogGeneration>();
  // Nobody waits for a catalog where the writer cannot begin.
  const ending = new AbortController();
  begun.catch((error) => ending.abort(error));
  const loading = loadStartupCatalog(config, tables, {
    store: stores.catalog,
    cluster: authority.member?.catalog,
    dataDir,
    durability,
    takesDelays: config.takerDelays === 'catalog',
    memory: tables.memory,
    feesFromCatalog: config.feesFromCatalog,
    sequencer: writer.sequencer,
    leads,
    recorded: () => control.catalog,
    infos,
    statistics: new StatisticsService({ tables, volumes: history.volumes, now: clock.now }),
    log,
    onFatal,
    onSwitch: (next) => switched.notify(next),
    signal: AbortSignal.any(signal === undefined ? [ending.signal] : [ending.signal, signal]),
  });
  const loaded = await start.wait('the catalog to load', loading, OPEN_MS_MAX);
  await begun.catch(async (error) => {
    await loaded.end();
    throw error;
  });
  const takingUp = loaded.takeUp();
  const catalog = await start.wait('the engine to have the catalog', takingUp, OPEN_MS_MAX);
  start.onClose(() => start.wait('the catalog to close', catalog.close()));
  signal?.throwIfAborted();
  const served = () => catalog.current.number;
  const imports = { capacities: config.capacities, ownConditions: DEMO_CONDITIONS };
  const { memory } = tables;
  const edits = new MarketEdits({ dataDir, durability, memory, imports, served });
  start.onClose(() => start.wait('an edit of the catalog', edits.close()));
  const warn = (line: string): void => log('warn', line);
  const repairs = new CatalogRepairs({ edits, leads, now: Date.now, log: warn });
  start.onClose(() => start.wait('what the catalog lacks', repairs.close()));
  const repair = ({ mended, unpublished, unpublishedEnds }: Lacking): void => {
    if (!leads() || unwritable !== undefined) return;
    repairs.add(unpublished);
    repairs.addEnds(unpublishedEnds);
    if (mended > 0) repairs.align();
  };
  switched.add(repair);
  const passOn = decided.open(repairs);
  if (leads() && unwritable === undefined) {
    repair(catalog.current);
    passOn();
  }
  await atLaterLeads(authority, isLeading && leads(), () => {
    // The leader before may have ended between a payout and its edit.
    repairs.add(conditionsWithPayouts(tables));
    return catalog.register();
  });
  const isSynced = unwritable === undefined && config.catalogSyncUrl !== '';
  const sync = isSynced ? await openSync(start, authority, tables.memory) : undefined;
  return { catalog, edits, repairs, switched, sync };
}

type Lacking = Pick<CatalogService['current'], 'mended' | 'unpublished' | 'unpublishedEnds'>;

/** Calls `begin` at each beginning of a lead. @param isBegun the present lead began before the catalog was opened */
async function atLaterLeads(
  authority: Authority,
  isBegun: boolean,
  begin: () => Promise<void>,
): Promise<void> {
  let isPresent = isBegun;
  await authority.whenLeading(() => (isPresent ? undefined : begin()));
  isPresent = false;
}

async function openSync(
  start: Start,
  authority: Authority,
  memory: EngineMemory,
): Promise<Pick<RunningSync, 'contradictions' | 'pull'>> {
  const { config, log } = start.options;
  const { catalogSyncSeconds: seconds, catalogSyncUrl: url, dataDir, durability } = config;
  const ownConditions = DEMO_CONDITIONS;
  let sync: RunningSync | undefined;
  const end = async (): Promise<void> => {
    const ending = sync;
    sync = undefined;
    await ending?.close();
  };
  start.onClose(() => start.wait('the catalog sync to end', end()));
  await authority.whenLeading(() => {
    sync = startSync({ url, seconds, dataDir, durability, memory, ownConditions, log });
  });
  authority.whenFollowing(() => void end());
  return {
    contradictions: () => sync?.contradictions() ?? NO_CONTRADICTIONS,
    pull: () => sync?.pull(),
  };
}
