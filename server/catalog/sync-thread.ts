/**
 * The thread that mirrors another catalog API: all its expensive work and all its LMDB writes
 * happen here. It closes its store and ends by itself when it receives `stop`; at `pull` it pulls at once.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { type EngineMemory, Tables } from '../../engine/tables/tables.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { type Contradictions, contradictionsOf } from '../common/contradictions.ts';
import { keepInSync, Mirror, type SyncLog, type SyncWatch } from './sync.ts';
import { SYNC_LIMITS } from './sync-client.ts';

export interface SyncSetup {
  readonly url: string;
  readonly seconds: number;
  readonly dataDir: string;
  readonly durability: Durability;
  /** The engine's tables, which have the registered markets. */
  readonly memory: EngineMemory;
  /** See MirrorOptions. */
  readonly ownConditions: ReadonlySet<string>;
}

/** What the thread is sent: to pull now, or to end. */
export type SyncOrder = 'pull' | 'stop';

/** One line of the log. */
export interface SyncLine {
  readonly level: Parameters<SyncLog>[0];
  readonly line: string;
}

/** What the thread sends: lines of the log, and markets that contradict what is registered. */
export type SyncMessage = SyncLine | { readonly contradictions: Contradictions };

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
const { url, seconds, dataDir, durability, memory, ownConditions } = workerData as SyncSetup;
const stop = new AbortController();
const wake = new EventEmitter();
port.on('message', (order: SyncOrder) => {
  if (order === 'pull') wake.emit('pull');
  else stop.abort();
});

const store = openCatalog(dataDir, { durability });
const tables = new Tables(memory);
const mirror = new Mirror({ url, store, limits: SYNC_LIMITS, tables, ownConditions });
const send = (message: SyncMessage): void => port.postMessage(message);
const log: SyncLog = (level, line) => send({ level, line });
const watch: SyncWatch = (contradictions) =>
  send({ contradictions: contradictionsOf(contradictions) });
try {
  await keepInSync(mirror, url, seconds, log, stop.signal, wake, watch);
} finally {
  await store.close();
  port.close();
}
