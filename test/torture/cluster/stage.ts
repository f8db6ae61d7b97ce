/**
 * Three members of etcd and three nodes, each a process with an address of its own (network.ts),
 * and the faults on them. Places 0 to 2 are the nodes, 3 to 5 etcd.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd } from '../../../bench/common/etcd.ts';
import { openNodeKey } from '../../../server/auth/credentials.ts';
import type { CatalogMarket } from '../../../storage/catalog/catalog-file.ts';
import {
  get,
  type MarketTerms,
  type Settings,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../../common/node-harness.ts';
import { preloaded } from '../../common/preloaded.ts';
import { verified } from '../../common/verified.ts';
import { Network } from './network.ts';

export const NODES = 3;
const WAIT_MS = 120_000;
const STATUS_MS = 1_000;
const MIB = 2 ** 20;
/** Small enough to be filled, and far above the writes of a run. */
export const QUOTA_BYTES = 64 * MIB;
const ADMIN_TOKEN = 'a'.repeat(32);
/** Table sizes for the tool's books of a run. */
export const ROOM: Settings = {
  ORDERS_MAX: '65536',
  ORDER_HISTORY: '65536',
  TRADES_MAX: '200000',
  LEDGER: 'on',
  FAUCET: '10000000',
};

export interface Status {
  readonly status: string;
  readonly log: { readonly sequence: number; readonly digest: number };
  /** Null while it is starting. */
  readonly cluster: {
    readonly node: string;
    readonly role: 'leader' | 'follower';
    readonly leader: string | null;
    readonly epoch: number;
    readonly applied: number;
  } | null;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export class ClusterStage {
  readonly network: Network;
  readonly etcd: Etcd;
  readonly nodes: TestNode[] = [];
  readonly addresses: Address[] = [];
  readonly directories: string[] = [];
  /** Addresses of the admin listeners. */
  readonly admins: Address[] = [];
  markets: readonly CatalogMarket[] = [];
  private readonly ended: string[] = [];
  private readonly settings: Settings[] = [];

  private constructor(network: Network, etcd: Etcd) {
    this.network = network;
    this.etcd = etcd;
  }

  static async open(terms: readonly MarketTerms[]): Promise<ClusterStage> {
    const network = Network.open(2 * NODES);
    const places = network.isOwn ? network.places.slice(NODES) : undefined;
    const etcd = await Etcd.start({ places, quotaBytes: QUOTA_BYTES });
    const stage = new ClusterStage(network, etcd);
    for (let i = 0; i < NODES; i++) await stage.prepare(i, terms);
    await Promise.all(stage.directories.map((_, i) => stage.run(i)));
    return stage;
  }

  async run(i: number, further: Settings = {}): Promise<void> {
    this.ended[i] = (this.ended[i] ?? '') + (this.nodes[i]?.log ?? '');
    const settings = { ...this.settings[i], ...further };
    const { through } = this.network.places[i]!;
    const file = 'server/node/main';
    this.nodes[i] = await TestNode.start(this.directories[i]!, settings, [], file, through);
  }

  async statusOf(i: number): Promise<{ readonly status: Status; readonly isStale: boolean }> {
    const late = sleep(STATUS_MS, undefined, { ref: false }).then(() => {
      throw new Error(`n${i} does not answer`);
    });
    const { headers, json } = await Promise.race([get(this.addresses[i]!, '/status'), late]);
    return { status: json as Status, isStale: headers['x-stale'] !== undefined };
  }

  async leader(): Promise<number> {
    let leader = -1;
    await until(async () => {
      for (const i of this.nodes.keys()) {
        const answer = await this.statusOf(i).catch(() => undefined);
        if (answer?.status.cluster?.role === 'leader' && !answer.isStale) leader = i;
      }
      return leader >= 0;
    }, WAIT_MS);
    return leader;
  }

  /** Hands the lead over to the node that is the least behind. */
  async handOver(leader: number): Promise<void> {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' };
    const path = '/admin/cluster/handover';
    const { status, text } = await send(this.admins[leader]!, 'POST', path, headers, '{}');
    assert.equal(status, 200, text);
  }

  /** Starts every stopped process, and joins every cut way. */
  async repair(): Promise<void> {
    this.network.heal();
    for (const member of this.etcd.members) {
      if (member.isRunning) member.resume();
      else member.start();
    }
    for (const node of this.nodes) if (!node.hasEnded) process.kill(node.pid, 'SIGCONT');
    await Promise.all([...this.nodes.keys()].map((i) => this.nodes[i]!.hasEnded && this.run(i)));
  }

  /** Resolves once all nodes take part and have applied the same record, with the same digest. */
  async level(): Promise<number> {
    let sequence = 0;
    await until(async () => {
      const ended = this.nodes.find(({ hasEnded }) => hasEnded);
      assert(ended === undefined, `a node has ended:\n${ended?.log.slice(-2_000)}`);
      const answers = await Promise.all(
        [...this.nodes.keys()].map((i) => this.statusOf(i).catch(() => undefined)),
      );
      const first = answers[0]?.status;
      sequence = first?.log.sequence ?? 0;
      return answers.every(
        (answer) =>
          answer !== undefined &&
          !answer.isStale &&
          answer.status.status === 'ok' &&
          answer.status.log.sequence === sequence &&
          // What is acknowledged may not be on the leader's own disk yet.
          answer.status.cluster?.applied === sequence &&
          typeof answer.status.cluster?.leader === 'string' &&
          answer.status.cluster.leader === first?.cluster?.leader,
      );
    }, WAIT_MS);
    return sequence;
  }

  /** Writes the output of all processes into files; returns their directory, which stays. */
  keepLogs(): string {
    const directory = mkdtempSync(join(tmpdir(), 'cluster-logs-'));
    for (const [i, { log }] of this.nodes.entries()) {
      writeFileSync(join(directory, `n${i}.log`), this.ended[i] + log);
    }
    for (const member of this.etcd.members) {
      writeFileSync(join(directory, `${member.name}.log`), member.output());
    }
    return directory;
  }

  /** Stops the nodes, and checks their directories. */
  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    for (const directory of this.directories) await verified(directory, ROOM);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.hasEnded || node.end('SIGKILL')));
    await this.etcd.close();
    this.network.close();
  }

  private async prepare(i: number, terms: readonly MarketTerms[]): Promise<void> {
    const directory = temporaryDirectory();
    this.markets = await withMarkets(directory, terms);
    if (i === 0) openNodeKey(directory);
    else copyFileSync(join(this.directories[0]!, 'node.key'), join(directory, 'node.key'));
    this.directories.push(directory);
    const { host } = this.network.places[i]!;
    const port = await this.network.port();
    this.addresses.push({ host, port });
    const admin = { host, port: await this.network.adminPort() };
    this.admins.push(admin);
    this.settings.push({
      ...ROOM,
      ...preloaded({}),
      HOST: host,
      PORT: String(port),
      ADMIN_HOST: host,
      ADMIN_PORT: String(admin.port),
      ADMIN_TOKEN,
      CLUSTER: this.etcd.address(),
      NODE_ID: `n${i}`,
      ADVERTISE: `http://${host}:${port}`,
      CLUSTER_SECRET: 's'.repeat(32),
    });
  }
}
