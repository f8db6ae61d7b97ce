/**
 * The parts of an order's path by themselves, in a process of their own: a bare HTTP answer, the
 * recovery of a signer, a durable write, a batch to a worker and back; and the work of a worker that
 * does nothing but what cannot be left out.
 *
 * Thread: the child's only one, and one worker.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { orderDigest } from '../../server/auth/eip712.ts';
import { recoverAddress } from '../../server/auth/secp256k1.ts';
import { type OrderItem, parseOrder, parseOrders } from '../../server/orders/worker/order-parse.ts';
import { openPool, type WorkerPool } from '../../server/orders/worker/pool.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { type BareCase, listenBare, makeReady } from '../common/bare.ts';
import { answerQuestions } from '../common/child.ts';
import { monotonicMs } from '../measure/pacer.ts';
import type { Span } from './tail.ts';

/** The bodies of orders that are all signed under one domain. */
export interface Bodies {
  /** 32 bytes in hex. */
  readonly separator: string;
  readonly texts: readonly string[];
}

export interface PartTimes {
  /** Milliseconds. */
  readonly recover: number;
  readonly write: number;
  readonly handOver: number;
}

export interface Floors {
  /** Orders a second. */
  readonly hashAndRecover: number;
  readonly parseAndHash: number;
}

const RECORD_BYTES = 400;
const BATCH_MAX = 1_000;
/** Between the writes of writeUntilStopped(): few enough to leave the disk to the node. */
const WRITE_PAUSE_MS = 10;

const digest = new Uint8Array(32);
const address = new Uint8Array(20);
let domain: Uint8Array;
let items: readonly OrderItem[] = [];
let log: FileLog;
let pool: WorkerPool;
let isWriting = false;
let writes: Span[] = [];
let writing: Promise<void> | undefined;

/** Opens what the parts need; the port of the bare handler. */
async function open(dataDir: string): Promise<number> {
  log = await FileLog.open({
    dataDir,
    durability: 'flushed',
    segmentBytes: 2 ** 24,
    log: () => undefined,
  });
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  pool = openPool({
    file: new URL(`./path-worker.${extension}`, import.meta.url),
    workers: 1,
    setup: undefined,
    report: (error) => {
      throw error;
    },
  });
  await handOver();
  return listenBare();
}

/** Takes the orders that parts() measures. */
function prepare({ separator, texts }: Bodies): void {
  domain = Buffer.from(separator, 'hex');
  items = texts.flatMap(itemsOf);
}

/** Each part once, for one order, in the order in which a node does them. */
async function parts(index: number): Promise<PartTimes> {
  const item = items[index]!;
  orderDigest(domain, item, digest, 0);
  const began = performance.now();
  if (!recoverAddress(digest, item.signature!, address, 0)) throw new Error('no signature');
  const recover = performance.now() - began;
  return { recover, handOver: await timed(handOver), write: await timed(write) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  await turn();
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function write(): Promise<void> {
  const sequence = log.last + 1;
  const payload = Buffer.alloc(RECORD_BYTES, 7);
  await log.append([{ sequence, time: 1, after: sequence | 0, payload }], log.last);
}

/** Bare durable writes at even distances until stopWrites(). */
async function writeUntilStopped(): Promise<void> {
  while (isWriting) {
    const begin = monotonicMs();
    await write();
    writes.push({ begin, end: monotonicMs() });
    await sleep(WRITE_PAUSE_MS);
  }
}

function startWrites(): void {
  isWriting = true;
  writes = [];
  writing = writeUntilStopped();
}

async function stopWrites(): Promise<readonly Span[]> {
  isWriting = false;
  await writing;
  return writes;
}

function handOver(): Promise<void> {
  return new Promise((resolve, reject) => pool.run(0, () => resolve(), reject));
}

/** Rates of one thread that does only the work that no worker can avoid. */
function floors(all: Bodies): Floors {
  prepare(all);
  const bodies = all.texts.map((text) => Buffer.from(text));
  const hashAndRecover = perSecond(items.length, () => {
    for (const item of items) {
      orderDigest(domain, item, digest, 0);
      recoverAddress(digest, item.signature!, address, 0);
    }
  });
  const parseAndHash = perSecond(items.length, () => {
    for (const body of bodies) {
      for (const item of itemsOf(body)) orderDigest(domain, item, digest, 0);
    }
  });
  return { hashAndRecover, parseAndHash };
}

function perSecond(count: number, work: () => void): number {
  const began = performance.now();
  work();
  return (1000 * count) / (performance.now() - began);
}

function itemsOf(body: string | Uint8Array): readonly OrderItem[] {
  const bytes = Buffer.from(body);
  const isList = bytes[0] === '['.charCodeAt(0);
  const parsed = isList ? parseOrders(bytes, BATCH_MAX) : parseOrder(bytes);
  if (!parsed.ok) throw new Error(parsed.detail);
  return parsed.items;
}

answerQuestions({
  open,
  prepare,
  parts,
  floors,
  startWrites,
  stopWrites,
  ready: ({ port, wanted }: { port: number; wanted: BareCase }) => makeReady(port, wanted),
});
