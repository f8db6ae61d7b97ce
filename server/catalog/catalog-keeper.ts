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
import type { Durability } from '../../storage/kv/lmdb.ts';
import { noteCommand } from '../../storage/notes/notes.ts';
import { applyCommands } from '../orders/own-commands.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import type { FiguresKeeper } from './figures-keeper.ts';
import { type Generation, type LoadedGeneration, openGeneration } from './generation.ts';
import { type MarketInfos, marketInfoLookup } from './market-info.ts';

export interface CatalogKeeperOptions {
  readonly store: CatalogStore;
  readonly dataDir: string;
  readonly durability: Durability;
  /** The engine whose markets are updated; undefined while the data directory cannot be written. */
  readonly engine: { readonly memory: EngineMemory; readonly sequencer: Sequencer } | undefined;
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

/** A generation, and whether its thread has died, so that it must be loaded again. */
interface Watched {
  readonly generation: LoadedGeneration;
  readonly life: { hasDied: boolean };
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
    const first = await load(options, options.signal);
    try {
      options.signal?.throwIfAborted();
      await applyMarkets(options, first.generation, extend(first.generation));
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

  /** Condition ids of markets that have resolved and of which it does not say so. */
  get unsaid(): readonly string[] {
    return this.used.generation.unsaid;
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
    try {
      const number = this.o.store.current();
      const isNew = number !== undefined && number !== this.used.generation.number;
      if (!isNew && !this.used.life.hasDied && !this.isUnregistered) return;
      // An error of another generation means nothing for this one.
      if (number !== this.tried) this.retryMs = RETRY_MS_FIRST;
      else if (isResting) return;
      this.tried = number;
    } catch (error) {
      if (!isResting) this.fail('the catalog cannot be read', error);
      return;
    }
    this.switching = this.follow().finally(() => {
      this.switching = undefined;
    });
  }

  private async follow(): Promise<void> {
    const before = this.used;
    // A thread that dies repeatedly is restarted with growing delays.
    if (before.life.hasDied) this.retryLater();
    let next: Watched;
    try {
      next = await load(this.o, this.closing.signal);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      this.fail('a new catalog cannot be loaded, the old one stays in use', error);
      return;
    }
    this.isUnregistered = false;
    try {
      await applyMarkets(this.o, next.generation, next.generation.commands);
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

async function load(options: CatalogKeeperOptions, signal?: AbortSignal): Promise<Watched> {
  const { store, dataDir, durability, engine, log } = options;
  const life = { hasDied: false };
  const generation = await openGeneration({
    dataDir,
    durability,
    number: store.current(),
    signal,
    ...(engine === undefined ? {} : { memory: engine.memory }),
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
  { engine, leads, log, onFatal, recorded }: CatalogKeeperOptions,
  { digest }: LoadedGeneration,
  chunks: readonly Int32Array[],
): Promise<void> {
  if (engine === undefined || !leads()) return;
  const isRecorded = digest === undefined || digest === recorded();
  const note = isRecorded ? [] : noteCommand({ about: 'catalog', digest });
  const last = Int32Array.from([...(chunks.at(-1) ?? []), ...note]);
  let withoutRoom = 0;
  for (const chunk of last.length === 0 ? [] : [...chunks.slice(0, -1), last]) {
    for (const reason of await applyCommands(engine.sequencer, chunk)) {
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
