/**
 * The child process that the size part of the catalog suite measures: it loads one generation as a
 * node does, and reports the time and the memory.
 *
 * Thread: the child's main one, as the I/O thread. Non-goals: serving.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { allocateEngine } from '../../engine/tables/tables.ts';
import { openCatalogGeneration } from '../../server/catalog/catalog-generation.ts';
import { buffersOf } from '../../server/catalog/prepared.ts';
import { buildSearchIndex, type SearchIndex } from '../../server/catalog/search-index.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { answerQuestions } from '../common/child.ts';

export interface LoadRequest {
  readonly dataDir: string;
  readonly markets: number;
}

export interface LoadMeasured {
  /** From the call, thread start included. */
  readonly preparedMs: number;
  readonly searchMs: number;
  /** Processor time of all threads until search was ready, collections and compiling included. */
  readonly cpuMs: number;
  /** Bytes of the fragments, and of everything that is handed over. */
  readonly fragmentBytes: number;
  readonly preparedBytes: number;
  readonly commands: number;
  /** Anonymous memory of the process before, and after search is ready; without pages of files. */
  readonly anonBytesBefore: number;
  readonly anonBytesAfter: number;
  /** The highest memory use, pages of files included. */
  readonly peakBytes: number;
}

/** Rows besides those of markets; loading does not touch them. */
const OTHER_ROWS = 65_536;
const LEVELS_EACH = 1_100;

async function load({ dataDir, markets }: LoadRequest): Promise<LoadMeasured> {
  const capacities = {
    markets: markets + 1,
    tokens: 2 * markets + 2,
    accounts: OTHER_ROWS,
    orders: OTHER_ROWS,
    levels: LEVELS_EACH * OTHER_ROWS,
    trades: OTHER_ROWS,
    history: OTHER_ROWS,
    positions: 0,
    operatorIds: 0,
  };
  const memory = allocateEngine(capacities);
  const anonBytesBefore = statusBytes('RssAnon');
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  const generation = await openCatalogGeneration({
    dataDir,
    durability: 'committed',
    number: undefined,
    memory,
    onFailure: (error) => {
      throw error;
    },
  });
  const preparedMs = performance.now() - began;
  await generation.search('ready');
  const searchMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpuBefore);
  const { prepared, commands } = generation;
  assert.equal(prepared.markets.ids.length, markets, 'every market was loaded');
  const measured = {
    preparedMs,
    searchMs,
    cpuMs: (user + system) / 1_000,
    fragmentBytes: prepared.bytes.byteLength,
    preparedBytes: buffersOf(prepared).reduce((sum, { byteLength }) => sum + byteLength, 0),
    commands: commands.reduce((sum, { length }) => sum + length, 0),
    anonBytesBefore,
    anonBytesAfter: statusBytes('RssAnon'),
    peakBytes: statusBytes('VmHWM'),
  };
  await generation.close();
  return measured;
}

/** The heap of the search index. It is built here, where a garbage collection can be forced. */
async function searchHeapBytes(dataDir: string): Promise<number> {
  assert(globalThis.gc !== undefined, 'runs with --expose-gc');
  const before = heapBytes();
  const index = await storedIndex(dataDir);
  // A turn later, nothing of the catalog is on the stack any more.
  await pause(1);
  const after = heapBytes();
  assert(index.search('ready').events.length >= 0, 'the index is still held');
  return after - before;
}

async function storedIndex(dataDir: string): Promise<SearchIndex> {
  const store = openCatalog(dataDir, { durability: 'committed', readOnly: true });
  const index = buildSearchIndex(store.load());
  await store.close();
  return index;
}

function heapBytes(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function statusBytes(field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(
    readFileSync('/proc/self/status', 'utf8'),
  );
  assert(line !== null, 'the system tells its memory figures');
  return 1024 * Number(line[1]);
}

answerQuestions({ load, heap: searchHeapBytes });
