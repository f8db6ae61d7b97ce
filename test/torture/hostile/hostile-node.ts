/**
 * The attacked node: the bundle in a process of its own, with default settings, on a fresh
 * directory; and its measurements.
 *
 * Differences: results give the reason of a refusal, which costs the node more. Ports are free
 * ones. The process may open 6,144 files, so that one attacker has enough for all of them. Segments
 * of the log are short, because a lack of descriptors fails when one is opened.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../bench/common/free-port.ts';
import type { CatalogMarket } from '../../../storage/catalog/catalog-file.ts';
import { fileArgs } from '../../common/forms.ts';
import { send, temporaryDirectory, until, withMarkets } from '../../common/node-harness.ts';
import { ROOT } from '../../common/root.ts';
import { type Taken, takenBy } from '../load-child.ts';
import { COLLECTOR_ADDRESS, COLLECTOR_ARGS, collectGarbage } from './collector.ts';

const OPEN_FILES = 6_144;
const MARKETS = 600;
const LISTENING = /listening on http:\/\/[^ ]+:(\d+)/;
const ROWS = /^exchange_table_rows\{.*\} (\d+)$/gm;
const START_MS_MAX = 120_000;
const END_MS_MAX = 15_000;
const ADMIN_MS_MAX = 60_000;
const LOG_KEPT = 20_000;

/** Measurements that must return to their earlier values after an attack. */
export interface Held extends Taken {
  readonly streamClients: number;
  readonly streamBytes: number;
  readonly queued: number;
  /** Used rows of all tables of the engine, and of that of accounts. */
  readonly rows: number;
  readonly accounts: number;
  /** Signers recovered to explain wrong signatures, since the start. */
  readonly recoveries: number;
  /** Milliseconds since the start of this process. */
  readonly at: number;
  readonly ready: number;
}

export class HostileNode {
  readonly adminPort: number;
  /** Markets of the attackers; the well-behaved client has one of its own. */
  readonly markets: readonly CatalogMarket[];
  private readonly child: ChildProcess;
  private said = '';
  private listening = 0;
  private collector: RegExpExecArray | undefined = undefined;

  private constructor(dataDir: string, adminPort: number, markets: readonly CatalogMarket[]) {
    this.adminPort = adminPort;
    this.markets = markets;
    const settings = {
      PORT: '0',
      ADMIN_PORT: String(adminPort),
      DATA_DIR: dataDir,
      LOG_FORMAT: 'pretty',
      LOG_SEGMENT_BYTES: '262144',
      RESULT_CODES: 'on',
    };
    const limited = `ulimit -n ${OPEN_FILES}; exec "$0" "$@"`;
    const args = [
      '-c',
      limited,
      process.execPath,
      ...COLLECTOR_ARGS,
      ...fileArgs('server/node/main'),
    ];
    const { HOME = '/', PATH = '' } = process.env;
    this.child = spawn('sh', args, {
      cwd: ROOT,
      env: { HOME, PATH, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.said = this.port === 0 ? this.said + chunk : (this.said + chunk).slice(-LOG_KEPT);
        if (this.listening === 0) this.listening = Number(LISTENING.exec(this.said)?.[1] ?? 0);
        this.collector ??= COLLECTOR_ADDRESS.exec(this.said) ?? undefined;
      });
    }
    process.once('exit', () => this.child.kill('SIGKILL'));
  }

  static async start(): Promise<HostileNode> {
    const dataDir = temporaryDirectory();
    const terms = Array.from({ length: MARKETS }, (_, i) => ({ id: i + 1 }));
    const node = new HostileNode(dataDir, await freePort(), await withMarkets(dataDir, terms));
    await until(() => node.port !== 0 || node.hasEnded, START_MS_MAX);
    assert(!node.hasEnded, `the node did not start:\n${node.log}`);
    return node;
  }

  get port(): number {
    return this.listening;
  }

  get log(): string {
    return this.said;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Exit code or signal, and last lines of the log. */
  get ending(): string {
    return `${this.child.exitCode ?? this.child.signalCode}: ${this.log.trim().split('\n').at(-1)}`;
  }

  /** Collects garbage: remaining memory is in use. */
  async collect(): Promise<void> {
    if (this.collector === undefined) this.child.kill('SIGUSR1');
    await until(() => this.collector !== undefined || this.hasEnded, START_MS_MAX);
    assert(this.collector !== undefined, `the node ended: ${this.log}`);
    const [, port, path] = this.collector;
    await collectGarbage(Number(port), path!);
  }

  async held(): Promise<Held> {
    let text = '';
    await until(async () => {
      assert(!this.hasEnded, 'the node ended');
      const metrics = await this.admin('/metrics');
      text = metrics.text;
      return metrics.status === 200;
    }, ADMIN_MS_MAX);
    const { status: ready } = await this.admin('/ready');
    const value = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
    return {
      ...takenBy(this.child.pid ?? 0),
      ready,
      at: performance.now(),
      recoveries: value('exchange_signature_recoveries_total'),
      streamClients: value('exchange_stream_clients'),
      streamBytes: value('exchange_stream_held_bytes'),
      queued: value('exchange_queue_requests'),
      accounts: value('exchange_table_rows\\{table="accounts"\\}'),
      rows: [...text.matchAll(ROWS)].reduce((sum, [, rows]) => sum + Number(rows), 0),
    };
  }

  /** Sends SIGTERM, and a while later SIGKILL. */
  async end(): Promise<void> {
    if (this.hasEnded) return;
    const closed = once(this.child, 'close');
    this.child.kill('SIGTERM');
    const cut = setTimeout(() => this.child.kill('SIGKILL'), END_MS_MAX);
    await closed;
    clearTimeout(cut);
  }

  private async admin(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const asked = send({ port: this.adminPort }, 'GET', path);
    const none = { status: 0, text: '' };
    asked.catch(() => undefined);
    return await Promise.race([asked.catch(() => none), sleep(ADMIN_MS_MAX, none)]);
  }
}
