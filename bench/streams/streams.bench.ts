/**
 * `npm run bench -- streams`: what it costs to tell many subscribers of one busy book, against none.
 * Processor time of the process that applies and tells, by its own account; the subscribers are
 * another process. Rounds with and without them take turns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, resolve } from 'node:path';
import { setImmediate as nextIteration, setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StreamBooks } from './stream-books.ts';

export interface StreamsShape {
  readonly subscribers: number;
  readonly rounds: number;
  readonly batches: number;
  /** Orders of a batch. */
  readonly orders: number;
}

export const STREAMS_FULL: StreamsShape = {
  subscribers: 1_000,
  rounds: 3,
  batches: 200,
  orders: 5,
};

/** Cost of one batch. */
interface Cost {
  cpuMs: number;
  wallMs: number;
}

interface Counted {
  readonly frames: number;
  readonly bytes: number;
}

export interface StreamsMeasured {
  readonly without: Cost;
  readonly with: Cost;
  readonly frames: number;
}

const SUFFIX = extname(fileURLToPath(import.meta.url));
const POLL_MS = 10;

export async function streamsSuite(shape: StreamsShape): Promise<StreamsMeasured> {
  const { batches, orders, rounds, subscribers } = shape;
  const book = new StreamBooks({ connections: subscribers, books: 1 });
  const port = await book.listen();
  const without: Cost = { cpuMs: 0, wallMs: 0 };
  const costs: Cost = { cpuMs: 0, wallMs: 0 };
  let counted: Counted = { frames: 0, bytes: 0 };
  try {
    for (let warm = 0; warm < batches; warm++) book.batch(orders);
    for (let round = 0; round < rounds; round++) {
      add(without, await run(book, shape, () => Promise.resolve()));
      const readers = new Readers(port, book.tokens[0]!, subscribers);
      await readers.counted;
      const before = await readers.ask();
      add(costs, await run(book, shape, () => readers.settled()));
      const after = await readers.ask();
      counted = {
        frames: counted.frames + after.frames - before.frames,
        bytes: counted.bytes + after.bytes - before.bytes,
      };
      await readers.stop();
    }
  } finally {
    await book.close();
  }
  const sent = rounds * batches;
  for (const cost of [without, costs]) {
    cost.cpuMs /= sent;
    cost.wallMs /= sent;
  }
  const line = (name: string, cost: Cost): string =>
    `${name.padEnd(24)} ${cost.cpuMs.toFixed(3).padStart(9)} ms of processor, ` +
    `${cost.wallMs.toFixed(3).padStart(9)} ms a batch of ${orders} orders\n`;
  const perFrame = ((costs.cpuMs - without.cpuMs) * 1_000 * sent) / counted.frames;
  process.stdout.write(
    line('no subscriber', without) +
      line(`${subscribers} subscribers`, costs) +
      `${counted.frames} frames, ${(counted.bytes / 1e6).toFixed(1)} MB: ` +
      `${perFrame.toFixed(2)} us of processor a frame\n`,
  );
  return { without, with: costs, frames: counted.frames };
}

function add(sum: Cost, cost: Cost): void {
  sum.cpuMs += cost.cpuMs;
  sum.wallMs += cost.wallMs;
}

/** A round of batches; all frames have arrived at its end. */
async function run(
  book: StreamBooks,
  { batches, orders }: StreamsShape,
  settled: () => Promise<void>,
): Promise<Cost> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let i = 0; i < batches; i++) {
    book.batch(orders);
    // The server writes when the turn is over.
    await nextIteration();
  }
  const { system, user } = process.cpuUsage(cpu);
  await settled();
  return { cpuMs: (system + user) / 1_000, wallMs: performance.now() - start };
}

class Readers {
  /** Everybody is connected. */
  readonly counted: Promise<unknown>;
  private readonly child: ChildProcess;

  constructor(port: number, token: string, count: number) {
    const file = resolve(import.meta.dirname, `stream-readers${SUFFIX}`);
    this.child = fork(file, [String(port), token, String(count)]);
    this.counted = once(this.child, 'message');
  }

  async ask(): Promise<Counted> {
    this.child.send('count');
    const [counted] = (await once(this.child, 'message')) as [Counted];
    return counted;
  }

  /** Resolves when no more frames come. */
  async settled(): Promise<void> {
    for (let before = -1; ; ) {
      const { frames } = await this.ask();
      if (frames === before) return;
      before = frames;
      await pause(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}
