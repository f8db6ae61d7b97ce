/**
 * More load than a node can take: idle connections, slow senders and readers, many streams of which
 * some never read, and twice the orders that it can answer. It must refuse rather than grow, and be
 * quick again within seconds.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { get, TestNode, temporaryDirectory, until } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { LOADED_NODE, measured, takenBy } from './load-child.ts';
import type { Done, PartOptions } from './part.ts';

const MIB = 2 ** 20;
/** Idle connections, streams and senders of the long form; a short one has a part of them. */
const IDLE = 10_000;
const STREAMS = 1_000;
const SILENT_SHARE = 100;
const SLOW = 50;
const AT_ONCE = 200;
const CONNECTIONS = 1_600;
const RATE_MAX = 20_000;
/** Bound of growth by connections, answers and waiting requests. */
const GROWTH_BYTES_MAX = 512 * MIB;
/** Bytes that may wait for all streams; the buffers behind are up to twice as large. */
const BACKLOG_BYTES = 128 * MIB;
const STREAMED = { STREAM_BACKLOG_MAX: String(BACKLOG_BYTES) };
/** Far longer than recovery takes on an idle machine. */
const CALM_MS_MAX = 60_000;
const PROBES = 20;
const PROBE_MS_MAX = 250;

interface Crowd {
  readonly sockets: Socket[];
  readonly clients: SocketClient[];
  readonly timers: NodeJS.Timeout[];
}

/** Runs an overload; the goal is its seconds. */
export async function overload(options: PartOptions): Promise<Done> {
  const wanted = Math.min(options.goal, Math.round(options.milliseconds / 1_000));
  const seconds = Math.max(2, Math.min(60, wanted));
  const share = seconds >= 30 ? 1 : 0.04;
  const node = await TestNode.start(temporaryDirectory(), { ...LOADED_NODE, ...STREAMED });
  const crowd: Crowd = { sockets: [], clients: [], timers: [] };
  try {
    const closed = [
      '--rate',
      'max',
      '--batch',
      '1',
      '--orders',
      String(1_000 * Math.ceil(seconds / 5)),
      // A fast machine has answered all of them before a warm-up would be over.
      '--warmup',
      '0',
    ];
    const { requestsPerSecond } = await measured(node.port, closed);
    const before = takenBy(node.pid);
    await crowdIn(node, crowd, share);
    const crowded = takenBy(node.pid);
    let peak = crowded.residentBytes;
    const watch = setInterval(() => {
      peak = Math.max(peak, takenBy(node.pid).residentBytes);
    }, 200);
    crowd.timers.push(watch);
    const rate = Math.min(RATE_MAX, Math.round(2 * requestsPerSecond));
    const { outcomes, latencyMs } = await measured(node.port, [
      ...['--rate', String(rate), '--batch', '1', '--connections', String(CONNECTIONS)],
      ...['--duration', String(seconds), '--warmup', '0'],
    ]);
    assert(!node.hasEnded, node.log);
    const unknown = Object.keys(outcomes).filter((name) => /\b5(?!03)\d\d\b/.test(name));
    assert.deepEqual(unknown, [], 'refusals are 503 or 429');
    const calm = await calmAfter(node);
    const growth = peak - before.residentBytes;
    const byCrowd = crowded.residentBytes - before.residentBytes;
    const grown = `it grew by ${mib(byCrowd)} MiB with the crowd, by ${mib(growth)} with the load`;
    assert(growth < GROWTH_BYTES_MAX + 2 * BACKLOG_BYTES, grown);
    await leave(crowd, node);
    return {
      count: seconds,
      text:
        `${seconds} s at ${rate} requests/s, twice what was answered: ${JSON.stringify(outcomes)}, ` +
        `p99 ${Math.round(latencyMs.p99)} ms; ${crowd.sockets.length} idle and slow connections, ` +
        `${crowd.clients.length} streams; ${mib(before.residentBytes)} MiB before, ` +
        `${mib(crowded.residentBytes)} with the crowd, ${mib(peak)} at most; ` +
        `quick again after ${calm} ms`,
    };
  } finally {
    for (const timer of crowd.timers) clearInterval(timer);
    for (const socket of crowd.sockets) socket.destroy();
    for (const client of crowd.clients) client.cut();
    if (!node.hasEnded) await node.end('SIGKILL');
  }
}

async function crowdIn(node: TestNode, crowd: Crowd, share: number): Promise<void> {
  const read = readCatalog(demoCatalog());
  assert(read.ok);
  const tokens = read.catalog.markets.flatMap(({ tokenIds }) => tokenIds).slice(0, 24);
  const streams = Math.ceil(STREAMS * share);
  for (let i = 0; i < streams; i++) {
    const client = await SocketClient.open(node, '/ws/market');
    client.onText = () => undefined;
    client.send({ type: 'market', assets_ids: tokens });
    if (i % SILENT_SHARE === 0) client.stopReading();
    crowd.clients.push(client);
  }
  const idle = Math.ceil(IDLE * share);
  for (let at = 0; at < idle; at += AT_ONCE) {
    const count = Math.min(AT_ONCE, idle - at);
    await Promise.all(Array.from({ length: count }, () => open(node, crowd)));
  }
  for (let i = 0; i < Math.ceil(SLOW * share); i++) {
    const sender = await open(node, crowd);
    sender.write('POST /books HTTP/1.1\r\nHost: node\r\nContent-Length: 100000\r\n\r\n');
    crowd.timers.push(setInterval(() => sender.writable && sender.write(' '), 500));
    const reader = await open(node, crowd);
    reader.pause();
    reader.write('GET /trades?limit=10000 HTTP/1.1\r\nHost: node\r\n\r\n');
  }
}

async function open(node: TestNode, { sockets }: Crowd): Promise<Socket> {
  const socket = connect(node.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  sockets.push(socket);
  return socket;
}

async function calmAfter(node: TestNode): Promise<number> {
  const from = performance.now();
  for (;;) {
    const times: number[] = [];
    for (let i = 0; i < PROBES; i++) {
      const sentAt = performance.now();
      const { status } = await get(node, '/book?token_id=1');
      assert(status < 500 || status === 503, `answered ${status}`);
      times.push(performance.now() - sentAt);
    }
    const since = performance.now() - from;
    // Single ones wait for others on the machine.
    const middle = times.sort((a, b) => a - b)[PROBES >> 1]!;
    if (middle < PROBE_MS_MAX) return Math.round(since);
    assert(since < CALM_MS_MAX, `after ${Math.round(since)} ms answers take ${middle} ms`);
    await sleep(50);
  }
}

/** Closes all connections, and checks that their handles are gone. */
async function leave({ clients, sockets }: Crowd, node: TestNode): Promise<void> {
  for (const socket of sockets) socket.destroy();
  for (const client of clients) client.cut();
  await until(() => takenBy(node.pid).handles < 200);
  await node.stop();
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB);
}
