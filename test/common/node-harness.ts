/**
 * Whole nodes for the tests: child processes on real data directories, a small HTTP client, and a
 * catalog of invented markets with empty books.
 *
 * Non-goals: signing (traders.ts), anything inside the node's own process.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type Agent, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { type CatalogMarket, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { CHANGED } from '../../storage/catalog/operator-marks.ts';
import { documentCheck } from './document-check.ts';
import { fileArgs } from './forms.ts';
import { ROOT } from './root.ts';

/** First pause between polls; pauses grow, as polls take processor time. */
const POLL_MS_MIN = 5;
const POLL_MS_MAX = 25;
/** Far longer than a start, so that a node that hangs fails its test with its log. */
const START_MS_MAX = 180_000;
const LISTENING = /listening on http:\/\/[^ ]+:(\d+)/g;

/** Smallest tables that the tests allow: a node starts faster, and its snapshots are smaller. */
export const SMALL_NODE = {
  HOST: '127.0.0.1',
  PORT: '0',
  ADMIN_PORT: '0',
  LOG_FORMAT: 'pretty',
  DEMO: 'off',
  DEMO_TRADERS: 'off',
  RATE_LIMITS: 'off',
  WORKERS: '1',
  MARKETS_MAX: '64',
  TOKENS_MAX: '256',
  ACCOUNTS_MAX: '4096',
  ORDERS_MAX: '4096',
  ORDER_HISTORY: '4096',
  LEVELS_MAX: '262144',
  TRADES_MAX: '20000',
  LOG_SEGMENT_BYTES: '262144',
};

export type Settings = Readonly<Record<string, string>>;

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const directories: string[] = [];
const mounts: string[] = [];
const children = new Set<ChildProcess>();
// Nodes do not keep the test process alive: a file ends with its last test, and takes them along.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const mount of mounts) spawnSync('umount', ['-l', mount], { stdio: 'ignore' });
  for (const directory of directories) {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
});

export function temporaryDirectory(parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, 'node-test-'));
  directories.push(directory);
  return directory;
}

/** A tmpfs, or `undefined` where mounting is not allowed. */
export function smallDisk(size: string): string | undefined {
  const directory = temporaryDirectory();
  if (!mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory)) return undefined;
  mounts.push(directory);
  return directory;
}

/** Changes options of a small disk: `size=64m`, `ro`, `rw`. */
export function remount(disk: string, options: string): void {
  assert(mount('-o', `remount,${options}`, disk), `remount,${options} failed`);
}

function mount(...args: readonly string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0;
}

export class TestNode {
  readonly dataDir: string;
  readonly settings: Settings;
  /** Check of the answers against the document; `undefined` before the first answer. */
  document: ReturnType<typeof documentCheck> | undefined;
  private readonly child: ChildProcess;
  log = '';

  private constructor(
    dataDir: string,
    settings: Settings,
    flags: readonly string[],
    file: string,
    through: readonly string[] = [],
  ) {
    this.dataDir = dataDir;
    this.settings = settings;
    const [program = '', ...args] = [...through, process.execPath, ...fileArgs(file), ...flags];
    this.child = spawn(program, args, {
      cwd: ROOT,
      env: { ...process.env, ...SMALL_NODE, DATA_DIR: dataDir, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(this.child);
    const keep = (chunk: Buffer): void => {
      this.log += chunk.toString();
    };
    this.child.stdout?.on('data', keep);
    this.child.stderr?.on('data', keep);
    this.child.on('close', () => children.delete(this.child));
    keepAlive(this.child, false);
  }

  /**
   * Starts a node and waits until it answers.
   * @param through the command that runs it elsewhere
   */
  static async start(
    dataDir: string,
    settings: Settings = {},
    flags: readonly string[] = [],
    file = 'server/node/main',
    through: readonly string[] = [],
  ): Promise<TestNode> {
    const node = new TestNode(dataDir, settings, flags, file, through);
    await node.answers();
    return node;
  }

  /** Starts a node without waiting for it. */
  static begin(dataDir: string, settings: Settings): TestNode {
    return new TestNode(dataDir, settings, [], 'server/node/main');
  }

  async answers(): Promise<void> {
    await until(() => this.port !== 0 || this.hasEnded, START_MS_MAX).catch(() => undefined);
    // The last of its log may come after its end.
    if (this.hasEnded) await this.exit();
    assert(this.port !== 0 && !this.hasEnded, `the node did not start:\n${this.log}`);
    assert.equal((await get(this, '/time')).status, 200);
  }

  /** Runs a node that must refuse to start; resolves when it has ended. */
  static async refuse(
    dataDir: string,
    settings: Settings = {},
    flags: readonly string[] = [],
  ): Promise<{ readonly code: number | null; readonly log: string }> {
    const node = new TestNode(dataDir, settings, flags, 'server/node/main');
    await until(() => node.port !== 0 || node.hasEnded, START_MS_MAX);
    const started = node.port !== 0;
    const { code } = await (started ? node.end('SIGKILL') : node.exit());
    assert(!started, `the node was expected to refuse:\n${node.log}`);
    return { code, log: node.log };
  }

  /** Port of its newest line that it listens; 0 before. */
  get port(): number {
    return Number([...this.log.matchAll(LISTENING)].at(-1)?.[1] ?? 0);
  }

  get host(): string {
    return this.settings.HOST ?? SMALL_NODE.HOST;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits for the process to end by itself, and for the last of its log. */
  async exit(): Promise<Exit> {
    await closed(this.child);
    return { code: this.child.exitCode, signal: this.child.signalCode };
  }

  async end(signal: NodeJS.Signals): Promise<Exit> {
    return ended(this.child, signal);
  }

  /** Sends SIGTERM; the exit code must be 0. */
  async stop(): Promise<void> {
    const { code } = await this.end('SIGTERM');
    assert.equal(code, 0, `the node did not end well:\n${this.log}`);
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<Exit> {
  child.kill(signal);
  await closed(child);
  return { code: child.exitCode, signal: child.signalCode };
}

async function closed(child: ChildProcess): Promise<void> {
  if (!children.has(child)) return;
  keepAlive(child, true);
  await once(child, 'close');
}

/** Sets whether this process waits for the child before it ends by itself. */
function keepAlive(child: ChildProcess, keeps: boolean): void {
  const pipes = [child.stdout, child.stderr] as unknown as readonly Socket[];
  for (const handle of [child, ...pipes]) {
    if (keeps) handle.ref();
    else handle.unref();
  }
}

/** Returns `ok` where orders are accepted, or `read-only`. */
export async function statusOf(node: TestNode): Promise<unknown> {
  return ((await get(node, '/status')).json as { readonly status: unknown }).status;
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  milliseconds = 60_000,
): Promise<void> {
  const deadline = performance.now() + milliseconds;
  for (let pause = POLL_MS_MIN; !(await condition()); pause += 1) {
    assert(performance.now() < deadline, `waited in vain for: ${condition}`);
    await sleep(Math.min(pause, POLL_MS_MAX));
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Parsed body of a JSON answer. */
  readonly json: unknown;
}

/** Address of a request. Answers of a node are checked against its document. */
type Place = { readonly port: number; readonly host?: string };
type Headers = Readonly<Record<string, string>>;

/** Sends one request. Rejects when the answer is incomplete or contradicts the API document. */
export async function send(
  place: Place,
  method: string,
  path: string,
  headers: Headers = {},
  body: string | Buffer = '',
  connection: Agent | undefined = undefined,
): Promise<Reply> {
  const reply = await request(place, method, path, headers, body, connection);
  if (place instanceof TestNode) {
    place.document ??= documentCheck({ ...SMALL_NODE, ...place.settings });
    (await place.document).check({ method, path, ...reply });
  }
  return reply;
}

function request(
  { host = '127.0.0.1', port }: Place,
  method: string,
  path: string,
  headers: Headers,
  body: string | Buffer,
  connection: Agent | undefined,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const options = {
      host,
      port,
      method,
      path,
      headers: { ...headers, 'Content-Length': bytes.length },
      agent: connection ?? false,
    };
    const outgoing = httpRequest(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const status = incoming.statusCode ?? 0;
        const type = incoming.headers['content-type'];
        try {
          const json = type === 'application/json' ? JSON.parse(text) : undefined;
          resolve({ status, headers: incoming.headers, text, json });
        } catch (error) {
          reject(new Error(`${method} ${path} answered no JSON: ${text}`, { cause: error }));
        }
      });
    });
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

export function get(place: Place, path: string, headers: Headers = {}): Promise<Reply> {
  return send(place, 'GET', path, headers);
}

export interface BookJson {
  readonly market: string;
  readonly asset_id: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
  readonly min_order_size: string;
  readonly tick_size: string;
  readonly neg_risk: boolean;
  readonly last_trade_price: string;
}

export async function books(
  place: Place,
  tokens: readonly string[],
  connection?: Agent,
): Promise<BookJson[]> {
  const body = JSON.stringify(tokens.map((token_id) => ({ token_id })));
  const { json, status } = await send(place, 'POST', '/books', {}, body, connection);
  assert.equal(status, 200);
  return json as BookJson[];
}

export async function book(place: Place, token: string): Promise<BookJson> {
  const [found] = await books(place, [token]);
  assert(found !== undefined, `no book for ${token}`);
  return found;
}

/** `size@price` of each price level, in the order of the answer. */
export function levels(side: BookJson['bids']): string[] {
  return side.map(({ price, size }) => `${size}@${price}`);
}

export interface MarketTerms {
  readonly id: number;
  /** Number of its event; absent: it has one of its own. */
  readonly event?: number;
  readonly tick?: number;
  readonly minSize?: number;
  readonly outcomes?: readonly string[];
  readonly negRisk?: boolean;
  readonly closed?: boolean;
  /** Unix milliseconds at which an operator lets the market end. */
  readonly end?: number;
  readonly metadata?: object;
  /** Taker delay that the catalog states. */
  readonly secondsDelay?: number;
  /** True for tokens that are positions (docs/protocol.md#signing-domains). */
  readonly hasPositions?: boolean;
  readonly feeSchedule?: object;
}

const BINARY_MODULE = 1n << 248n;
const CONDITION_AT = 128n;

/** Positions of a condition that is made from the id, and the condition id that is their first 31 bytes. */
function positionsOf({ id }: MarketTerms, outcomes: number) {
  const condition = BINARY_MODULE | (BigInt(id) << CONDITION_AT);
  return {
    conditionId: `0x${condition.toString(16).padStart(64, '0')}`,
    tokens: Array.from({ length: outcomes }, (_, outcome) => String(condition | BigInt(outcome))),
  };
}

function endOf(end: number): object {
  const tradingEnd = new Date(end).toISOString();
  return { tradingEnd, [CHANGED]: { tradingEnd } };
}

/** A catalog file of these markets, in the order of their events. */
export function catalogFile(markets: readonly MarketTerms[]): object {
  const hash = (label: string) => `0x${createHash('sha256').update(label).digest('hex')}`;
  const events = new Map<number, { readonly markets: object[] }>();
  for (const terms of markets) {
    const outcomes = terms.outcomes ?? ['Yes', 'No'];
    const { conditionId, tokens } =
      terms.hasPositions === true
        ? positionsOf(terms, outcomes.length)
        : {
            conditionId: hash(`test condition ${terms.id}`),
            tokens: outcomes.map((_, i) => BigInt(hash(`test token ${terms.id}/${i}`)).toString()),
          };
    const { event: number = terms.id } = terms;
    const own = { id: String(number), slug: `event-${number}`, title: `Event ${number}` };
    const event = events.get(number) ?? { ...own, markets: [] };
    events.set(number, event);
    event.markets.push({
      id: String(terms.id),
      question: `Question ${terms.id}?`,
      slug: `market-${terms.id}`,
      conditionId,
      outcomes: JSON.stringify(outcomes),
      ...(terms.hasPositions === true
        ? { version: 'v2', positionIds: tokens }
        : { clobTokenIds: JSON.stringify(tokens) }),
      active: true,
      closed: terms.closed ?? false,
      archived: false,
      negRisk: terms.negRisk ?? false,
      orderPriceMinTickSize: terms.tick ?? 0.01,
      orderMinSize: terms.minSize ?? 5,
      raw_metadata: terms.metadata,
      secondsDelay: terms.secondsDelay,
      feeSchedule: terms.feeSchedule,
      ...(terms.end === undefined ? {} : endOf(terms.end)),
    });
  }
  return { tags: [], series: [], events: [...events.values()] };
}

/**
 * Imports markets into a new data directory; the first node there has them with empty books.
 *
 * @param lists tags and series of the catalog, none by default
 */
export async function withMarkets(
  dataDir: string,
  terms: readonly MarketTerms[],
  lists: { readonly tags?: readonly object[]; readonly series?: readonly object[] } = {},
): Promise<readonly CatalogMarket[]> {
  const read = readCatalog({ ...catalogFile(terms), ...lists });
  assert(read.ok);
  const store = openCatalog(dataDir, { durability: 'flushed' });
  await store.replace(read.catalog);
  await store.close();
  return read.catalog.markets;
}
