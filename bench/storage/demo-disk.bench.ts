/**
 * `npm run bench -- demo-disk`: bytes a day that a node with the demo and its traders writes to a disk, over some
 * minutes. Linux alone counts them (`write_bytes` of /proc/PID/io, whole folios of the page cache).
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { print, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';

export interface DemoDiskShape {
  /** After the first round of the traders. */
  readonly warmMs: number;
  readonly measureMs: number;
}

export const DEMO_DISK_FULL: DemoDiskShape = { warmMs: 20_000, measureMs: 180_000 };

const DAY_MS = 86_400_000;
const GB = 1e9;
const GB_MAX = 2;

interface Book {
  readonly asset_id: string;
  readonly bids: readonly object[];
  readonly asks: readonly object[];
}

export async function demoDiskSuite(shape: DemoDiskShape): Promise<Ratio> {
  const directory = mkdtempSync(join(tmpdir(), 'demo-disk-'));
  try {
    const environment = { LOG_LEVEL: 'warn', DEMO_TRADERS: 'on' };
    const node = await LocalNode.start(directory, { demo: true, environment });
    await sleep(shape.warmMs);
    const books = await booksOf(node);
    const trades = await tradesOf(node);
    const before = written(node.pid!);
    const from = performance.now();
    await sleep(shape.measureMs);
    const ms = performance.now() - from;
    const after = written(node.pid!);
    const later = await booksOf(node);
    const gigabytes = ((after.bytes - before.bytes) * DAY_MS) / ms / GB;
    const changed = [...later].filter(([token, text]) => text !== books.get(token)).length;
    const traded = ((await tradesOf(node)) - trades) / (ms / 60_000);
    print('books changed, of all', `${changed} of ${later.size}`);
    print('trades a minute', traded.toFixed(1));
    for (const [thread, bytes] of after.threads) {
      const own = bytes - (before.threads.get(thread) ?? 0);
      if (own > 0) print(`thread ${thread}`, `${((own * DAY_MS) / ms / GB).toFixed(2)} GB a day`);
    }
    print('written', `${gigabytes.toFixed(2)} GB a day`);
    await node.end();
    const line = {
      name: `of ${GB_MAX} GB a day`,
      ratio: gigabytes / GB_MAX,
      bound: 'at most',
      aim: 1,
    } as const;
    ratioLine(line);
    return line;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Written {
  readonly bytes: number;
  /** Bytes by thread id. */
  readonly threads: ReadonlyMap<string, number>;
}

function written(pid: number): Written {
  const bytesIn = (file: string): number =>
    Number(/^write_bytes: (\d+)$/m.exec(readFileSync(file, 'utf8'))![1]);
  const tasks = `/proc/${pid}/task`;
  const threads = readdirSync(tasks).map((id) => [id, bytesIn(`${tasks}/${id}/io`)] as const);
  return { bytes: bytesIn(`/proc/${pid}/io`), threads: new Map(threads) };
}

/** Each book as text, by token. */
async function booksOf(node: LocalNode): Promise<Map<string, string>> {
  const markets = (await answer(node, '/gamma/markets?limit=100')) as { clobTokenIds: string }[];
  const tokens = markets.flatMap(({ clobTokenIds }) => JSON.parse(clobTokenIds) as string[]);
  const body = JSON.stringify(tokens.map((token_id) => ({ token_id })));
  const books = (await answer(node, '/books', { method: 'POST', body })) as Book[];
  return new Map(
    books.map(({ asks, asset_id, bids }) => [asset_id, JSON.stringify({ bids, asks })]),
  );
}

/** Number of fills of takers so far, at most 10,000. */
async function tradesOf(node: LocalNode): Promise<number> {
  return ((await answer(node, '/trades?limit=10000')) as object[]).length;
}

async function answer(node: LocalNode, path: string, request: RequestInit = {}): Promise<unknown> {
  const response = await fetch(new URL(path, node.url), request);
  return response.json();
}
