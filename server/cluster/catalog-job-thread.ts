/**
 * The thread of one change of the catalog's store, for a node of a cluster. It gets content from another node by a
 * connection of its own, so that nothing of it passes the I/O thread: what arrives while it writes stays with the
 * sender. It ends by itself, early where it receives `stop`.
 */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import { snapshotOf } from '../catalog/snapshot.ts';
import { PeerCall } from './peers/calls.ts';
import { type PeerAddress, PeerConnection } from './peers/peer-connection.ts';
import type { PeerSecrets } from './peers/secure.ts';
import { whileAlive } from './while-alive.ts';

export interface FetchJob {
  readonly kind: 'fetch';
  readonly digest: string;
  readonly peer: PeerAddress;
  readonly secrets: PeerSecrets;
  readonly node: string;
}

export type CatalogJob =
  | FetchJob
  | { readonly kind: 'adopt'; readonly generation: number }
  | { readonly kind: 'refuse'; readonly generation: number; readonly why: string };

export interface CatalogJobSetup {
  readonly dataDir: string;
  readonly durability: Durability;
  readonly job: CatalogJob;
}

/** Reason of the failure; `undefined` after success. */
export type CatalogJobResult = string | undefined;

const FETCH_MS_MAX = 600_000;

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
const { dataDir, durability, job } = workerData as CatalogJobSetup;
const stop = new AbortController();
port.once('message', () => stop.abort(new Error('stopped')));

async function run(store: CatalogStore): Promise<void> {
  if (job.kind === 'adopt') await store.adopt(job.generation);
  else if (job.kind === 'refuse') await store.refuse(job.generation, job.why);
  else await fetchFrom(store, job);
}

async function fetchFrom(store: CatalogStore, { digest, node, peer, secrets }: FetchJob) {
  const connection = new PeerConnection(peer, secrets, node);
  try {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(FETCH_MS_MAX)]);
    const content = connection.stream(PeerCall.catalogContent, Buffer.from(digest));
    await store.receive(whileAlive(content, signal), digest, snapshotOf);
  } finally {
    connection.close();
  }
}

const store = openCatalog(dataDir, { durability });
let result: CatalogJobResult;
try {
  await run(store);
} catch (error) {
  result = error instanceof Error ? error.message : String(error);
} finally {
  await store.close();
}
port.postMessage(result);
port.close();
