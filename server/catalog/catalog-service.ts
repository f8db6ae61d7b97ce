/**
 * Follows the catalog: notices a new generation, lets a thread prepare it, updates the engine's
 * markets and the live statistics, and only then serves answers from it. A request is answered from
 * the generation with which it began.
 *
 * Thread: the I/O thread, where no work here grows with the size of the catalog.
 */
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import type { EngineMemory } from '../../engine/tables/tables.ts';
import type { CatalogStore } from '../../storage/catalog/catalog.ts';
import type { Proposal } from '../../storage/catalog/catalog-state.ts';
import { controlRecordCommand } from '../../storage/control-records/control-records.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { backOffMs } from '../common/back-off.ts';
import { applyCommands } from '../orders/intake/internal-commands.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import { type LoadedCatalogGeneration, openCatalogGeneration } from './catalog-generation.ts';
import { type MarketInfos, marketInfoLookup } from './market-info.ts';
import type { StatisticsService } from './statistics-service.ts';

/** Cluster of the node: the generation in use is the one that the log names, on all nodes. */
export interface CatalogCluster {
  /** Resolves once a majority has the content of a proposal; rejects with an Error that names who lacks it. */
  spread(proposal: Proposal, signal: AbortSignal): Promise<void>;
  /** Has a generation brought here from any node that has it; called again and again until it is here. */
  fetch(digest: string): void;
  adopt(generation: number): Promise<void>;
  refuse(generation: number, why: string): Promise<void>;
  otherLeader(): string | undefined;
}

export interface CatalogServiceOptions {
  readonly store: CatalogStore;
  readonly cluster?: CatalogCluster | undefined;
  readonly dataDir: string;
  readonly durability: Durability;
  /** True: taker delays are also those that the catalog states. */
  readonly takesDelays?: boolean | undefined;
  readonly memory: EngineMemory;
  /** See RegistryRules; false unless given. */
  readonly feesFromCatalog?: boolean;
  /** Runs the commands of a generation; `undefined` while the data directory cannot be written. */
  readonly sequencer: Sequencer | undefined;
  /** Digest of the generation in use according to the log; `undefined` where it names none. */
  readonly recorded: () => string | undefined;
  readonly infos: MarketInfos;
  readonly statistics: StatisticsService;
  readonly onSwitch?: (next: LoadedCatalogGeneration) => void;
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void;
  /** False: another node of a cluster registers the markets. */
  readonly leads: () => boolean;
  /** Called when the engine rejects a command, which only a bug can cause. */
  readonly onFatal: (error: Error) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Interval of reading the current number; the documented delay is a second. */
const POLL_MS = 250;
const RETRY_MS_FIRST = 1_000;
const RETRY_MS_MAX = 60_000;
const NOT_HERE =
  'the generation in use is not here, and no node has given it: start one that has it, or import with --force';

/** The first generation, which is loaded and not in use yet. */
export interface LoadedFirst {
  /** Updates the engine to the generation, which ends where that fails. */
  takeUp(): Promise<CatalogService>;
  end(): Promise<void>;
}

interface Watched {
  readonly generation: LoadedCatalogGeneration;
  readonly life: { hasDied: boolean };
}

interface CatalogDigests {
  readonly served: string | undefined;
  readonly missing: string | undefined;
}

interface Step {
  readonly generation: number | undefined;
  run(): Promise<void>;
}

export class CatalogService {
  private readonly options: CatalogServiceOptions;
  private used: Watched;
  private usedSince = Date.now();
  private switching: Promise<void> | undefined;
  private failures = 0;
  private retryAt = 0;
  private tried: number | undefined;
  /** True when another node led while the generation in use was loaded. */
  private isUnregistered = false;
  private lacking: string | undefined;
  private readonly retired = new Set<LoadedCatalogGeneration>();
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;

  private constructor(options: CatalogServiceOptions, first: Watched) {
    this.options = options;
    this.used = first;
    this.timer = setInterval(() => this.checkStore(), POLL_MS);
  }

  /**
   * Loads the current generation.
   * @param extend may add commands of its own to those that the generation needs
   */
  static async load(
    options: CatalogServiceOptions,
    extend: (first: LoadedCatalogGeneration) => readonly Int32Array[] = ({ commands }) => commands,
  ): Promise<LoadedFirst> {
    const proposal = await spreadFirst(options);
    const first = await load(options, options.signal, proposal);
    return {
      async takeUp() {
        await takeUp(options, first, extend(first.generation), proposal, options.signal);
        return new CatalogService(options, first);
      },
      end: () => first.generation.end(),
    };
  }

  get current(): LoadedCatalogGeneration {
    return this.used.generation;
  }

  digests(): CatalogDigests {
    return { served: this.used.generation.digest, missing: this.lacking };
  }

  /** Unix milliseconds since which it is served. */
  get since(): number {
    return this.usedSince;
  }

  /**
   * Ends the threads and their searches; all callers have been answered by then. A load is aborted,
   * changes of markets are completed.
   */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.options.statistics.close();
    this.closing.abort();
    await this.switching;
    await Promise.all([this.used.generation, ...this.retired].map((each) => each.end()));
  }

  /** Registers the markets of the generation in use: this node leads from now on. */
  async register(): Promise<void> {
    await this.switching;
    this.isUnregistered = true;
    this.checkStore();
  }

  private checkStore(): void {
    if (this.switching !== undefined) return;
    const isResting = performance.now() < this.retryAt;
    let step: Step | undefined;
    try {
      step = this.nextStep();
    } catch (error) {
      if (!isResting) this.fail('the catalog cannot be read', error);
      return;
    }
    if (step === undefined) return;
    // An error of another generation means nothing for this one.
    if (step.generation !== this.tried) this.failures = 0;
    else if (isResting) return;
    this.tried = step.generation;
    this.switching = step.run().finally(() => {
      this.switching = undefined;
    });
  }

  private nextStep(): Step | undefined {
    const { cluster, store } = this.options;
    const first = cluster && this.clusterStep(cluster);
    if (first !== undefined) return first;
    const generation = store.current();
    const isNew = generation !== undefined && generation !== this.used.generation.number;
    if (!isNew && !this.used.life.hasDied && !this.isUnregistered) return undefined;
    return { generation, run: () => this.follow() };
  }

  private clusterStep(cluster: CatalogCluster): Step | undefined {
    const { leads, recorded, store } = this.options;
    const digest = recorded();
    const current = store.current();
    const proposal = store.proposal();
    const isInUse = digest === undefined || digest === store.digest();
    const there = isInUse ? undefined : store.find(digest);
    this.lacking = isInUse || there !== undefined ? undefined : digest;
    const adopt = (generation: number): Step => ({
      generation,
      run: () => this.attempt('cannot come into use', cluster.adopt(generation)),
    });
    if (there !== undefined) return adopt(there);
    if (this.lacking !== undefined) cluster.fetch(this.lacking);
    if (proposal === undefined) return undefined;
    const { generation } = proposal;
    // It was in use before, and has been recorded since.
    if (generation === current && isInUse && digest !== undefined) return adopt(generation);
    const why = this.refusalOf(proposal, cluster);
    if (why !== undefined) return { generation, run: () => this.refuse(cluster, generation, why) };
    return leads() ? { generation, run: () => this.propose(cluster, proposal) } : undefined;
  }

  private refusalOf({ replacesAny }: Proposal, cluster: CatalogCluster): string | undefined {
    if (this.options.leads()) {
      return this.lacking === undefined || replacesAny ? undefined : NOT_HERE;
    }
    const leader = cluster.otherLeader();
    return leader && `this node does not lead its cluster: the catalog changes at ${leader}`;
  }

  private refuse(cluster: CatalogCluster, generation: number, why: string): Promise<void> {
    this.options.log('warn', `catalog generation ${generation} does not come into use: ${why}`);
    return this.attempt('cannot be refused', cluster.refuse(generation, why));
  }

  private async attempt(what: string, change: Promise<void>): Promise<void> {
    try {
      await change;
    } catch (error) {
      this.fail(`a new catalog ${what}`, error);
    }
  }

  private async propose(cluster: CatalogCluster, proposal: Proposal): Promise<void> {
    const { signal } = this.closing;
    const { generation } = proposal;
    try {
      await cluster.spread(proposal, signal);
    } catch (error) {
      if (!signal.aborted) await this.refuse(cluster, generation, (error as Error).message);
      return;
    }
    // Another node may lead by now.
    if (this.options.leads()) await this.follow(generation);
  }

  /** @param proposed a generation that comes into use by this; undefined = the current one */
  private async follow(proposed?: number): Promise<void> {
    const { cluster } = this.options;
    const before = this.used;
    // A thread that dies repeatedly is restarted with growing delays.
    if (before.life.hasDied) this.retryLater();
    let next: Watched;
    try {
      next = await load(this.options, this.closing.signal, proposed);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      if (cluster !== undefined && proposed !== undefined) {
        await this.refuse(cluster, proposed, (error as Error).message);
      } else this.fail('a new catalog cannot be loaded, the old one stays in use', error);
      return;
    }
    this.isUnregistered = false;
    try {
      await takeUp(this.options, next, next.generation.commands, proposed);
    } catch (error) {
      this.fail('the markets cannot be brought up to the new catalog', error);
      return;
    }
    this.used = next;
    this.usedSince = Date.now();
    this.options.onSwitch?.(next.generation);
    // Not awaited: the next generation does not wait for the searches of the last one.
    this.retired.add(before.generation);
    void before.generation.close().then(() => this.retired.delete(before.generation));
  }

  private fail(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.options.log('error', `${what}: ${reason.replace(/\s+/g, ' ')}`);
    this.retryLater();
  }

  private retryLater(): void {
    this.failures += 1;
    const retryMs = backOffMs(this.failures, RETRY_MS_FIRST, RETRY_MS_MAX);
    this.retryAt = performance.now() + retryMs;
  }
}

/**
 * Returns the number of a proposal that comes into use at the start: a first catalog, or the demo.
 */
async function spreadFirst(options: CatalogServiceOptions): Promise<number | undefined> {
  const { cluster, leads, log, signal = new AbortController().signal, store } = options;
  const proposal = cluster !== undefined && leads() ? store.proposal() : undefined;
  if (proposal === undefined || proposal.digest === options.recorded()) return undefined;
  const { generation } = proposal;
  try {
    await cluster!.spread(proposal, signal);
    return generation;
  } catch (error) {
    signal.throwIfAborted();
    const why = (error as Error).message;
    log('warn', `catalog generation ${generation} does not come into use: ${why}`);
    await cluster!.refuse(generation, why);
    return undefined;
  }
}

async function load(
  options: CatalogServiceOptions,
  signal?: AbortSignal,
  proposed?: number,
): Promise<Watched> {
  const { store, dataDir, durability, feesFromCatalog, log, memory, takesDelays } = options;
  const life = { hasDied: false };
  const generation = await openCatalogGeneration({
    dataDir,
    durability,
    number: proposed === undefined ? store.current() : undefined,
    generation: proposed,
    signal,
    memory,
    takesDelays,
    feesFromCatalog,
    onFailure: (error) => {
      life.hasDied = true;
      log('error', `the catalog's thread died: ${error.message}`);
    },
  });
  for (const line of generation.warnings) log('warn', line);
  const { milliseconds, counts } = generation;
  const { events, markets, books, tags, series, sites } = counts;
  log(
    'info',
    `catalog generation ${generation.number}: ${events} events, ${markets} markets (${books} with ` +
      `books), ${tags} tags, ${series} series, ${sites} sites; loaded in ${milliseconds | 0} ms`,
  );
  return { generation, life };
}

/** Updates engine, statistics and look-ups to a loaded generation, which ends where that fails. */
async function takeUp(
  options: CatalogServiceOptions,
  { generation }: Watched,
  commands: readonly Int32Array[],
  proposed: number | undefined,
  signal?: AbortSignal,
): Promise<void> {
  try {
    signal?.throwIfAborted();
    await applyMarkets(options, generation, commands, proposed);
    if (proposed !== undefined) await options.cluster?.adopt(proposed);
    await options.statistics.follow(generation);
  } catch (error) {
    await generation.end();
    throw error;
  }
  options.infos.replace(marketInfoLookup(generation.prepared));
}

/**
 * Applies the commands batch by batch; the last one records the generation in the log, if the log
 * does not name it yet. Markets for which a table has no room are skipped.
 */
async function applyMarkets(
  { cluster, leads, log, onFatal, recorded, sequencer }: CatalogServiceOptions,
  { digest }: LoadedCatalogGeneration,
  chunks: readonly Int32Array[],
  proposed: number | undefined,
): Promise<void> {
  const isRecorded = digest === undefined || digest === recorded();
  if (cluster !== undefined) {
    if (proposed !== undefined && !leads()) throw new Error('another node leads');
    // What the log does not name says nothing about the markets.
    if (proposed === undefined && !isRecorded) return;
  }
  if (sequencer === undefined || !leads()) return;
  const record = isRecorded ? [] : controlRecordCommand({ about: 'catalog', digest });
  const last = Int32Array.from([...(chunks.at(-1) ?? []), ...record]);
  let withoutRoom = 0;
  for (const chunk of last.length === 0 ? [] : [...chunks.slice(0, -1), last]) {
    for (const reason of await applyCommands(sequencer, chunk)) {
      if (reason === RejectReason.tableFull) withoutRoom += 1;
      else if (reason !== RejectReason.accepted) {
        onFatal(new Error(`a command of the node's own was refused by rule ${reason}`));
      }
    }
  }
  if (withoutRoom > 0) {
    log(
      'error',
      `no room for ${withoutRoom} markets of the catalog, which cannot be traded or changed: ` +
        'MARKETS_MAX, TOKENS_MAX or LEVELS_MAX must grow',
    );
  }
}
