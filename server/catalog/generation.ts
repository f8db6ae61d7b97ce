/**
 * One generation of the catalog, ready to be served: the data that a thread (catalog-thread.ts)
 * prepared, and another thread that searches it (search-thread.ts) and lives as long as the
 * generation.
 *
 * Thread: the I/O thread. Non-goals: noticing new generations, and applying their commands.
 */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import type { EngineMemory } from '../../engine/tables/tables.ts';
import type { Contradiction } from '../../storage/catalog/registered-markets.ts';
import { startThread } from '../../storage/files/thread.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { Figures } from './figures.ts';
import type { ReachedEnd } from './market-registry.ts';
import type { PreparedCatalog } from './prepared.ts';
import type { SearchRows } from './search-index.ts';
import type { CatalogCounts } from './snapshot.ts';

/**
 * The data from which requests are answered. It stays valid for requests that use it, also after
 * close().
 */
export interface Generation {
  /** Its number in the store; 0 = the empty catalog of a store without one. */
  readonly number: number;
  readonly prepared: PreparedCatalog;
  /** They change while this is the current generation. */
  readonly figures: Figures;
  /**
   * All matches, best first; callers share the answer. Undefined when too many searches are
   * waiting. Rejects when the thread has ended.
   */
  search(query: string): Promise<SearchRows> | undefined;
}

/** What lists are made of. */
export type Listed = Pick<Generation, 'prepared' | 'figures'>;

export interface LoadedGeneration extends Generation {
  /** Runs of commands that update the engine to this catalog, to be applied in order. */
  readonly commands: readonly Int32Array[];
  /** Of its objects (CatalogStore.digest); undefined for the empty catalog of a store without one. */
  readonly digest: string | undefined;
  /** Markets that get no book, or not the one that the catalog describes, and why. */
  readonly warnings: readonly string[];
  /** Condition ids of markets of whose resolution this generation does not say what the engine does. */
  readonly unsaid: readonly string[];
  /** Markets whose end has come and of which this generation does not say so. */
  readonly unsaidEnds: readonly ReachedEnd[];
  /** Markets that are not served as they are stored, because the engine has registered them otherwise. */
  readonly contradictions: readonly Contradiction[];
  /** How many markets are stored in another order, or with another neg-risk flag, than they are served. */
  readonly mended: number;
  readonly counts: CatalogCounts;
  /** From the start of the thread until all but search was ready. */
  readonly milliseconds: number;
  /** Waits some time for searches in progress, refuses later ones, and ends the thread. */
  close(): Promise<void>;
  /** Ends the thread at once; searches in progress reject. */
  end(): Promise<void>;
}

export interface GenerationOptions extends CatalogThreadSetup {
  /** The thread died after loading. Called once, and never after close(). */
  readonly onFailure: (error: Error) => void;
  /** Ends the thread while it loads; the promise then rejects. */
  readonly signal?: AbortSignal | undefined;
}

/** The start data of the thread. */
export interface CatalogThreadSetup {
  readonly dataDir: string;
  readonly durability: Durability;
  /**
   * The current generation as the caller read it (undefined: none); that one or a later one is
   * loaded.
   */
  readonly number: number | undefined;
  /** The generation to be loaded where it is not the current one: a proposal. */
  readonly generation?: number | undefined;
  /**
   * The engine's tables, with which the catalog is compared; without them there are no commands.
   */
  readonly memory?: EngineMemory | undefined;
}

/** The start data of the loading thread. */
export interface CatalogThreadData {
  readonly setup: CatalogThreadSetup;
  /** Sends the texts to the search thread. */
  readonly texts: MessagePort;
}

/** The start data of the search thread. */
export type SearchThreadData = Pick<CatalogThreadData, 'texts'>;

/** The single message of the loading thread; its buffers are transferred. */
export type LoadedCatalog = Omit<LoadedGeneration, 'figures' | 'search' | 'close' | 'end'>;

/** Numbered from 0 by the sender. */
export interface SearchQuestion {
  readonly id: number;
  readonly query: string;
}

interface SearchAnswer {
  readonly id: number;
  readonly rows: SearchRows;
}

/** Messages of the search thread: an answer, or once that its modules are loaded. */
export type SearchMessage = SearchAnswer | 'loaded';

/**
 * Answers cached for the pages of a search, and for frequent queries; a few hundred KB at most
 * each.
 */
const ANSWERS_CACHED_MAX = 64;
/**
 * The slowest search takes a tenth of a second, most a thousandth: with so many waiting, the wait
 * is seconds.
 */
const SEARCHES_WAITING_MAX = 64;
/** The longest wait of close() for searches in progress. */
const CLOSE_MS_MAX = 10_000;

/**
 * Starts a thread that loads the current generation. Resolves once all but search is ready
 * (searches wait for it). Rejects when the thread fails.
 */
export async function openGeneration(options: GenerationOptions): Promise<LoadedGeneration> {
  const thread = new CatalogThread(options);
  try {
    const loaded = await thread.loaded;
    return {
      ...loaded,
      figures: new Figures(loaded.prepared),
      search: (query) => thread.search(query),
      close: () => thread.close(),
      end: () => thread.terminate(),
    };
  } catch (error) {
    await thread.close();
    throw error;
  }
}

interface Deferred<Value> {
  resolve(value: Value): void;
  reject(error: Error): void;
}

class CatalogThread {
  readonly loaded: Promise<LoadedCatalog>;
  /**
   * The loading thread is never terminated but awaited, a second or two at most: terminating it
   * during an LMDB read ends the whole process (the package throws where nothing can catch it).
   */
  private readonly loaderEnded: Promise<void>;
  private readonly searcher: Worker;
  /** Terminating a thread while it loads its modules ends the whole process. */
  private readonly searcherLoaded: Promise<void>;
  private readonly onFailure: (error: Error) => void;
  /** Of `loaded`, until it has resolved or rejected. */
  private loading: Deferred<LoadedCatalog> | undefined;
  private readonly pending = new Map<number, Deferred<SearchRows>>();
  /** By query, the most recently used at the end. */
  private readonly answers = new Map<string, Promise<SearchRows>>();
  private nextId = 0;
  /** Why no more searches are possible. */
  private end: Error | undefined;
  private closing: Promise<void> | undefined;
  /** Called once no search is in progress. */
  private onIdle: (() => void) | undefined;

  constructor({ onFailure, signal, ...setup }: GenerationOptions) {
    this.onFailure = onFailure;
    this.loaded = new Promise((resolve, reject) => {
      this.loading = { resolve, reject };
    });
    const { port1, port2 } = new MessageChannel();
    this.loaderEnded = this.runLoader({ setup, texts: port1 });
    this.searcher = this.startSearcher({ texts: port2 });
    this.searcherLoaded = new Promise((resolve) => {
      this.searcher.once('message', () => resolve());
      this.searcher.once('exit', () => resolve());
    });
    const abort = (): void => this.fail(new Error('the catalog was closed while it loaded'));
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    const removeListener = (): void => signal?.removeEventListener('abort', abort);
    this.loaded.then(removeListener, removeListener);
  }

  search(query: string): Promise<SearchRows> | undefined {
    if (this.end !== undefined) return Promise.reject(this.end);
    let answer = this.answers.get(query);
    if (answer === undefined) {
      if (this.pending.size >= SEARCHES_WAITING_MAX) return undefined;
      answer = this.post(query);
      const [oldest] = this.answers.keys();
      if (this.answers.size >= ANSWERS_CACHED_MAX) this.answers.delete(oldest!);
    }
    this.answers.delete(query);
    this.answers.set(query, answer);
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

  private post(query: string): Promise<SearchRows> {
    return new Promise((resolve, reject) => {
      const question: SearchQuestion = { id: this.nextId, query };
      this.nextId += 1;
      this.pending.set(question.id, { resolve, reject });
      this.searcher.postMessage(question);
    });
  }

  /** Resolves when the thread has ended, which it does by itself. */
  private runLoader(data: CatalogThreadData): Promise<void> {
    const worker = startThread(new URL('./catalog-thread', import.meta.url), {
      workerData: data,
      transferList: [data.texts],
      name: 'catalog',
    });
    worker.on('message', (loaded: LoadedCatalog) => {
      this.loading?.resolve(loaded);
      this.loading = undefined;
    });
    worker.on('error', (error: Error) => this.fail(error));
    return new Promise((resolve) => {
      worker.on('exit', () => {
        // The thread ends when it is done.
        if (this.loading !== undefined) this.fail(new Error('the catalog thread has ended'));
        resolve();
      });
    });
  }

  private startSearcher(data: SearchThreadData): Worker {
    const worker = startThread(new URL('./search-thread', import.meta.url), {
      workerData: data,
      transferList: [data.texts],
      name: 'search',
    });
    worker.on('message', (message: SearchMessage) => {
      if (message === 'loaded') return;
      const { id, rows } = message;
      this.pending.get(id)?.resolve(rows);
      this.pending.delete(id);
      this.notifyIdle();
    });
    worker.on('error', (error: Error) => this.fail(error));
    worker.on('exit', () => {
      const ended = new Error('the search thread has ended');
      // If loading fails, the loading thread reports the error: without it the search thread has no
      // texts.
      this.loaded.then(
        () => this.fail(ended),
        () => undefined,
      );
    });
    return worker;
  }

  private fail(error: Error): void {
    const isNews = this.end === undefined && this.loading === undefined;
    this.end ??= error;
    this.loading?.reject(error);
    this.loading = undefined;
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
    this.notifyIdle();
    if (isNews) this.onFailure(error);
  }

  private notifyIdle(): void {
    if (this.pending.size === 0) this.onIdle?.();
  }
}
