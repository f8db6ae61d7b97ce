/**
 * Composition of a node: opens its services one after the other, each with the services that it depends on. Each one
 * registers its end with Start, so a stop, or a failure of a start, closes them in the reverse order.
 *
 * Thread: the I/O thread.
 */
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
import { RateControl } from '../http/limits/rate-control.ts';
import { RequestCounts } from '../http/request-counts.ts';
import type { BookMirror } from '../paper/book-mirror.ts';
import { WalletOrders } from '../wallet/wallet-orders.ts';
import { openCatalogParts } from './catalog-parts.ts';
import { startDemoTraders } from './demo-service.ts';
import { type MemoryViews, openViews } from './memory-views.ts';
import type { NodeParts } from './node-parts.ts';
import { openOperations } from './operations.ts';
import { openPort } from './port.ts';
import { openPorts, type Ports } from './ports.ts';
import { type Recovered, recover } from './recovered.ts';
import type { Recovery } from './recovery.ts';
import { modeOf } from './retained-settings.ts';
import type { NodeOptions, RunningNode } from './running-node.ts';
import { OPEN_MS_MAX, Start, StartOver } from './start.ts';
import type { Writer } from './writer.ts';

/** Starts a node on what is recovered; rejects with a clear Error when it must not run. */
export async function assemble(options: NodeOptions, recovery: Recovery): Promise<RunningNode> {
  const start = new Start(options);
  try {
    const ports = await openPorts(start);
    const recovered = await recover(start, ports, recovery);
    await ports.authority.compare(start.options.config, () => recovered.registry.isNew);
    const views = await openViews(start, ports, recovered);
    const writer = await openWriter(start, ports, recovered, views);
    const catalogParts = await openCatalogParts(start, ports, recovered, views, writer);
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
    if (start.isGivenUp) throw new StartOver();
    return await serve(start, parts);
  } catch (error) {
    await start.close();
    throw start.isGivenUp ? new StartOver() : error;
  }
}

/** Opens the writer, and control state for changes. Rejects where the audit of the tables failed. */
async function openWriter(
  start: Start,
  { authority, clock, openWriter, stores, unwritable }: Ports,
  { control, isUsable, sender, sound, tables }: Recovered,
  { committed }: MemoryViews,
): Promise<Writer> {
  const { config, log, signal } = start.options;
  const writer = await openWriter({
    start,
    stores,
    tables,
    sound,
    clock,
    authority,
    separators: separatorsOf(domainsOf(config)),
    banned: control.bans.shared.memory,
    onCommitted: (batch) => committed.notify(batch),
  });
  start.onClose(() => writer.close());
  sender.open(writer.sequencer, (reason) => writer.pauseVenue(reason));
  await start.waitOrStop('the audit of what was recovered', sound, OPEN_MS_MAX);
  signal?.throwIfAborted();
  if (unwritable === undefined) {
    const news = bringUp(stores.kept, stores.log, isUsable);
    if (news !== undefined) log('warn', news);
  }
  return writer;
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
  const { authority, catalog, clock, control, heartbeats, tables, unwritable, writer } = parts;
  const { ledger, sequencer, sequenceLock } = writer;
  const counts = config.adminPort === 0 ? undefined : new RequestCounts();
  const rates = config.rateLimits ? new RateControl(config.rateLimitsOverrides, config) : undefined;
  const orders = sequencer && new WalletOrders({ tables, sequenceLock, sequencer });
  writer.pauseVenue(control.pause?.reason);
  // The node may have ended in the middle of a ban.
  await authority.whenLeading(async () => {
    await orders?.cancel(control.bans.list().map(({ address }) => address));
  });
  // Nobody may trade with price levels that a source had when the node ended.
  if (sourceLevels(tables) > 0)
    await (await import('./book-mirror.ts')).removeOldLevels(start, parts);
  let mirror: BookMirror | undefined;
  const mirrorFacts = () => mirror?.facts();
  const play =
    parts.play && (await (await import('./play.ts')).beginPlay(start, parts, parts.play));
  const contradictions = (): ContradictionFacts => ({
    catalog: contradictionsOf(catalog.current.contradictions),
    sync: parts.sync?.contradictions() ?? NO_CONTRADICTIONS,
    mirror: (mirror ?? play)?.contradictions() ?? NO_CONTRADICTIONS,
  });
  const shown = { rates, counts, contradictions, mirrorFacts, play };
  const { server, streams } = await openPort(start.options, parts, shown);
  start.onClose(() => streams.close());
  start.onClose(() => start.wait('the port to close', server.close()));
  // Before the port closes: a client that cannot send any more must not lose its orders.
  start.onClose(() => heartbeats.stop());
  writer.follow();
  await startDemoTraders(start, parts, server.port);
  play?.start();
  if (config.mirrorUrl !== '')
    mirror = await (await import('./book-mirror.ts')).openMirror(start, parts);
  const facts = (): NodeFacts => ({
    ...factsOf(parts),
    streams: streams.facts(),
    http: server.facts(),
    requests: counts?.rows ?? [],
    throttled: rates?.throttled() ?? [],
    queue: { waiting: writer.waiting(), max: config.engineQueue },
    contradictions: contradictions(),
    mirror: mirrorFacts(),
  });
  return {
    port: server.port,
    mode: parts.mode,
    writable: unwritable === undefined,
    facts,
    source: writer.source,
    acceptClock: () => clock.accept(),
    operations: orders && ledger && openOperations(start, parts, { rates, orders, ledger, play }),
    over: authority.member?.over,
    close: () => start.close(),
  };
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
    orders: writer.meters,
    batches: batchMetrics,
    volumeOf: (market: MarketRow) => history.volumes.totalOf(market),
    catalogSince: catalog.since,
  };
}
