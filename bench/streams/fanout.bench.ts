/**
 * `npm run bench -- fanout`: thousands of stream connections and many busy books. This process is the node: real
 * sockets, an engine whose batches count as flushed at once. The clients are another process. Batches are due on a
 * schedule, and a delivery lasts from the due time of its batch to the read, so it includes the timer of this process.
 *
 * Both processes share the processors of the machine, so processor time is stated too. Not measured: the log,
 * signatures, channels of users, a network, memory of the kernel.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openFilesMax } from '../../server/http/limits/open-files.ts';
import { print } from '../common/figures.ts';
import type { FanoutCounts } from './fanout-readers.ts';
import { microseconds } from './microseconds.ts';
import { StreamBooks } from './stream-books.ts';

export interface FanoutShape {
  readonly connections: number;
  readonly books: number;
  readonly framesPerSecond: number;
  readonly seconds: number;
  /** Share of the clients that follow all books, and later stop reading. */
  readonly slowShare: number;
}

export const FANOUT_FULL: FanoutShape = {
  connections: 10_000,
  books: 50,
  framesPerSecond: 100_000,
  seconds: 12,
  slowShare: 0.01,
};

/** Clients that get nothing, fewer where the limit of open files is lower. */
export const IDLE_FULL: Pick<FanoutShape, 'books' | 'connections'> = {
  connections: 20_000,
  books: 50,
};

interface Delivered extends FanoutCounts {
  readonly seconds: number;
  /** Milliseconds of processor time of the node. */
  readonly nodeMs: number;
}

export interface FanoutMeasured {
  /** Bytes of a client under load. */
  readonly clientBytes: number;
  readonly quick: Delivered;
  readonly beside: Delivered;
  readonly slowClosed: number;
}

const SUFFIX = extname(import.meta.filename);
const KB = 1_024;
/** Open files of a process beside its connections. */
const FILES = 300;
const SETTLE_MS = 1_500;
/** Orders until the books are as deep as they become, and batches that tell the frames of one. */
const FILLING_BATCHES = 2_000;
const WARM_BATCHES = 250;
const WARM_PER_SECOND = 100;
/** Lowest setting of STREAM_BACKPRESSURE_BYTES. */
const BACKPRESSURE_BYTES = 2 ** 20;

/** Books with a schedule of batches of one order each, book after book. */
class Node {
  readonly books: StreamBooks;
  private readonly bookCount: number;
  private due = 0;
  private batches = 0;

  constructor(books: number, connections: number) {
    this.bookCount = books;
    this.books = new StreamBooks({
      connections,
      books,
      backpressureBytes: BACKPRESSURE_BYTES,
      now: () => this.due,
    });
  }

  /** @param perSecond batches a second */
  async run(batches: number, perSecond: number): Promise<void> {
    const start = microseconds();
    for (let done = 0; done < batches; ) {
      const dueNow = Math.min(batches, ((microseconds() - start) * perSecond) / 1e6);
      for (; done < dueNow; done++) {
        this.due = Math.round(start + (1e6 * done) / perSecond);
        this.books.batch(1, this.batches++ % this.bookCount);
      }
      await pause(1);
    }
  }
}

class Readers {
  private readonly child: ChildProcess;
  readonly connected: Promise<unknown>;

  constructor(port: number, tokens: readonly string[], plain: number, heavy: number) {
    const file = resolve(import.meta.dirname, `fanout-readers${SUFFIX}`);
    this.child = fork(file, [String(port), tokens.join(','), String(plain), String(heavy)]);
    this.connected = once(this.child, 'message');
  }

  async counts(): Promise<FanoutCounts> {
    this.child.send('counts');
    return ((await once(this.child, 'message')) as [FanoutCounts])[0];
  }

  stopReading(): void {
    this.child.send('stop reading');
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}

/** Memory and processor time of clients that get nothing. Returns the bytes of each. */
export async function fanoutIdleSuite({
  books,
  connections,
}: Pick<FanoutShape, 'books' | 'connections'>): Promise<number> {
  const count = Math.min(connections, openFilesMax() - FILES);
  const node = new Node(books, count);
  const port = await node.books.listen();
  try {
    await node.run(FILLING_BATCHES, Number.POSITIVE_INFINITY);
    const before = rss();
    const readers = new Readers(port, node.books.tokens, count, 0);
    await readers.connected;
    await pause(SETTLE_MS);
    const bytes = (rss() - before) / count;
    printMemory(`${count} idle clients, one book each`, bytes);
    const cpu = process.cpuUsage();
    await pause(SETTLE_MS);
    print('  processor while idle', `${((100 * cpuMs(cpu)) / SETTLE_MS).toFixed(1)} % of one`);
    await readers.end();
    return bytes;
  } finally {
    await node.books.close();
  }
}

export async function fanoutSuite(shape: FanoutShape): Promise<FanoutMeasured> {
  const { books, connections, framesPerSecond, slowShare } = shape;
  const node = new Node(books, connections);
  const port = await node.books.listen();
  try {
    await node.run(FILLING_BATCHES, Number.POSITIVE_INFINITY);
    const bare = rss();
    const heavy = Math.ceil(slowShare * connections);
    const readers = new Readers(port, node.books.tokens, connections - heavy, heavy);
    await readers.connected;
    await node.run(WARM_BATCHES, WARM_PER_SECOND);
    await pause(SETTLE_MS);
    const perBatch = (await readers.counts()).frames / WARM_BATCHES;
    const perSecond = framesPerSecond / perBatch;
    const measure = async (seconds: number): Promise<Delivered> => {
      const before = process.cpuUsage();
      await readers.counts();
      await node.run(Math.ceil(seconds * perSecond), perSecond);
      const nodeMs = cpuMs(before);
      await pause(SETTLE_MS);
      return { ...(await readers.counts()), seconds, nodeMs };
    };
    const quick = await measure(shape.seconds);
    printDelivered(`${connections} clients, ${books} books, all read`, quick);
    const clientBytes = (rss() - bare) / connections;
    printMemory('  memory of a client', clientBytes);
    readers.stopReading();
    const closes = (): number => node.books.streams.facts().closes.get('slow_reader')!;
    const beside = await measure(2 * shape.seconds);
    printDelivered(`${heavy} of them, which follow all books, do not read`, beside);
    print('  closed as slow readers', `${closes()} of ${heavy}`);
    await readers.end();
    return { clientBytes, quick, beside, slowClosed: closes() };
  } finally {
    await node.books.close();
  }
}

/** Bytes of the resident memory of this process. */
function rss(): number {
  return KB * Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { system, user } = process.cpuUsage(since);
  return (system + user) / 1_000;
}

function printMemory(name: string, bytes: number): void {
  print(name, `${(bytes / KB).toFixed(1)} KB each`);
}

function printDelivered(name: string, run: Delivered): void {
  const { bytes, cpuMs: readersMs, frames, max, nodeMs, p50, p99, reads, samples, seconds } = run;
  const us = (ms: number): string => ((1_000 * ms) / frames).toFixed(2);
  const rate = `${(frames / seconds).toFixed(0)} frames/s, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`;
  print(name, rate);
  const delivery = `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, max ${max.toFixed(1)} ms (${samples})`;
  print('  delivery', delivery);
  const perRead = (frames / reads).toFixed(2);
  print(
    '  processor of a frame',
    `node ${us(nodeMs)} us, clients ${us(readersMs)} us; ${perRead} frames a read`,
  );
}
