/**
 * Clients of the fan-out benchmark, in a process of their own. Raw sockets share one buffer, frames are counted by their
 * heads, and every few frames the time in one is read.
 *
 * Arguments: port, tokens separated by commas, clients of one book each, clients of all books. Messages of the parent:
 * `counts` answers the counts since the last one, `stop reading` and `read on` concern the clients of all books.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { percentile } from '../common/figures.ts';
import { FrameCounter, HANDSHAKE, subscription } from './frame-counter.ts';
import { microseconds } from './microseconds.ts';

export interface FanoutCounts {
  readonly frames: number;
  readonly bytes: number;
  /** Receives of all sockets. */
  readonly reads: number;
  readonly samples: number;
  /** Milliseconds from the due time of a batch to the read. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Connections that have ended since the start. */
  readonly ended: number;
  /** Milliseconds of processor time of this process. */
  readonly cpuMs: number;
}

/** Clients of one loopback address: each has fewer ports. */
const PER_ADDRESS = 5_000;
const SAMPLE_EACH = 11;
const BUFFER_BYTES = 256 * 1024;
const AT_ONCE = 32;

const [port, tokenList, plain, heavy] = process.argv.slice(2);
const tokens = tokenList!.split(',');
const shared = Buffer.alloc(BUFFER_BYTES);
const ofAllBooks: Socket[] = [];
let samples: number[] = [];
let frames = 0;
let bytes = 0;
let reads = 0;
let ended = 0;
let cpu = process.cpuUsage();

/** Tail of the frames that end with the time: `"server_ts_ms":"<digits>"}`. */
const QUOTE = 0x22;
const BRACE = 0x7d;
const DIGITS_MAX = 20;

function frameEnded(chunk: Buffer, end: number): void {
  frames += 1;
  if (frames % SAMPLE_EACH !== 0 || end < 2 * DIGITS_MAX) return;
  if (chunk[end - 1] !== BRACE || chunk[end - 2] !== QUOTE) return;
  const from = chunk.lastIndexOf(QUOTE, end - 3) + 1;
  if (end - 2 - from > DIGITS_MAX || !chunk.toString('latin1', 0, from).endsWith('ts_ms":"'))
    return;
  samples.push((microseconds() - Number(chunk.toString('latin1', from, end - 2))) / 1_000);
}

async function subscribe(index: number, followed: readonly string[]): Promise<Socket> {
  const counter = new FrameCounter(frameEnded);
  let isOpen = false;
  const opened = new EventTarget();
  const socket = connect({
    port: Number(port),
    host: '127.0.0.1',
    localAddress: `127.0.0.${2 + Math.floor(index / PER_ADDRESS)}`,
    onread: {
      buffer: shared,
      callback: (length, buffer) => {
        if (isOpen) {
          reads += 1;
          bytes += length;
          counter.take((buffer as Buffer).subarray(0, length));
        } else {
          // The answer comes in one piece, and nothing behind it before a subscription.
          isOpen = true;
          opened.dispatchEvent(new Event('open'));
        }
        return true;
      },
    },
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    ended += 1;
  });
  await once(socket, 'connect');
  socket.write(HANDSHAKE);
  await once(opened, 'open');
  if (followed.length > 0) socket.write(subscription(followed));
  return socket;
}

function counts(): FanoutCounts {
  const { system, user } = process.cpuUsage(cpu);
  const answer = {
    frames,
    bytes,
    reads,
    samples: samples.length,
    p50: percentile(samples, 0.5),
    p99: percentile(samples, 0.99),
    max: percentile(samples, 1),
    ended,
    cpuMs: (system + user) / 1_000,
  };
  [frames, bytes, reads, samples] = [0, 0, 0, []];
  cpu = process.cpuUsage();
  return answer;
}

const all = Number(plain) + Number(heavy);
let next = 0;

async function openSome(): Promise<void> {
  while (next < all) {
    const index = next++;
    const isHeavy = index >= Number(plain);
    const socket = await subscribe(index, isHeavy ? tokens : [tokens[index % tokens.length]!]);
    if (isHeavy) ofAllBooks.push(socket);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, openSome));
process.once('disconnect', () => process.exit(0));
process.on('message', (message) => {
  if (message === 'counts') process.send!(counts());
  else if (message === 'stop reading') for (const socket of ofAllBooks) socket.pause();
  else for (const socket of ofAllBooks) socket.resume();
});
process.send!(counts());
