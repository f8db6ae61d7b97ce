/**
 * Follows the catalog: notices a new generation, lets a thread prepare it, updates the engine's
 * markets and the live figures, and only then serves answers from it. A request is answered from
 * the generation with which it began.
 *
 * Thread: the I/O thread, where no work here grows with the size of the catalog.
 */
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import type { EngineMemory } from '../../engine/tables/tables.ts';
import type { CatalogStore } from '../../storage/catalog/catalog.ts';
import type { Proposal } from '../../storage/catalog/catalog-state.ts';
import type { Contradiction } from '../../storage/catalog/registered-markets.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { noteCommand } from '../../storage/notes/notes.ts';
import { applyCommands } from '../orders/own-commands.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import type { FiguresKeeper } from './figures-keeper.ts';
import { type Generation, type LoadedGeneration, openGeneration } from './generation.ts';
import { type MarketInfos, marketInfoLookup } from './market-info.ts';
import type { ReachedEnd } from './market-registry.ts';

/** What a cluster adds: the generation in use is the one that the log names, on all nodes. */
export interface CatalogCluster {
  /** Resolves once a majority has the content of a proposal; rejects with an Error that names who lacks it. */
  spread(proposal: Proposal, signal: AbortSignal): Promise<void>;
  /** Has a generation brought here from any node that has it; called again and again until it is here. */
  fetch(digest: string): void;
  adopt(generation: number): Promise<void>;
  refuse(generation: number, why: string): Promise<void>;
  /** The node that leads, where that is another one. */
  otherLeader(): string | undefined;
}

export interface CatalogKeeperOptions {
  readonly store: CatalogStore;
  /** Undefined without CLUSTER. */
  readonly cluster?: CatalogCluster | undefined;
  readonly dataDir: string;
  readonly durability: Durability;
  /** The engine's tables, with which a generation is compared. */
  readonly memory: EngineMemory;
  /** Runs the commands that it needs; undefined while the data directory cannot be written. */
  readonly sequencer: Sequencer | undefined;
  /** Digest of the generation that is in use, as the log says; undefined = it says nothing. */
  readonly recorded: () => string | undefined;
  readonly infos: MarketInfos;
  readonly figures: FiguresKeeper;
  /** Called when answers come from another generation. */
  readonly onSwitch?: (next: LoadedGeneration) => void;
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void;
  /** False: another node of a cluster registers the markets. */
  readonly leads: () => boolean;
  /** Called when the engine rejects a command, which only a bug can cause. */
  readonly onFatal: (error: Error) => void;
  /** Aborts opening. */
  readonly signal?: AbortSignal | undefined;
}

/** How often the number of the current generation is read; the documented delay is a second. */
const POLL_MS = 250;
/** After this time a generation that could not be loaded, or whose thread died, is tried again. */
const RETRY_MS_FIRST = 1_000;
const RETRY_MS_MAX = 60_000;
const NOT_HERE =
  'the generation in use is not here, and no node has given it: start one that has it, or import with --force';

/** A generation, and whether its thread has died, so that it must be loaded again. */
interface Watched {
  readonly generation: LoadedGeneration;
  readonly life: { hasDied: boolean };
}

interface CatalogDigests {
  readonly served: string | undefined;
  readonly missing: string | undefined;
}

/** What is to be done about a generation of the store. */
interface Step {
  readonly generation: number | undefined;
  run(): Promise<void>;
}

export class CatalogKeeper {
  private readonly o: CatalogKeeperOptions;
  private used: Watched;
  /** Unix milliseconds. */
  private usedSince = Date.now();
  private switching: Promise<void> | undefined;
  private retryMs = RETRY_MS_FIRST;
  private retryAt = 0;
  /** The number of the generation that was tried last. */
  private tried: number | undefined;
  /** Whether another node led when the generation in use was loaded. */
  private isUnregistered = false;
  private lacking: string | undefined;
  /** Replaced generations that still answer searches in progress. */
  private readonly retired = new Set<LoadedGeneration>();
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;

  private constructor(options: CatalogKeeperOptions, first: Watched) {
    this.o = options;
    this.used = first;
    this.timer = setInterval(() => this.checkStore(), POLL_MS);
  }

  /**
   * Loads the current generation and updates the engine.
   * @param extend may add commands of its own to those that the generation needs
   */
  static async open(
    options: CatalogKeeperOptions,
    extend: (first: LoadedGeneration) => readonly Int32Array[] = ({ commands }) => commands,
  ): Promise<CatalogKeeper> {
    const proposal = await spreadFirst(options);
    const first = await load(options, options.signal, proposal);
    try {
      options.signal?.throwIfAborted();
      await applyMarkets(options, first.generation, extend(first.generation), proposal);
      if (proposal !== undefined) await options.cluster?.adopt(proposal);
      await options.figures.follow(first.generation);
    } catch (error) {
      await first.generation.end();
      throw error;
    }
    options.infos.replace(marketInfoLookup(first.generation.prepared));
    return new CatalogKeeper(options, first);
  }

  /** The generation from which answers are made. */
  get current(): Generation {
    return this.used.generation;
  }

  /** Condition ids of markets of whose resolution it does not say what the engine does. */
  get unsaid(): readonly string[] {
    return this.used.generation.unsaid;
  }

  /** Markets whose end has come and of which it does not say so. */
  get unsaidEnds(): readonly ReachedEnd[] {
    return this.used.generation.unsaidEnds;
  }

  /** How many markets it stores in another way than it serves them. */
  get mended(): number {
    return this.used.generation.mended;
  }

  /** Markets that it does not serve as they are stored. */
  get contradictions(): readonly Contradiction[] {
    return this.used.generation.contradictions;
  }

  /** Of the generation that is served, and of the one that the log names where this node does not have that. */
  digests(): CatalogDigests {
    return { served: this.used.generation.digest, missing: this.lacking };
  }

  /** Since when (unix milliseconds) it is served. */
  get since(): number {
    return this.usedSince;
  }

  /**
   * Ends the threads, and with them the searches: at this time all callers have been answered or
   * have disconnected. A load in progress is aborted; changes of markets in progress are completed.
   */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.o.figures.close();
    this.closing.abort();
    await this.switching;
    await Promise.all([this.used.generation, ...this.retired].map((each) => each.end()));
  }

  /** This node leads from now on: it registers the markets that the generation in use has. */
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
    if (step.generation !== this.tried) this.retryMs = RETRY_MS_FIRST;
    else if (isResting) return;
    this.tried = step.generation;
    this.switching = step.run().finally(() => {
      this.switching = undefined;
    });
  }

  private nextStep(): Step | undefined {
    const { cluster, store } = this.o;
    const first = cluster && this.clusterStep(cluster);
    if (first !== undefined) return first;
    const generation = store.current();
    const isNew = generation !== undefined && generation !== this.used.generation.number;
    if (!isNew && !this.used.life.hasDied && !this.isUnregistered) return undefined;
    return { generation, run: () => this.follow() };
  }

  /** First the store has to have in use what the log names; then what was made here may come into use. */
  private clusterStep(cluster: CatalogCluster): Step | undefined {
    const { leads, recorded, store } = this.o;
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
    if (this.o.leads()) {
      return this.lacking === undefined || replacesAny ? undefined : NOT_HERE;
    }
    const leader = cluster.otherLeader();
    return leader && `this node does not lead its cluster: the catalog changes at ${leader}`;
  }

  /** The generation in use stays. */
  private refuse(cluster: CatalogCluster, generation: number, why: string): Promise<void> {
    this.o.log('warn', `catalog generation ${generation} does not come into use: ${why}`);
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
    if (this.o.leads()) await this.follow(generation);
  }

  /** @param proposed a generation that comes into use by this; undefined = the current one */
  private async follow(proposed?: number): Promise<void> {
    const { cluster } = this.o;
    const before = this.used;
    // A thread that dies repeatedly is restarted with growing delays.
    if (before.life.hasDied) this.retryLater();
    let next: Watched;
    try {
      next = await load(this.o, this.closing.signal, proposed);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      if (cluster !== undefined && proposed !== undefined) {
        await this.refuse(cluster, proposed, (error as Error).message);
      } else this.fail('a new catalog cannot be loaded, the old one stays in use', error);
      return;
    }
    this.isUnregistered = false;
    try {
      await applyMarkets(this.o, next.generation, next.generation.commands, proposed);
      if (proposed !== undefined) await cluster?.adopt(proposed);
    } catch (error) {
      await next.generation.end();
      this.fail('the markets cannot be brought up to the new catalog', error);
      return;
    }
    await this.o.figures.follow(next.generation);
    this.used = next;
    this.usedSince = Date.now();
    this.o.infos.replace(marketInfoLookup(next.generation.prepared));
    this.o.onSwitch?.(next.generation);
    // Not awaited: the next generation does not wait for the searches of the last one.
    this.retired.add(before.generation);
    void before.generation.close().then(() => this.retired.delete(before.generation));
  }

  private fail(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.o.log('error', `${what}: ${reason.replace(/\s+/g, ' ')}`);
    this.retryLater();
  }

  private retryLater(): void {
    this.retryAt = performance.now() + this.retryMs;
    this.retryMs = Math.min(2 * this.retryMs, RETRY_MS_MAX);
  }
}

/** The number of a proposal that comes into use at the start: what a first start has, or the demo. */
async function spreadFirst(o: CatalogKeeperOptions): Promise<number | undefined> {
  const { cluster, leads, log, signal = new AbortController().signal, store } = o;
  const proposal = cluster !== undefined && leads() ? store.proposal() : undefined;
  if (proposal === undefined || proposal.digest === o.recorded()) return undefined;
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
  options: CatalogKeeperOptions,
  signal?: AbortSignal,
  proposed?: number,
): Promise<Watched> {
  const { store, dataDir, durability, log, memory } = options;
  const life = { hasDied: false };
  const generation = await openGeneration({
    dataDir,
    durability,
    number: proposed === undefined ? store.current() : undefined,
    generation: proposed,
    signal,
    memory,
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

/**
 * Applies the commands batch by batch; the last one says that the generation is in use now, where the log does not
 * say so already. Markets for which a table has no room are skipped.
 */
async function applyMarkets(
  { cluster, leads, log, onFatal, recorded, sequencer }: CatalogKeeperOptions,
  { digest }: LoadedGeneration,
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
  const note = isRecorded ? [] : noteCommand({ about: 'catalog', digest });
  const last = Int32Array.from([...(chunks.at(-1) ?? []), ...note]);
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
