/**
 * The thread of a catalog sync, which does all its expensive work and all its LMDB writes. After `stop`
 * it closes its store and ends by itself.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { type EngineMemory, Tables } from '../../engine/tables/tables.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { type Contradictions, contradictionsOf } from '../common/contradictions.ts';
import { CatalogSync, type SyncLog } from './sync.ts';
import { SYNC_LIMITS } from './sync-client.ts';

export interface SyncSetup {
  readonly url: string;
  readonly seconds: number;
  readonly dataDir: string;
  readonly durability: Durability;
  readonly memory: EngineMemory;
  readonly ownConditions: ReadonlySet<string>;
}

export type SyncOrder = 'pull' | 'stop';

export type SyncMessage =
  | { readonly level: Parameters<SyncLog>[0]; readonly line: string }
  | { readonly contradictions: Contradictions };

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
const { memory, seconds, dataDir, durability, ...options } = workerData as SyncSetup;
const stop = new AbortController();
const wake = new EventEmitter();
port.on('message', (order: SyncOrder) => {
  if (order === 'pull') wake.emit('pull');
  else stop.abort();
});

const store = openCatalog(dataDir, { durability });
const tables = new Tables(memory);
const catalogSync = new CatalogSync({ ...options, store, limits: SYNC_LIMITS, tables });
const send = (message: SyncMessage): void => port.postMessage(message);
try {
  await catalogSync.run({
    seconds,
    signal: stop.signal,
    wake,
    log: (level, line) => send({ level, line }),
    onContradictions: (all) => send({ contradictions: contradictionsOf(all) }),
  });
} finally {
  await store.close();
  port.close();
}
