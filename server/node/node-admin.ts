/**
 * Admin listener of this process. It outlives the node that it reports: none exists during a start, and a new
 * one after DATA_DIR could be written again.
 *
 * Thread: I/O. Not here: routes and answers (server/admin).
 */
import { statfs } from 'node:fs/promises';
import { documentFile } from '../admin/document-files.ts';
import { type AdminAnswer, type AdminServer, listenAdmin } from '../admin/listener.ts';
import { type Delay, LoopDelay } from '../admin/loop-delay.ts';
import type { Scrape } from '../admin/metric-table.ts';
import type { Metrics } from '../admin/metrics.ts';
import { readPageFiles } from '../admin/page-files.ts';
import { type NodeFacts, type PublicApi, summaryOf } from '../admin/summary.ts';
import { buildCommit } from '../common/build-commit.ts';
import { builtPage } from '../common/built-page.ts';
import { errorBody } from '../common/error-bodies.ts';
import { aheadText } from '../common/guarded-clock.ts';
import { packageVersion } from '../common/package-version.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../http/address.ts';
import type { RunningNode } from './running-node.ts';

/** Reasons by status. A pause of orders has a reason of its own. */
const NOT_READY = {
  starting: 'recovering what is in DATA_DIR, and loading',
  draining: 'finishing what is in flight: the node ends',
} as const;
type Status = keyof typeof NOT_READY | 'read-only' | 'ready';

const LIVE = (): AdminAnswer => ({ status: 200, body: '{"status":"live"}' });

export class NodeAdmin {
  private readonly config: Config;
  private readonly startedAt = Date.now();
  private readonly version = packageVersion();
  private readonly commit = buildCommit();
  private readonly droppedLines: () => number;
  private server: AdminServer | undefined;
  private delay: LoopDelay | undefined;
  private node: RunningNode | undefined;
  private isEnding = false;
  private metrics: Promise<Metrics> | undefined;

  constructor(config: Config, droppedLines: () => number) {
    this.config = config;
    this.droppedLines = droppedLines;
  }

  /** Listens, unless ADMIN_PORT is 0. Rejects with an Error that has advice. */
  async open(log: (line: string) => void): Promise<void> {
    const { adminHost: host, adminPort: port, adminToken, resolverToken } = this.config;
    if (port === 0) return;
    const desk = builtPage('desk');
    if (desk === undefined) log('the page is not built: run "npm run build"');
    const files = readPageFiles(desk);
    const delay = new LoopDelay();
    this.delay = delay;
    this.server = await listenAdmin({
      host,
      port,
      tokens: { operator: adminToken, resolver: resolverToken },
      handlers: {
        '/live': LIVE,
        '/health': LIVE,
        '/healthz': LIVE,
        '/ready': () => this.ready(),
        '/metrics': async () => {
          const diskFree = await this.diskFree();
          const metrics = await this.loadedMetrics();
          return { status: 200, body: await metrics.text(this.scrape(delay.delay(), diskFree)) };
        },
        '/clock/accept': () => this.acceptClock(),
        '/page/summary': () => ({ status: 200, body: this.summary(delay.delay()) }),
      },
      operations: () => (this.isEnding ? undefined : this.node?.operations),
      file: (path) => files.get(path) ?? documentFile(path),
      api: () => this.api(),
      log,
    });
  }

  report(node: RunningNode | undefined): void {
    this.node = node;
    // Later than the first answer, earlier than a usual first scrape.
    if (this.server !== undefined) this.loadedMetrics().catch(() => undefined);
  }

  draining(): void {
    this.isEnding = true;
  }

  async close(): Promise<void> {
    this.delay?.stop();
    await this.server?.close();
  }

  /** Loads a package that a node without this listener does not need. */
  private loadedMetrics(): Promise<Metrics> {
    this.metrics ??= import('../admin/metrics.ts').then((module) => new module.Metrics());
    return this.metrics;
  }

  private ready(): AdminAnswer {
    const facts = this.node?.facts();
    const status = this.status(facts);
    if (status === 'ready') {
      const { aheadMs } = facts!.clock;
      const warning = aheadMs > 0 ? { warning: aheadText(aheadMs) } : {};
      return { status: 200, body: JSON.stringify({ status, ...warning }) };
    }
    const reason =
      status === 'read-only'
        ? facts!.pauses.map(({ detail }) => detail).join('; ')
        : NOT_READY[status];
    return { status: 503, body: JSON.stringify({ status, reason }) };
  }

  private acceptClock(): AdminAnswer {
    const jumpMs = this.node?.acceptClock();
    if (jumpMs !== undefined) return { status: 200, body: JSON.stringify({ jump_ms: jumpMs }) };
    return { status: 409, body: errorBody('CLOCK_NOT_IN_DOUBT') };
  }

  private status(facts: NodeFacts | undefined): Status {
    if (this.isEnding) return 'draining';
    if (facts === undefined) return 'starting';
    return facts.pauses.length === 0 ? 'ready' : 'read-only';
  }

  private scrape(delay: Delay, diskFree: number | undefined): Scrape | undefined {
    const node = this.node?.facts();
    const { commit, version } = this;
    const droppedLines = this.droppedLines();
    return node && { node, delay, diskFree, droppedLines, version, commit, now: Date.now() };
  }

  private async diskFree(): Promise<number | undefined> {
    const place = await statfs(this.config.dataDir).catch(() => undefined);
    return place && place.bavail * place.bsize;
  }

  private summary(delay: Delay): string {
    const facts = this.node?.facts();
    return summaryOf({
      status: this.status(facts),
      version: this.version,
      now: Date.now(),
      startedAt: this.startedAt,
      api: this.api(),
      delay,
      facts,
    });
  }

  /** Address of the public API; host '' = the host under which the page was reached. */
  private api(): PublicApi {
    const { host, port } = this.config;
    const isAnywhere = host === '0.0.0.0' || host === '::' || isLoopback(host);
    return { host: isAnywhere ? '' : host, port: this.node?.port ?? port };
  }
}
