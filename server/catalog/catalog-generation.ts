/**
 * One generation of the catalog, ready to be served: the data that a thread (catalog-thread.ts)
 * prepared, and another thread that searches it (search-thread.ts) and lives as long as the
 * generation.
 *
 * Thread: the I/O thread. Non-goals: noticing new generations, and applying their commands.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { EngineMemory } from '../../engine/tables/tables.ts';
import type { Contradiction } from '../../storage/catalog/registered-markets.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { RecentCache } from '../common/recent-cache.ts';
import type { ReachedEnd } from './market-registry.ts';
import { CatalogStatistics } from './market-statistics.ts';
import type { PreparedCatalog } from './prepared.ts';
import type { SearchRows } from './search-index.ts';
import type { CatalogCounts } from './snapshot.ts';
import { type RunningThread, runThread } from './threads.ts';

/** Data from which requests are answered, also after close() for requests that began before it. */
export interface CatalogGeneration {
  /** Number in the store; 0 = the empty catalog of a store without one. */
  readonly number: number;
  readonly prepared: PreparedCatalog;
  readonly statistics: CatalogStatistics;
  /**
   * Matches of a search, at once where they are known; callers share the answer. `undefined` when too
   * many searches wait. Rejects when the thread has ended.
   * @param most number of rows of each kind that are ranked; all by default
   */
  search(query: string, most?: number): SearchRows | Promise<SearchRows> | undefined;
}

export type Listed = Pick<CatalogGeneration, 'prepared' | 'statistics'>;

export interface LoadedCatalogGeneration extends CatalogGeneration {
  /** Runs of commands that update the engine to this catalog, to be applied in order. */
  readonly commands: readonly Int32Array[];
  /** CatalogStore.digest; `undefined` for the empty catalog of a store without one. */
  readonly digest: string | undefined;
  readonly warnings: readonly string[];
  /**
   * Condition ids of markets whose resolution or proposal in the engine this generation does not
   * state.
   */
  readonly unpublished: readonly string[];
  /** Markets whose end has come and that this generation does not state as closed. */
  readonly unpublishedEnds: readonly ReachedEnd[];
  readonly contradictions: readonly Contradiction[];
  /**
   * Markets that are stored in another order, or with another neg-risk flag, than they are served.
   */
  readonly mended: number;
  readonly counts: CatalogCounts;
  /** Time from the start of the thread until all but search was ready. */
  readonly milliseconds: number;
  /** Waits some time for searches in progress, refuses later ones, and ends the thread. */
  close(): Promise<void>;
  end(): Promise<void>;
}

export interface CatalogGenerationOptions extends CatalogThreadSetup {
  /** Called once when the thread dies after loading, and never after close(). */
  readonly onFailure: (error: Error) => void;
  /** Ends the load, which rejects with the reason, an Error. */
  readonly signal?: AbortSignal | undefined;
}

export interface CatalogThreadSetup {
  readonly dataDir: string;
  readonly durability: Durability;
  /**
   * Current generation as the caller read it (`undefined`: none); that one or a later one is
   * loaded.
   */
  readonly number: number | undefined;
  /** Generation to be loaded where it is not the current one: a proposal. */
  readonly generation?: number | undefined;
  readonly memory?: EngineMemory | undefined;
  /** True: taker delays are also those that the catalog states. */
  readonly takesDelays?: boolean | undefined;
  readonly feesFromCatalog?: boolean | undefined;
}

export interface CatalogThreadData {
  readonly setup: CatalogThreadSetup;
  readonly texts: MessagePort;
}

export type SearchThreadData = Pick<CatalogThreadData, 'texts'>;

export type LoadedCatalog = Omit<
  LoadedCatalogGeneration,
  'statistics' | 'search' | 'close' | 'end'
>;

export interface SearchQuestion {
  readonly id: number;
  readonly query: string;
  readonly most: number;
}

/** Messages of the search thread: an answer, or 'loaded' once its modules are. */
export type SearchMessage = { readonly id: number; readonly rows: SearchRows } | 'loaded';

/** Cached answers of a generation. */
const ANSWERS_MAX = 1_000;
/** A larger answer counts for several; one with all events of 50,000 markets has 60 KB. */
const ANSWER_BYTES = 2 ** 15;
/** Most searches take a tenth of a millisecond, the slowest some ten. */
const SEARCHES_WAITING_MAX = 64;
const CLOSE_MS_MAX = 10_000;

/**
 * Starts a thread that loads the current generation. Resolves once all but search is ready
 * (searches wait for it). Rejects when the thread fails.
 */
export async function openCatalogGeneration(
  options: CatalogGenerationOptions,
): Promise<LoadedCatalogGeneration> {
  const thread = new GenerationThreads(options);
  try {
    const loaded = await thread.loaded;
    return {
      ...loaded,
      statistics: new CatalogStatistics(loaded.prepared),
      search: (query, most) => thread.search(query, most),
      close: () => thread.close(),
      end: () => thread.terminate(),
    };
  } catch (error) {
    await thread.close();
    throw error;
  }
}

interface Pending extends Deferred<SearchRows> {
  readonly key: string;
}

interface Deferred<Value> {
  resolve(value: Value): void;
  reject(error: Error): void;
}

class GenerationThreads {
  readonly loaded: Promise<LoadedCatalog>;
  /**
   * Resolves when the loading thread has ended by itself, after a second or two at most: terminating it
   * during an LMDB read ends the whole process (the package throws where nothing can catch it).
   */
  private readonly loaderEnded: Promise<void>;
  private readonly searcher: RunningThread<SearchQuestion>;
  /**
   * Resolves once the thread may be terminated: while it loads its modules, that ends the whole
   * process.
   */
  private readonly searcherLoaded: Promise<void>;
  private readonly onFailure: (error: Error) => void;
  private loading: Deferred<LoadedCatalog> | undefined;
  private readonly pending = new Map<number, Pending>();
  /** Searches in progress and answers, by number of ranked rows and text. */
  private readonly asked = new Map<string, Promise<SearchRows>>();
  private readonly answers = new RecentCache<SearchRows>(ANSWERS_MAX, weightOf);
  private nextId = 0;
  /** Reason for which no more searches are possible. */
  private end: Error | undefined;
  private closing: Promise<void> | undefined;
  private onIdle: (() => void) | undefined;

  constructor({ onFailure, signal, ...setup }: CatalogGenerationOptions) {
    this.onFailure = onFailure;
    this.loaded = new Promise((resolve, reject) => {
      this.loading = { resolve, reject };
    });
    const { port1, port2 } = new MessageChannel();
    this.loaderEnded = this.runLoader({ setup, texts: port1 });
    let onLoaded = (): void => undefined;
    this.searcherLoaded = new Promise((resolve) => {
      onLoaded = resolve;
    });
    this.searcher = runThread(
      'search',
      { texts: port2 } satisfies SearchThreadData,
      (message: SearchMessage) => {
        if (message === 'loaded') onLoaded();
        else this.answered(message.id, message.rows);
      },
      [port2],
    );
    void this.searcher.ended.then((error) => {
      onLoaded();
      if (error !== undefined) return this.fail(error);
      // If loading fails, the loading thread reports the error: without it the search thread has no
      // texts.
      this.loaded.then(
        () => this.fail(new Error('the search thread has ended')),
        () => undefined,
      );
    });
    const abort = (): void => this.fail(signal!.reason as Error);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    const removeListener = (): void => signal?.removeEventListener('abort', abort);
    this.loaded.then(removeListener, removeListener);
  }

  search(
    query: string,
    most = Number.POSITIVE_INFINITY,
  ): SearchRows | Promise<SearchRows> | undefined {
    if (this.end !== undefined) return Promise.reject(this.end);
    const key = `${most} ${query}`;
    const known = this.answers.get(key) ?? this.asked.get(key);
    if (known !== undefined) return known;
    if (this.pending.size >= SEARCHES_WAITING_MAX) return undefined;
    const answer = this.post(key, query, most);
    this.asked.set(key, answer);
    return answer;
  }

  close(): Promise<void> {
    this.end ??= new Error('the catalog generation is closed');
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    const timer = setTimeout(() => this.onIdle?.(), CLOSE_MS_MAX);
    await new Promise<void>((resolve) => {
      this.onIdle = resolve;
      this.notifyIdle();
    });
    clearTimeout(timer);
    await this.terminate();
  }

  async terminate(): Promise<void> {
    this.end ??= new Error('the catalog generation is closed');
    this.fail(this.end);
    const searcherEnded = this.searcherLoaded.then(() => this.searcher.terminate());
    await Promise.all([this.loaderEnded, searcherEnded]);
  }

  private post(key: string, query: string, most: number): Promise<SearchRows> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.pending.set(id, { key, resolve, reject });
      this.searcher.post({ id, query, most });
    });
  }

  private answered(id: number, rows: SearchRows): void {
    const pending = this.pending.get(id);
    if (pending !== undefined) {
      this.answers.set(pending.key, rows);
      this.asked.delete(pending.key);
      pending.resolve(rows);
    }
    this.pending.delete(id);
    this.notifyIdle();
  }

  private async runLoader(data: CatalogThreadData): Promise<void> {
    const onMessage = (loaded: LoadedCatalog): void => {
      this.loading?.resolve(loaded);
      this.loading = undefined;
    };
    const error = await runThread('catalog', data, onMessage, [data.texts]).ended;
    // The thread ends when it is done.
    if (error !== undefined) this.fail(error);
    else if (this.loading !== undefined) this.fail(new Error('the catalog thread has ended'));
  }

  private fail(error: Error): void {
    const isNews = this.end === undefined && this.loading === undefined;
    this.end ??= error;
    this.loading?.reject(error);
    this.loading = undefined;
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
    this.asked.clear();
    this.notifyIdle();
    if (isNews) this.onFailure(error);
  }

  private notifyIdle(): void {
    if (this.pending.size === 0) this.onIdle?.();
  }
}

function weightOf(key: string, { events, tags }: SearchRows): number {
  return Math.max(1, (2 * key.length + events.byteLength + tags.byteLength) / ANSWER_BYTES);
}
