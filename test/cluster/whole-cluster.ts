/** A cluster of whole nodes, three processes, on a real etcd. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd, type EtcdOptions, NO_ETCD } from '../../bench/common/etcd.ts';
import { freePort } from '../../bench/common/free-port.ts';
import { openNodeKey } from '../../server/auth/credentials.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import {
  type BookJson,
  book,
  get,
  levels,
  type Settings,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';

const NODES = 3;
const MARKETS = 8;
export const WAIT_MS = 60_000;
/**
 * Settings where no leader is killed: a process that stands still for some seconds keeps the lead,
 * and requests wait.
 */
export const PATIENT: Settings = { CLUSTER_SILENCE_MS: '10000', CLUSTER_WAIT_MS: '30000' };

export interface Status {
  readonly status: string;
  readonly log: { readonly sequence: number; readonly digest: number };
  readonly cluster: {
    readonly node: string;
    readonly role: string;
    readonly leader: string | null;
    readonly epoch: number;
    readonly applied: number;
    readonly behind_ms: number;
  };
}

export class Cluster {
  readonly nodes: TestNode[] = [];
  readonly directories: string[] = [];
  /** Market of the current test alone. */
  market!: CatalogMarket;
  readonly etcd: Etcd;
  readonly traders = new Map<string, Trader>();
  private readonly settings: Record<string, string>[] = [];
  private markets: readonly CatalogMarket[] = [];

  private constructor(etcd: Etcd) {
    this.etcd = etcd;
  }

  /** @param own directories and settings of single nodes */
  static async start(
    further: Settings,
    markets = MARKETS,
    own: Own = () => ({}),
    etcd: EtcdOptions = {},
  ): Promise<Cluster> {
    const cluster = await Cluster.withoutNodes(etcd);
    for (let i = 0; i < NODES; i++) {
      const { directory = temporaryDirectory(), settings } = own(i);
      await cluster.prepare(i, directory, { ...further, ...settings }, markets);
    }
    const started = cluster.directories.map((_, i) => cluster.run(i));
    try {
      await Promise.all(started);
    } catch (error) {
      await Promise.allSettled(started);
      await cluster.end();
      throw error;
    }
    return cluster;
  }

  static async withoutNodes(o: EtcdOptions = {}): Promise<Cluster> {
    return new Cluster(await Etcd.start(o));
  }

  async run(i: number, further: Settings = {}): Promise<void> {
    const settings = { ...this.settings[i]!, ...further };
    this.nodes[i] = await TestNode.start(this.directories[i]!, settings);
  }

  /** Moves on to a market with empty books. */
  turnToNextMarket(): void {
    const [market, ...others] = this.markets;
    assert(market !== undefined, 'more tests share this cluster than it has markets');
    this.market = market;
    this.markets = others;
  }

  settingsOf(i: number): Settings {
    return this.settings[i]!;
  }

  async statusOf(i: number): Promise<Status> {
    return (await get(this.nodes[i]!, '/status')).json as Status;
  }

  async follower(): Promise<number> {
    const leader = await this.leader();
    return this.nodes.findIndex((_, i) => i !== leader);
  }

  async readyOf(i: number): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.settings[i]!.ADMIN_PORT}/ready`);
    return { status: answer.status, text: await answer.text() };
  }

  /** Waits until a node is ready, or not ready for this reason. */
  async isReady(i: number, reason?: RegExp): Promise<void> {
    let seen = { status: 0, text: '' };
    const isSo = async (): Promise<boolean> => {
      seen = await this.readyOf(i).catch(() => seen);
      return reason === undefined
        ? seen.status === 200
        : seen.status === 503 && reason.test(seen.text);
    };
    await until(isSo, WAIT_MS).catch(() => assert.fail(`${i}: ${seen.status} ${seen.text}`));
  }

  async leader(among = this.nodes.map((_, i) => i)): Promise<number> {
    let leader = -1;
    await until(async () => {
      for (const i of among) {
        const { cluster } = await this.statusOf(i).catch(() => ({ cluster: undefined }));
        if (cluster?.role === 'leader') leader = i;
      }
      return leader >= 0;
    }, WAIT_MS);
    return leader;
  }

  /** Waits until all nodes have applied the same batch, with the same digest. */
  async level(): Promise<void> {
    let statuses: readonly (Status | undefined)[] = [];
    await until(async () => {
      // A node that starts over has no log, or cannot be reached.
      const asked = this.nodes.map((_, i) => this.statusOf(i).catch(() => undefined));
      statuses = await Promise.all(asked);
      // The leader acknowledges what the cluster has, before its own disk has it.
      const reached = statuses.flatMap((it) => [it?.cluster?.applied, it?.log?.sequence]);
      return reached[0] !== undefined && new Set(reached).size === 1;
    }, WAIT_MS);
    const logs = statuses.map((it) => JSON.stringify(it!.log));
    assert.equal(new Set(logs).size, 1, logs.join());
  }

  async booksAreEqual(): Promise<readonly string[]> {
    const token = this.market.tokenIds[0]!;
    let shown: readonly BookJson[] = [];
    await until(async () => {
      const reading = Promise.all(this.nodes.map((node) => book(node, token)));
      // A node that starts over cannot be reached.
      shown = await reading.catch(() => []);
      return shown.length > 0;
    }, WAIT_MS);
    const [first, ...others] = shown;
    for (const other of others) assert.deepEqual(other, first);
    return levels(first!.bids);
  }

  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => (node.hasEnded ? undefined : node.end('SIGKILL'))));
    await this.etcd.close();
  }

  private async prepare(
    i: number,
    directory: string,
    further: Settings,
    markets: number,
  ): Promise<void> {
    const terms = Array.from({ length: markets }, (_, id) => ({ id: id + 1 }));
    this.markets = await withMarkets(directory, terms);
    if (i === 0) openNodeKey(directory);
    else copyFileSync(join(this.directories[0]!, 'node.key'), join(directory, 'node.key'));
    this.directories.push(directory);
    const port = String(await freePort());
    this.settings.push({
      CLUSTER: this.etcd.address(),
      NODE_ID: `n${i}`,
      ADVERTISE: `http://127.0.0.1:${port}`,
      CLUSTER_SECRET: 's'.repeat(32),
      // Nobody takes the lead from a node that merely waits for a processor.
      CLUSTER_SILENCE_MS: '3000',
      PORT: port,
      ADMIN_PORT: String(await freePort()),
      ...further,
    });
  }
}

export type Own = (i: number) => { readonly directory?: string; readonly settings?: Settings };

export interface Place {
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
}

export async function emptyPlace(cluster: Cluster, node: string): Promise<Place> {
  const port = String(await freePort());
  const settings = {
    CLUSTER: cluster.etcd.address(),
    NODE_ID: node,
    ADVERTISE: `http://127.0.0.1:${port}`,
    CLUSTER_SECRET: 's'.repeat(32),
    CLUSTER_SILENCE_MS: '3000',
    PORT: port,
  };
  return { directory: temporaryDirectory(), settings };
}

type Body = (cluster: Cluster) => Promise<void>;

/**
 * A cluster that the tests of a file share, started by the first of them. Each test leaves three
 * healthy nodes; after a failed one the next gets another cluster.
 */
export function sharedCluster(
  further: Settings = {},
  markets = MARKETS,
  own?: Own,
): (body: Body) => () => Promise<void> {
  let shared: Cluster | undefined;
  const end = async (): Promise<void> => {
    await shared?.end();
    shared = undefined;
  };
  after(end);
  return (body) => async () => {
    shared ??= await Cluster.start(further, markets, own);
    try {
      if (markets > 1 || shared.market === undefined) shared.turnToNextMarket();
      await body(shared);
    } catch (error) {
      for (const { log } of shared.nodes) console.error(log);
      await end();
      throw error;
    }
  };
}

/** Runs a test that changes the cluster itself, on its own cluster with one market. */
export async function clustered(
  body: Body,
  further: Settings = {},
  own?: Own,
  etcd: EtcdOptions = {},
): Promise<void> {
  const cluster = await Cluster.start(further, 1, own, etcd);
  try {
    cluster.turnToNextMarket();
    await body(cluster);
  } catch (error) {
    for (const { log } of cluster.nodes) console.error(log);
    throw error;
  } finally {
    await cluster.end();
  }
}

/** Runs a test on two nodes without data, of which the first begins as the leader. Both have an admin listener. */
export async function withTwoNodes(
  further: Readonly<Record<string, string>>,
  body: (cluster: Cluster, places: readonly [Place, Place]) => Promise<void>,
): Promise<void> {
  const cluster = await Cluster.withoutNodes();
  try {
    const places: Place[] = [];
    for (const name of ['a', 'b']) {
      const { directory, settings } = await emptyPlace(cluster, name);
      const ADMIN_PORT = String(await freePort());
      const place = { directory, settings: { ...settings, ...further, ADMIN_PORT } };
      places.push(place);
      cluster.nodes.push(await TestNode.start(directory, place.settings));
    }
    assert.equal(await cluster.leader(), 0);
    await body(cluster, [places[0]!, places[1]!]);
  } finally {
    await cluster.end();
  }
}

/** A trader with a key, which all nodes know once they have applied it. */
export async function traderOf(cluster: Cluster, name: string): Promise<Trader> {
  let trader = cluster.traders.get(name);
  if (trader !== undefined) return trader;
  await until(async () => {
    trader = await Trader.join(cluster.nodes[await cluster.leader()]!, name).catch(() => undefined);
    return trader !== undefined;
  }, WAIT_MS);
  await cluster.level();
  cluster.traders.set(name, trader!);
  return trader!;
}

/** Sends one order until the leader accepts it; returns the milliseconds that it took. */
export async function placed(
  cluster: Cluster,
  trader: Trader,
  ticks: number,
  among = cluster.nodes.map((_, i) => i),
): Promise<number> {
  const order = trader.sign({ market: cluster.market, side: 'BUY', ticks, shares: 10 });
  const began = performance.now();
  for (;;) {
    for (const i of among) {
      const reply = await trader
        .postText(cluster.nodes[i]!, JSON.stringify([order.item]))
        .catch(() => undefined);
      const [result] = reply?.status === 200 ? (reply.json as { orderID: string }[]) : [];
      if (result !== undefined && result.orderID === order.id) return performance.now() - began;
    }
    assert(performance.now() - began < WAIT_MS, 'nobody takes the order');
    await sleep(20);
  }
}

export const NEEDS_ETCD = { skip: NO_ETCD };
