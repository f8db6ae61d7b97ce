/**
 * The suite `spans`: for how long the worst question of each route holds the I/O thread of a node with large
 * stores, between two turns of its event loop. Processor time; more than 5 ms is marked. Then
 * bodies of a mebibyte for each route that parses one.
 *
 * Thread: the suite's only one. Non-goals: throughput, and what a whole answer costs in all its turns.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { level2 } from '../../client/credentials.ts';
import type { HttpClient } from '../../client/http.ts';
import { Wallet } from '../../client/wallet.ts';
import { readConfig } from '../../server/config/config.ts';
import type { RouteRow } from '../../server/http/route.ts';
import { ROUTE_TABLE, type RouteKey } from '../../server/routes/route-table.ts';
import { generateCatalog } from '../catalog/catalog-generator.ts';
import { Child } from '../common/child.ts';
import { storeTradedMarkets } from '../http/market-store.ts';
import { keysOf, openClient } from '../load/load-client.ts';
import { createKeys, type Trader } from '../load/load-keys.ts';
import { BODIES } from './spans-bodies.ts';
import { type Store, WORST } from './spans-questions.ts';

export interface SpansScale {
  readonly markets: number;
  readonly traded: number;
  readonly deep: number;
  /** Questions of each route. */
  readonly rounds: number;
  /** Length of the measurement without any request. Market statistics are renewed every second. */
  readonly idleMs: number;
}

export interface Span {
  /** A route, or a route and what is said of it. */
  readonly name: string;
  /** Milliseconds, of the questions, or bodies, in turn. */
  readonly spans: readonly number[];
  readonly bytes: number;
}

export const SPANS_FULL: SpansScale = {
  markets: 50_000,
  traded: 4_000,
  deep: 60,
  rounds: 5,
  idleMs: 4_000,
};

const SEED = 'spans';
const PREFIX = 'SERVICE';
const CHAIN_ID = 137;
const BOUND_MS = 5;
/** Signature of a caller that does not know the secret. */
const NO_SIGNATURE = `${'A'.repeat(43)}=`;
const REACH = 20;
const LOOK_MS = 100;
const DERIVED_LOOKS = 1_200;

/** @param only routes to ask; all of them when empty */
export async function spansSuite(scale: SpansScale, only: readonly string[] = []): Promise<Span[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'spans-bench-'));
  const child = new Child(join(import.meta.dirname, 'spans-node'), []);
  try {
    const environment = environmentOf(dataDir);
    const store = await storeOf(dataDir, environment, scale);
    const port = await child.ask<number>('start', environment);
    const client = openClient(new URL(`http://127.0.0.1:${port}`));
    const keys = keysOf(client, { prefix: PREFIX, chainId: CHAIN_ID });
    const [trader] = await createKeys(keys, [WHALE]);
    print(
      `spans: ${scale.markets} markets, ${store.fills} fills, ${scale.deep} deep books, seed ${SEED}`,
    );
    await derived(client);
    await watchIdle(child, scale);
    const spans: Span[] = [];
    for (const route of Object.keys(WORST) as RouteKey[]) {
      if (only.length > 0 && !only.includes(route)) continue;
      const span = await ask(child, client, trader!, store, route, scale.rounds);
      if (span === undefined) continue;
      spans.push(span);
      print(lineOf(route, span.spans, span.bytes));
    }
    print(`bodies of a mebibyte: ${Object.keys(BODIES).join(', ')}`);
    for (const route of Object.keys(ROUTE_TABLE) as RouteKey[]) {
      if (only.length > 0 && !only.includes(route)) continue;
      for (const span of await sendBodies(child, client, trader!, route)) {
        spans.push(span);
        print(lineOf(span.name, span.spans, span.bytes));
      }
    }
    return spans;
  } finally {
    await child.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Watches a node without requests, beside a process that does nothing. */
async function watchIdle(node: Child, { idleMs, rounds }: SpansScale): Promise<void> {
  const nothing = new Child(join(import.meta.dirname, 'spans-nothing'), []);
  const both = [
    { name: '(no request)', child: node, spans: [] as number[] },
    { name: '(a process that does nothing)', child: nothing, spans: [] as number[] },
  ];
  try {
    for (const { child } of both) await child.ask('longestSpan');
    for (let round = 0; round < rounds; round++) {
      await new Promise((resolve) => setTimeout(resolve, idleMs));
      for (const { child, spans } of both) spans.push(await child.ask<number>('longestSpan'));
    }
    for (const { name, spans } of both) print(lineOf(name, spans, 0));
  } finally {
    await nothing.stop();
  }
}

const WHALE = Wallet.fromSeed(SEED);

async function storeOf(
  dataDir: string,
  environment: Readonly<Record<string, string>>,
  { deep, markets, traded }: SpansScale,
): Promise<Store> {
  const read = readConfig(environment, ['--no-demo'], availableParallelism());
  if (!read.ok) throw new Error(read.problems.join('; '));
  const { capacities } = read.config;
  const whale = WHALE.address;
  const stored = await storeTradedMarkets({
    dataDir,
    markets,
    seed: SEED,
    capacities,
    traded,
    deep,
    whale,
    reach: REACH,
    hasRebates: true,
  });
  const { events, tags } = generateCatalog(markets, SEED);
  const largest = events.reduce((a, b) => (b.markets.length > a.markets.length ? b : a));
  const seriesOf = (event: (typeof events)[number]): string | undefined => {
    return (event.series as readonly { id: string }[] | undefined)?.[0]?.id;
  };
  const counts = new Map<string, number>();
  for (const event of events) {
    const id = seriesOf(event);
    if (id !== undefined) counts.set(id, 1 + (counts.get(id) ?? 0));
  }
  const [[largestSeries = ''] = []] = [...counts].sort((a, b) => b[1] - a[1]);
  const tag = (largest.tags as readonly { id: string; slug: string }[] | undefined)?.[0];
  return {
    ...stored,
    whale,
    largestEvent: largest.id,
    eventSlug: largest.slug,
    largestSeries,
    tag: tag?.id ?? String(tags[0]!.id),
    tagSlug: tag?.slug ?? String(tags[0]!.slug),
    word: largest.title.split(' ')[0]!.toLowerCase(),
  };
}

function environmentOf(dataDir: string): Readonly<Record<string, string>> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDir,
    DURABILITY: 'committed',
    WORKERS: '1',
    ORDERS_MAX: '1048576',
    TRADES_MAX: '1000000',
    IMAGE_SECONDS: '86400',
    RATE_LIMITS: 'off',
  };
}

/** Resolves when positions have been derived from the fills, which begins after the start. */
async function derived(client: HttpClient): Promise<void> {
  for (let look = 0; look < DERIVED_LOOKS; look++) {
    const { status } = await client.send('GET', `/positions?user=${WHALE.address}&limit=1`, {}, '');
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error('positions were not derived');
}

async function ask(
  child: Child,
  client: HttpClient,
  trader: Trader,
  store: Store,
  route: RouteKey,
  rounds: number,
): Promise<Span | undefined> {
  const worst = WORST[route];
  if (typeof worst === 'string') return undefined;
  const [method] = route.split(' ') as ['GET' | 'POST' | 'DELETE'];
  const row: RouteRow = ROUTE_TABLE[route];
  const spans: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const { body = '', path } = worst(store, round);
    const [plain] = path.split('?');
    const now = String(Math.floor(Date.now() / 1_000));
    const isOpen = row.access === 'none';
    const { key, wallet } = trader;
    const headers = isOpen ? {} : level2(PREFIX, wallet.address, key, method, plain!, body, now);
    await child.ask('longestSpan');
    const reply = await client.send(method, path, headers, body);
    if (reply.status !== 200)
      throw new Error(`${route}: ${reply.status} ${reply.body.slice(0, 200)}`);
    spans.push(await child.ask<number>('longestSpan'));
    bytes = Math.max(bytes, reply.body.length);
  }
  return { name: route, spans, bytes };
}

/** Sends each body to a route; to one that asks for credentials also with a wrong signature. */
async function sendBodies(
  child: Child,
  client: HttpClient,
  { key, wallet }: Trader,
  route: RouteKey,
): Promise<Span[]> {
  const row: RouteRow = ROUTE_TABLE[route];
  if (row.body === undefined) return [];
  const [method, path] = route.split(' ') as ['POST' | 'DELETE', string];
  const signed = (body: string): Record<string, string> => {
    const now = String(Math.floor(Date.now() / 1_000));
    return level2(PREFIX, wallet.address, key, method, path, body, now);
  };
  const forged = (): Record<string, string> => {
    return { ...signed(''), [`${PREFIX}_SIGNATURE`]: NO_SIGNATURE };
  };
  const callers = {
    'long bodies': row.access === 'none' ? () => ({}) : signed,
    ...(row.access === 'none' ? {} : { 'wrong signature': forged }),
  };
  const measured: Span[] = [];
  for (const [name, headersOf] of Object.entries(callers)) {
    const spans: number[] = [];
    for (const body of Object.values(BODIES)) {
      await child.ask('longestSpan');
      const { body: text, status } = await client.send(method, path, headersOf(body), body);
      if (status >= 500) throw new Error(`${route}: ${status} ${text.slice(0, 200)}`);
      spans.push(await child.ask<number>('longestSpan'));
    }
    measured.push({ name: `${route}, ${name}`, spans, bytes: 0 });
  }
  return measured;
}

function lineOf(name: string, spans: readonly number[], bytes: number): string {
  const longest = Math.max(...spans);
  const all = spans.map((span) => span.toFixed(1)).join(' ');
  const mark = longest > BOUND_MS ? '  TOO LONG' : '';
  const size = bytes === 0 ? '' : `${Math.ceil(bytes / 1_024)} KB`;
  return `${name.padEnd(44)} ${longest.toFixed(1).padStart(7)} ms ${size.padStart(9)}  (${all})${mark}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
