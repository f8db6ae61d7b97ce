/** A catalog sync and its faulty source, over real sockets and real LMDB. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CatalogSync, type SyncResult } from '../../server/catalog/sync.ts';
import { SYNC_LIMITS, type SyncLimits } from '../../server/catalog/sync-client.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { FakeSource, type Fault, type SourceFile, sourceFile } from './catalog-source.ts';

export const FOR_EVER = new AbortController().signal;

export interface Stage {
  readonly source: FakeSource;
  readonly store: CatalogStore;
  readonly catalogSync: CatalogSync;
  sync(): Promise<SyncResult>;
  fails(reason: RegExp, limits?: Partial<SyncLimits>): Promise<void>;
}

function temporary(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'catalog-sync-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

export async function stage(
  t: TestContext,
  file: SourceFile = sourceFile(5),
  dataDir: string = temporary(t),
): Promise<Stage> {
  const store = openCatalog(dataDir, { durability: 'committed' });
  t.after(() => store.close());
  const source = await FakeSource.start(t, file);
  const { url } = source;
  const ordinary = { ...SYNC_LIMITS, retryMs: 1, tries: 3 };
  const ownConditions = new Set<string>();
  const catalogSync = new CatalogSync({ url, store, limits: ordinary, ownConditions });
  const sync = () => catalogSync.pull(FOR_EVER);
  const fails = async (reason: RegExp, limits?: Partial<SyncLimits>): Promise<void> => {
    const before = [store.current(), store.load()];
    const strict = new CatalogSync({
      url,
      store,
      limits: { ...ordinary, ...limits },
      ownConditions,
    });
    const result = await (limits === undefined ? catalogSync : strict).pull(FOR_EVER);
    assert.equal(result.kind, 'failed');
    assert.match(result.kind === 'failed' ? result.reason : '', reason);
    assert.deepEqual([store.current(), store.load()], before);
  };
  return { source, store, catalogSync, sync, fails };
}

/** A stage whose store has a catalog, and whose source has another one. */
export async function stored(t: TestContext, dataDir?: string): Promise<Stage> {
  const stand = await stage(t, sourceFile(12), dataDir);
  assert.equal((await stand.sync()).kind, 'replaced');
  stand.source.file = sourceFile(12, 'second');
  return stand;
}

export function isLookup(path: string): boolean {
  return path.startsWith('/events/');
}

export function atFirst(
  times: number,
  matches: (path: string) => boolean,
  answer: (response: ServerResponse) => void,
): Fault {
  let left = times;
  return (path, response) => {
    if (left === 0 || !matches(path)) return false;
    left--;
    answer(response);
    return true;
  };
}

export function titles(store: CatalogStore): unknown[] {
  return store.load().events.map(({ title }) => title);
}

/** Titles in stored form: a half of a surrogate pair is no character. */
export function titlesOf(file: SourceFile): unknown[] {
  return file.events.map(({ title }) => String(title).replace('\ud800', '\ufffd'));
}
