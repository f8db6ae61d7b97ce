/**
 * Composition of a node: opens its services one after the other, each with the services that it depends on. The
 * catalog loads while the workers do.
 * Each service registers its end with Start, so a stop, or a failure of a start, closes them in the reverse
 * order.
 *
 * Thread: I/O. Not here: choices between implementations (ports.ts), the process (main.ts).
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { sourceLevels } from '../../engine/reads.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { bringUp } from '../../storage/control-records/read-control-records.ts';
import type { Progress } from '../admin/progress.ts';
import type { NodeFacts } from '../admin/summary.ts';
import { separatorsOf } from '../auth/exchange-domains.ts';
import {
  type ContradictionFacts,
  contradictionsOf,
  NO_CONTRADICTIONS,
} from '../common/contradictions.ts';
import { domainsOf } from '../config/signing-domains.ts';
import { Faults } from '../faults/faults.ts';
import { RateControl } from '../http/limits/rate-control.ts';
import { RequestCounts } from '../http/request-counts.ts';
import type { Liquidity } from '../liquidity/liquidity.ts';
import { settleFills } from '../orders/intake/internal-commands.ts';
import type { BookMirror } from '../paper/book-mirror.ts';
import { appIsOn } from '../routes/app-routes.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import { WalletOrders } from '../wallet/wallet-orders.ts';
import { openCatalogParts } from './catalog-parts.ts';
import { DailyRebates, rebateParts } from './daily-rebates.ts';
import { startDemoTraders } from './demo-service.ts';
import { openLiquidity } from './liquidity-service.ts';
import { type MemoryViews, openViews } from './memory-views.ts';
import type { NodeParts } from './node-parts.ts';
import { openOperations } from './operations.ts';
import { openPort } from './port.ts';
import { openPorts, type Ports } from './ports.ts';
import { type Recovered, recover } from './recovered.ts';
import type { Recovery } from './recovery.ts';
import { modeOf } from './retained-settings.ts';
import type { NodeOptions, RunningNode } from './running-node.ts';
import { OPEN_MS_MAX, Resync, Start } from './start.ts';
import type { Writer } from './writer.ts';

export async function assemble(options: NodeOptions, recovery: Recovery): Promise<RunningNode> {
  const start = new Start(options);
  try {
    const ports = await openPorts(start);
    const recovered = await recover(start, ports, recovery);
    await ports.authority.compare(start.options.config, () => recovered.registry.isNew);
    const views = await openViews(start, ports, recovered);
    const writer = openWriter(start, ports, recovered, views);
    const begun = beginWriter(start, ports, recovered, writer);
    // Whatever depends on it reports it.
    begun.catch(() => undefined);
    await ports.authority.whenLeadIsKnown(begun);
    const catalogParts = await openCatalogParts(start, ports, recovered, views, writer, begun);
    await writer.expireDue();
    const heartbeats = writer.openHeartbeats(recovered.control.watches);
    await writer.ready();
    const { config } = start.options;
    const parts: NodeParts = {
      ...ports,
      ...recovered,
      ...views,
      ...catalogParts,
      writer,
      heartbeats,
      mode: () => modeOf(config, recovered.tables),
      progress: progressOf(ports, catalogParts, writer),
    };
    if (start.needsResync) throw new Resync();
    return await serve(start, parts);
  } catch (error) {
    await start.close();
    throw start.needsResync ? new Resync() : error;
  }
}

/** Opens the writer, which takes nothing before beginWriter(). */
function openWriter(
  start: Start,
  { authority, clock, openWriter, stores }: Ports,
  { control, sound, tables }: Recovered,
  { committed }: MemoryViews,
): Writer {
  const writer = openWriter({
    start,
    stores,
    tables,
    sound,
    clock,
    authority,
    separators: separatorsOf(domainsOf(start.options.config)),
    banned: control.bans.shared.memory,
    onCommitted: (batch) => committed.notify(batch),
  });
  start.onClose(() => writer.close());
  return writer;
}

/** Begins the writer, and opens control state for changes. Rejects where the audit of the tables failed. */
async function beginWriter(
  start: Start,
  { stores, unwritable }: Ports,
  { isUsable, sender, sound }: Recovered,
  writer: Writer,
): Promise<void> {
  const { log, signal } = start.options;
  await writer.begin();
  sender.open(writer.sequencer, (reason) => writer.pauseVenue(reason));
  await start.waitOrStop('the audit of what was recovered', sound, OPEN_MS_MAX);
  signal?.throwIfAborted();
  if (unwritable === undefined) {
    const news = bringUp(stores.controlRecords, stores.log, isUsable);
    if (news !== undefined) log('warn', news);
  }
}

function progressOf(
  { authority: { member }, stores }: Ports,
  { catalog }: Pick<NodeParts, 'catalog'>,
  writer: Writer,
): () => Progress {
  // A snapshot from before the start counts until the projector has taken another one.
  const before = stores.snapshots.newest();
  return () => {
    const follower = writer.progress();
    const { digest, last: durable } = stores.log;
    const snapshot = follower?.snapshot ?? before;
    const facts = member?.facts();
    const cluster = facts && { ...facts, catalog: catalog.digests() };
    return { durable, digest, follower, snapshot, cluster, clusterNodes: member?.nodes };
  };
}

/** Opens the port, and the services that need it or that change books: mirror, play and traders of the demo. */
async function serve(start: Start, parts: NodeParts): Promise<RunningNode> {
  const { config } = start.options;
  const { authority, clock, control, heartbeats, tables, unwritable, writer } = parts;
  const { ledger, sequencer, sequenceLock } = writer;
  const counts = config.adminPort === 0 ? undefined : new RequestCounts();
  const rates = ratesOf(start);
  const orders = sequencer && new WalletOrders({ tables, sequenceLock, sequencer });
  writer.pauseVenue(control.pause?.reason);
  await authority.whenLeading(() => cancelBanned(parts, orders));
  // No order may match price levels that a source had when the node ended.
  if (sourceLevels(tables) > 0)
    await (await import('./book-mirror.ts')).removeOldLevels(start, parts);
  let mirror: BookMirror | undefined;
  const mirrorFacts = () => mirror?.facts();
  let house: Liquidity | undefined;
  const liquidity = () => house;
  const play =
    parts.play && (await (await import('./play.ts')).beginPlay(start, parts, parts.play));
  const contradictions = (): ContradictionFacts => contradictionFacts(parts, mirror ?? play);
  const faults = faultsOf(start, parts);
  const shown = { rates, counts, contradictions, faults, liquidity, mirrorFacts, play };
  const { server, streams } = await openPort(start.options, parts, shown);
  start.onClose(() => streams.close());
  start.onClose(() => start.wait('the port to close', server.close()));
  // The port waits for delayed requests.
  start.onClose(() => faults?.close());
  // Before the port closes: a client that cannot send any more must not lose its orders.
  start.onClose(() => heartbeats.stop());
  writer.follow();
  await startDemoTraders(start, parts, server.port);
  if (ledger !== undefined) beginRebates(start, parts, ledger);
  house = ledger && (await openLiquidity(start, parts, ledger));
  play?.start();
  if (config.mirrorUrl !== '')
    mirror = await (await import('./book-mirror.ts')).openMirror(start, parts);
  const facts = (): NodeFacts => ({
    ...factsOf(parts),
    streams: streams.facts(),
    http: server.facts(),
    requests: counts?.rows ?? [],
    throttled: rates?.throttled() ?? [],
    faults: faults?.facts(),
    liquidity: house?.facts(),
    queue: { waiting: writer.waiting(), max: config.engineQueue },
    contradictions: contradictions(),
    mirror: mirrorFacts(),
  });
  return {
    port: server.port,
    hasPage: appIsOn(config),
    mode: parts.mode,
    writable: unwritable === undefined,
    facts,
    source: writer.source,
    acceptClock: () => clock.accept(),
    operations:
      orders &&
      ledger &&
      openOperations(start, parts, { faults, rates, orders, ledger, liquidity: house, play }),
    over: authority.member?.over,
    close: () => start.close(),
  };
}

/** `undefined` with RATE_LIMITS=off. */
function ratesOf({ options: { config } }: Start): RateControl | undefined {
  if (!config.rateLimits) return undefined;
  return new RateControl(config.rateLimitsOverrides, config, config.rateLimitsMode === 'warn');
}

/** Cancels orders of banned wallets: the previous run may have ended in the middle of a ban. */
async function cancelBanned({ control }: NodeParts, orders?: WalletOrders): Promise<void> {
  await orders?.cancel(control.bans.list().map(({ address }) => address));
}

function contradictionFacts(
  { catalog, sync }: NodeParts,
  source: Pick<BookMirror, 'contradictions'> | undefined,
): ContradictionFacts {
  return {
    catalog: contradictionsOf(catalog.current.contradictions),
    sync: sync?.contradictions() ?? NO_CONTRADICTIONS,
    mirror: source?.contradictions() ?? NO_CONTRADICTIONS,
  };
}

/** Faults that settings allow; `undefined` with FAULTS=off. */
function faultsOf(start: Start, { clock, control, writer }: NodeParts): Faults | undefined {
  const { config, log } = start.options;
  if (config.faults === 'off') return undefined;
  return new Faults({
    venue: control.faults,
    now: clock.wall,
    settle: async (fault) => {
      if (writer.sequencer !== undefined) await settleFills(writer.sequencer, fault);
    },
    log: (line, fields) => log('warn', line, fields),
  });
}

function beginRebates(start: Start, parts: NodeParts, ledger: LedgerCommands): void {
  const { config, log } = start.options;
  const { authority, tables } = parts;
  if (config.rebates !== 'daily' || !ledgerIsOn(tables)) return;
  const daily = new DailyRebates({
    ...rebateParts(parts, ledger),
    leads: () => authority.leads(),
    log,
  });
  start.onClose(() => start.wait('a payment of rebates', daily.close()));
}

function factsOf({
  batchMetrics,
  catalog,
  clockFacts,
  history,
  progress,
  tables,
  writer,
}: NodeParts) {
  return {
    tables,
    pauses: writer.pauses(),
    clock: clockFacts(),
    progress: progress(),
    orders: writer.metrics,
    batches: batchMetrics,
    volumeOf: (market: MarketRow) => history.volumes.totalOf(market),
    catalogSince: catalog.since,
  };
}
