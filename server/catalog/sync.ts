/**
 * Mirrors another catalog API: pulls, compares the result with the stored catalog, and writes a new
 * generation only if something changed. A failed pull changes nothing.
 *
 * Thread: the sync thread, or the sync command; nothing here runs on the I/O thread. Non-goals:
 * serving the new generation; the node notices it like an import.
 */
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Tables } from '../../engine/tables/tables.ts';
import type { CatalogStore } from '../../storage/catalog/catalog.ts';
import { catalogChanges } from '../../storage/catalog/catalog-changes.ts';
import {
  type Catalog,
  type CatalogReport,
  readCatalog,
} from '../../storage/catalog/catalog-file.ts';
import { describeReport } from '../../storage/catalog/catalog-report.ts';
import { KINDS } from '../../storage/catalog/catalog-rows.ts';
import { keepOperatorObjects } from '../../storage/catalog/operator-objects.ts';
import {
  alignFile,
  type Contradiction,
  describeContradictions,
} from '../../storage/catalog/registered-markets.ts';
import { registeredMarkets } from '../market-data/registered.ts';
import { alignedCatalog } from './aligned.ts';
import { replaceCatalog } from './snapshot.ts';
import type { SyncLimits } from './sync-client.ts';
import { type PulledFile, pullCatalog } from './sync-pull.ts';

export type SyncResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'replaced'; readonly generation: number; readonly report: CatalogReport }
  | { readonly kind: 'failed'; readonly reason: string };

export type SyncLog = (level: 'debug' | 'info' | 'warn', line: string) => void;

/** Told of the markets that contradict what is registered, whenever that are others than before. */
export type SyncWatch = (contradictions: readonly Contradiction[]) => void;

export interface MirrorOptions {
  readonly url: string;
  readonly store: CatalogStore;
  readonly limits: SyncLimits;
  /** Of the engine, which has the registered markets; undefined = there is none yet. */
  readonly tables?: Tables | undefined;
  /** Condition ids of the demo, which a pull may remove without a confirmation. */
  readonly ownConditions: ReadonlySet<string>;
  /** Removes as many markets as the source no longer has. */
  readonly isForced?: boolean;
}

/** What a pull needs to know of the current generation. */
interface Stored {
  readonly number: number | undefined;
  /** The digest of everything that a source serves: all but the sites. */
  readonly digest: string;
  readonly hasEvents: boolean;
  readonly sites: readonly unknown[];
}

/**
 * The longest time between two tries of a failing source, unless the configured interval is longer.
 */
const BACKOFF_SECONDS_MAX = 900;
/** Markets that a log names after one pull. */
const NAMED_MAX = 20;

/** Seconds until the next try after so many failures in a row. */
export function backoffSeconds(seconds: number, failures: number): number {
  return Math.min(seconds * 2 ** (failures - 1), Math.max(seconds, BACKOFF_SECONDS_MAX));
}

export class Mirror {
  private readonly o: MirrorOptions;
  private stored: Stored | undefined;
  /** The ETag of the source when its catalog was last equal to a stored generation. */
  private mirrored: { readonly number: number | undefined; readonly etag: string } | undefined;
  /** Markets of the source that contradict what is registered, as of the newest pull. */
  contradictions: readonly Contradiction[] = [];

  constructor(options: MirrorOptions) {
    this.o = options;
  }

  /** One pull. Rejects only because of a bug; `signal` ends it early. */
  async sync(signal: AbortSignal): Promise<SyncResult> {
    const { mirrored } = this;
    const { url, limits, store } = this.o;
    // After an import the source must be compared again, whether or not it has changed.
    const knownEtag = mirrored?.number === store.current() ? mirrored?.etag : undefined;
    const pull = await pullCatalog({ url, limits, signal, knownEtag });
    if (pull.kind !== 'pulled') return pull;

    const before = this.readStored();
    const stored = alignedCatalog(store.load(), this.o.tables).catalog;
    const pulled = readCatalog({ ...this.aligned(pull.file, stored), sites: before.sites });
    if (!pulled.ok) return { kind: 'failed', reason: pulled.error };
    if (pulled.catalog.events.length === 0 && before.hasEvents) {
      return { kind: 'failed', reason: 'it has no events at all, which is hardly meant' };
    }
    // An empty catalog must not become the first generation: a node would then stop all its
    // markets.
    if (pulled.catalog.events.length === 0 && before.number === undefined) {
      return { kind: 'unchanged' };
    }
    const kept = keepOperatorObjects(stored, pulled);
    if (!kept.ok) return { kind: 'failed', reason: kept.error };
    const { catalog, report } = kept;
    if (signal.aborted) return { kind: 'failed', reason: 'stopped' };
    const digest = digestOf(catalog);
    const isSame = before.number !== undefined && digest === before.digest;
    let number = before.number;
    if (!isSame) {
      const refusal = this.refusalOf(stored, catalog);
      if (refusal !== undefined) return { kind: 'failed', reason: refusal };
      try {
        number = await replaceCatalog(store, catalog, number ?? 0);
      } catch (error) {
        return { kind: 'failed', reason: `cannot write: ${(error as Error).message}` };
      }
    }
    this.mirrored = pull.etag === undefined ? undefined : { number, etag: pull.etag };
    return isSame || number === undefined
      ? { kind: 'unchanged' }
      : { kind: 'replaced', generation: number, report };
  }

  /** With its markets as they are registered; those that contradict stay as they are stored. */
  private aligned(file: PulledFile, stored: Catalog): object {
    const { tables } = this.o;
    if (tables === undefined) return file;
    const { contradictions, json } = alignFile(file, registeredMarkets(tables), stored);
    this.contradictions = contradictions;
    return json as object;
  }

  /** Why an operator has to confirm this catalog; the same bound as that of an import. */
  private refusalOf(stored: Catalog, catalog: Catalog): string | undefined {
    const { isForced, ownConditions, url } = this.o;
    if (isForced === true) return undefined;
    const { refusal } = catalogChanges(stored, catalog, ownConditions);
    return refusal === undefined
      ? undefined
      : `${refusal}: \`catalog sync ${url} --force\` removes them`;
  }

  /** Reads the current generation. It is read once, because a generation never changes. */
  private readStored(): Stored {
    for (;;) {
      const number = this.o.store.current();
      if (this.stored !== undefined && this.stored.number === number) return this.stored;
      const stored = this.read(number);
      // Another process may have switched between the two reads.
      if (this.o.store.current() === number) this.stored = stored;
    }
  }

  private read(number: number | undefined): Stored {
    const hash = createHash('sha256');
    const sites: unknown[] = [];
    let hasEvents = false;
    for (const { kind, json } of this.o.store.objects()) {
      if (kind === 'sites') sites.push(JSON.parse(json.toString()));
      else hash.update(`${kind} ${json.length}\n`).update(json);
      hasEvents ||= kind === 'events';
    }
    return { number, digest: hash.digest('hex'), hasEvents, sites };
  }
}

/**
 * As `Mirror.read` computes it, from the objects in the form in which the store would have them.
 */
function digestOf(catalog: Catalog): string {
  const hash = createHash('sha256');
  for (const kind of KINDS) {
    if (kind === 'sites') continue;
    for (const object of catalog[kind]) {
      const json = Buffer.from(JSON.stringify(object));
      hash.update(`${kind} ${json.length}\n`).update(json);
    }
  }
  return hash.digest('hex');
}

/**
 * Pulls every `seconds`, less often while pulls fail, and at each 'pull' of `wake`, until the signal ends it.
 */
export async function keepInSync(
  mirror: Mirror,
  url: string,
  seconds: number,
  log: SyncLog,
  signal: AbortSignal,
  wake = new EventEmitter(),
  watch: SyncWatch = () => undefined,
): Promise<void> {
  let known: readonly Contradiction[] = [];
  let failures = 0;
  let isWanted = false;
  let rest = new AbortController();
  wake.on('pull', () => {
    isWanted = true;
    rest.abort();
  });
  signal.addEventListener('abort', () => rest.abort());
  while (!signal.aborted) {
    isWanted = false;
    const result = await mirror.sync(signal);
    if (signal.aborted) return;
    failures = result.kind === 'failed' ? failures + 1 : 0;
    const wait = failures === 0 ? seconds : backoffSeconds(seconds, failures);
    tell(result, { url, failures, wait }, log);
    if (!isDeepStrictEqual(mirror.contradictions, known)) {
      known = mirror.contradictions;
      for (const line of describeContradictions(known.slice(0, NAMED_MAX))) {
        log('warn', `catalog sync from ${url}: ${line}: it stays as it is`);
      }
      watch(known);
    }
    if (isWanted && failures === 0) continue;
    rest = new AbortController();
    await sleep(wait * 1000, undefined, { signal: rest.signal }).catch(() => undefined);
  }
}

function tell(
  result: SyncResult,
  {
    failures,
    url,
    wait,
  }: { readonly url: string; readonly failures: number; readonly wait: number },
  log: SyncLog,
): void {
  if (result.kind === 'failed') {
    const next = `the catalog stays, next try in ${wait} s`;
    log(
      'warn',
      `catalog sync from ${url} failed (${failures} in a row): ${result.reason}; ${next}`,
    );
  } else if (result.kind === 'unchanged') {
    log('debug', `catalog sync from ${url}: nothing changed`);
  } else {
    const contents = describeReport(result.report).join('; ');
    log('info', `catalog sync from ${url}: generation ${result.generation}: ${contents}`);
  }
}
