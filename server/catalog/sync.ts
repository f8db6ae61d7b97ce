/**
 * Catalog sync: pulls another catalog API, compares it with the stored catalog, and writes a new
 * generation only if something changed. A failed pull changes nothing.
 *
 * Thread: the sync thread, or the sync command. Non-goals: serving the new generation, which the node
 * notices like an import.
 */
import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Tables } from '../../engine/tables/tables.ts';
import type { CatalogStore } from '../../storage/catalog/catalog.ts';
import { catalogChanges } from '../../storage/catalog/catalog-changes.ts';
import {
  type Catalog,
  type CatalogReport,
  describeReport,
  type JsonObject,
  readCatalog,
} from '../../storage/catalog/catalog-file.ts';
import { keepOperatorObjects } from '../../storage/catalog/operator-objects.ts';
import {
  type Contradiction,
  describeContradictions,
} from '../../storage/catalog/registered-markets.ts';
import { backOffMs } from '../common/back-off.ts';
import { alignedCatalog, alignedFile } from './aligned.ts';
import { replaceCatalog } from './snapshot.ts';
import type { SyncLimits } from './sync-client.ts';
import { type PulledFile, pullCatalog } from './sync-pull.ts';

export type SyncResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'replaced'; readonly generation: number; readonly report: CatalogReport }
  | { readonly kind: 'failed'; readonly reason: string };

export type SyncLog = (level: 'debug' | 'info' | 'warn', line: string) => void;

export interface CatalogSyncOptions {
  readonly url: string;
  readonly store: CatalogStore;
  readonly limits: SyncLimits;
  readonly tables?: Tables | undefined;
  readonly ownConditions: ReadonlySet<string>;
  /** True: removes as many markets as the source no longer has. */
  readonly isForced?: boolean;
}

export interface SyncRun {
  readonly seconds: number;
  readonly log: SyncLog;
  readonly signal: AbortSignal;
  /** Its event 'pull' begins a pull at once, or one more after the pull that runs. */
  readonly wake?: EventEmitter;
  /** Called when other markets than before contradict what is registered. */
  readonly onContradictions?: (contradictions: readonly Contradiction[]) => void;
}

/**
 * The longest time between two tries of a failing source, unless the configured interval is longer.
 */
const BACKOFF_SECONDS_MAX = 900;
const NAMED_MAX = 20;

export function backoffSeconds(seconds: number, failures: number): number {
  const secondsMax = Math.max(seconds, BACKOFF_SECONDS_MAX);
  return backOffMs(failures, 1000 * seconds, 1000 * secondsMax) / 1000;
}

export class CatalogSync {
  contradictions: readonly Contradiction[] = [];
  private readonly options: CatalogSyncOptions;
  /** ETag of the source when its catalog was last equal to a stored generation. */
  private known: { readonly number: number | undefined; readonly etag: string } | undefined;

  constructor(options: CatalogSyncOptions) {
    this.options = options;
  }

  async pull(signal: AbortSignal): Promise<SyncResult> {
    const { limits, store, tables, url } = this.options;
    // After an import the source must be compared again, whether or not it has changed.
    const knownEtag = this.known?.number === store.current() ? this.known?.etag : undefined;
    const pull = await pullCatalog({ url, limits, signal, knownEtag });
    if (pull.kind !== 'pulled') return pull;

    let number = store.current();
    const before = store.load();
    const stored = alignedCatalog(before, tables).catalog;
    const { contradictions, json } = alignedFile(pull.file, tables, stored);
    this.contradictions = contradictions;
    const pulled = readCatalog({ ...(json as PulledFile), sites: before.sites });
    if (!pulled.ok) return failed(pulled.error);
    if (pulled.catalog.events.length === 0) {
      if (before.events.length > 0) return failed('it has no events at all, which is hardly meant');
      // An empty first generation would stop all markets of the node.
      if (number === undefined) return { kind: 'unchanged' };
    }
    const merged = keepOperatorObjects(stored, pulled);
    if (!merged.ok) return failed(merged.error);
    const { catalog, report } = merged;
    if (signal.aborted) return failed('stopped');
    const isSame = number !== undefined && hasSameObjects(before, catalog);
    if (!isSame) {
      const refusal = this.refusalOf(stored, catalog);
      if (refusal !== undefined) return failed(refusal);
      try {
        number = await replaceCatalog(store, catalog, number ?? 0);
      } catch (error) {
        return failed(`cannot write: ${(error as Error).message}`);
      }
    }
    this.known = pull.etag === undefined ? undefined : { number, etag: pull.etag };
    return isSame || number === undefined
      ? { kind: 'unchanged' }
      : { kind: 'replaced', generation: number, report };
  }

  async run({ log, onContradictions, seconds, signal, wake }: SyncRun): Promise<void> {
    const from = `catalog sync from ${this.options.url}`;
    let known: readonly Contradiction[] = [];
    let failures = 0;
    let isWanted = false;
    let rest = new AbortController();
    wake?.on('pull', () => {
      isWanted = true;
      rest.abort();
    });
    signal.addEventListener('abort', () => rest.abort());
    while (!signal.aborted) {
      isWanted = false;
      const result = await this.pull(signal);
      if (signal.aborted) return;
      failures = result.kind === 'failed' ? failures + 1 : 0;
      const wait = failures === 0 ? seconds : backoffSeconds(seconds, failures);
      if (result.kind === 'failed') {
        const next = `the catalog stays, next try in ${wait} s`;
        log('warn', `${from} failed (${failures} in a row): ${result.reason}; ${next}`);
      } else if (result.kind === 'unchanged') log('debug', `${from}: nothing changed`);
      else {
        const contents = describeReport(result.report).join('; ');
        log('info', `${from}: generation ${result.generation}: ${contents}`);
      }
      if (!isDeepStrictEqual(this.contradictions, known)) {
        known = this.contradictions;
        for (const line of describeContradictions(known.slice(0, NAMED_MAX))) {
          log('warn', `${from}: ${line}: it stays as it is`);
        }
        onContradictions?.(known);
      }
      if (isWanted && failures === 0) continue;
      rest = new AbortController();
      await sleep(wait * 1000, undefined, { signal: rest.signal }).catch(() => undefined);
    }
  }

  /** Reason for which an operator has to confirm this catalog; the bound is that of an import. */
  private refusalOf(stored: Catalog, catalog: Catalog): string | undefined {
    const { isForced, ownConditions, url } = this.options;
    if (isForced === true) return undefined;
    const { refusal } = catalogChanges(stored, catalog, ownConditions);
    return refusal && `${refusal}: \`catalog sync ${url} --force\` removes them`;
  }
}

function failed(reason: string): SyncResult {
  return { kind: 'failed', reason };
}

/** Compares the stored form of everything that a source serves: all but the sites. */
function hasSameObjects(before: Catalog, after: Catalog): boolean {
  return (['events', 'tags', 'series'] as const).every((kind) => {
    const [one, other] = [before[kind], after[kind]];
    const isSame = (object: JsonObject, at: number): boolean =>
      JSON.stringify(object) === JSON.stringify(other[at]);
    return one.length === other.length && one.every(isSame);
  });
}
