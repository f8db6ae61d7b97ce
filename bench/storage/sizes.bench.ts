/**
 * `npm run bench -- sizes`: bytes of each thing that a node holds many of. Rows are counted by the tables, of which a node
 * has two copies, its own and the projector's. Connections are measured by the growth of a node's resident memory, and
 * the rings by that of a process that trades in two engines until they have gone round.
 *
 * Not measured: bytes on disk, and what a subscription adds with each further token.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { type CommandBuffer, commandWords } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { closedCount, fillCount, lastBatch } from '../../engine/reads.ts';
import {
  type Capacities,
  closedRows,
  DEFAULT_CAPACITIES,
  fillRows,
  orderRows,
} from '../../engine/tables/capacities.ts';
import { allocateEngine, tableShapes } from '../../engine/tables/tables.ts';
import { print } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { BATCH, marketsOf, Orders } from './log-day.ts';

/** Connections of each kind. */
export const CONNECTIONS_FULL = 4_000;

/** Bytes in one copy of the tables. */
export interface RowSizes {
  readonly restingOrder: number;
  readonly closedOrder: number;
  readonly fill: number;
  readonly account: number;
  readonly position: number;
  /** Everything, touched or not. */
  readonly tables: number;
  /** Rings of fills and of closed orders once they have gone round, with the rows and ids of those orders; both copies. */
  readonly rings: number;
}

const COPIES = 2;
const BOOKS = 1_000;
const ROUND = 10_000;
const MB = 1e6;
const KB = 1_024;
const SETTLE_MS = 1_000;

export function rowSizes(capacities: Capacities): RowSizes {
  const shapes = tableShapes(capacities);
  const { accounts, history, orders, positions } = capacities;
  const twice = tableShapes({ ...capacities, orders: 2 * orders });
  const row = (shapes.orders + shapes.orderIndex) / (orderRows(capacities) + 1);
  const queued = (twice.matchingRows - shapes.matchingRows) / orders;
  const closing = shapes.finished / closedRows(capacities);
  const ofAccount =
    shapes.accounts +
    shapes.wallets +
    shapes.accountIndex +
    shapes.cash +
    shapes.walletOrders +
    shapes.walletCosts +
    shapes.delayCounts;
  const ofPosition =
    shapes.positions + shapes.positionLinks + shapes.positionIndex + shapes.positionCosts;
  const closedOrder = row + closing;
  return {
    restingOrder: row + queued + (shapes.links + shapes.expiries) / orders,
    closedOrder,
    fill: shapes.fills / fillRows(capacities),
    account: ofAccount / accounts,
    position: ofPosition / positions,
    tables: Object.values(shapes).reduce((sum, bytes) => sum + bytes, 0),
    rings: COPIES * (shapes.fills + history * closedOrder),
  };
}

/** Bytes by which resident memory grows while both copies of the tables go round their rings of fills. */
function ringsTouched(capacities: Capacities): number {
  const before = process.memoryUsage.rss();
  const engines = Array.from({ length: COPIES }, () => new Engine(allocateEngine(capacities)));
  const apply = (commands: CommandBuffer): void => {
    for (const engine of engines) applyAll(engine, commands);
  };
  apply(marketsOf(BOOKS));
  const orders = new Orders(undefined, BOOKS);
  for (let fills = 0; fills < fillRows(capacities) + ROUND; fills += ROUND)
    apply(orders.pairs(ROUND));
  for (const { t } of engines) assert(fillCount(t) > t.fillRows, 'it went round');
  globalThis.gc?.();
  return process.memoryUsage.rss() - before;
}

function applyAll(engine: Engine, { f64, i32, words }: CommandBuffer): void {
  for (let at = 0; at < words; ) {
    engine.begin(lastBatch(engine.t) + 1, closedCount(engine.t));
    for (let i = 0; i < BATCH && at < words; i++) {
      engine.apply(i32, f64, at);
      at += commandWords(i32, at);
    }
    engine.end();
  }
}

/** Bytes of an idle connection, and of a client of the market stream. */
export interface ConnectionSizes {
  readonly idle: number;
  readonly streamClient: number;
}

export async function connectionSizes(count: number): Promise<ConnectionSizes> {
  const directory = mkdtempSync(join(tmpdir(), 'sizes-bench-'));
  const limits = {
    CONNECTIONS_PER_ADDRESS: '65536',
    CONNECTIONS_OPENED_PER_SECOND: '1000000',
    STREAM_CONNECTIONS_MAX: '65536',
    STREAM_CONNECTIONS_PER_ADDRESS: '65536',
  };
  const node = await LocalNode.start(directory, { demo: true, environment: limits });
  try {
    const port = Number(node.url.port);
    const token = await tokenOf(node.url);
    const before = await settled(node);
    const sockets: Socket[] = [];
    for (let i = 0; i < count; i++) sockets.push(await idleConnection(port));
    const withIdle = await settled(node);
    for (const socket of sockets) socket.destroy();
    const between = await settled(node);
    const readers = fork(
      join(import.meta.dirname, `../streams/stream-readers${extname(import.meta.filename)}`),
      [String(port), token, String(count)],
    );
    await once(readers, 'message');
    const withReaders = await settled(node);
    readers.disconnect();
    await once(readers, 'exit');
    return { idle: (withIdle - before) / count, streamClient: (withReaders - between) / count };
  } finally {
    await node.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param capacities of the engines that trade */
export async function sizesSuite(
  connections: number,
  capacities: Capacities = DEFAULT_CAPACITIES,
): Promise<RowSizes & ConnectionSizes & { readonly touched: number }> {
  const rows = rowSizes(DEFAULT_CAPACITIES);
  const inBoth = (name: string, bytes: number): void =>
    print(name, `${bytes.toFixed(0)} bytes, ${(COPIES * bytes).toFixed(0)} in both copies`);
  inBoth('a resting order', rows.restingOrder);
  inBoth('a closed order', rows.closedOrder);
  inBoth('a fill', rows.fill);
  inBoth('an account', rows.account);
  inBoth('a position', rows.position);
  const total = (bytes: number): string =>
    `${((COPIES * bytes) / MB).toFixed(0)} MB in both copies`;
  print('full rings, by their rows', `${(rows.rings / MB).toFixed(0)} MB in both copies`);
  const touched = ringsTouched(capacities);
  print('two engines that went round their rings', `${(touched / MB).toFixed(0)} MB resident`);
  print('all tables, of which the system holds what was touched', total(rows.tables));
  const sizes = await connectionSizes(connections);
  print('an idle connection', `${(sizes.idle / KB).toFixed(1)} KB`);
  print('a stream client', `${(sizes.streamClient / KB).toFixed(1)} KB`);
  return { ...rows, ...sizes, touched };
}

async function tokenOf(url: URL): Promise<string> {
  const reply = await fetch(new URL('/simplified-markets', url));
  const { data } = (await reply.json()) as { data: { tokens: { token_id: string }[] }[] };
  return data[0]!.tokens[0]!.token_id;
}

/** A connection that has been answered once and is kept alive. */
async function idleConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /time HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  return socket;
}

/** Bytes of the node's resident memory after a pause. */
async function settled({ pid }: LocalNode): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return KB * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}
