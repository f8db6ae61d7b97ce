/** Orders at any node: answers to a client of a follower. Three processes on a real etcd. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
} from '../../server/streams/request-frames.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  get,
  levels,
  type Reply,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { OrderSocket } from '../common/order-socket.ts';
import { freshSeed, Random } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { cli } from '../common/run-cli.ts';
import { bodyOf, type Signed, Trader } from '../common/traders.ts';
import { Agent, NEWEST, signedBy } from '../mcp/agent.ts';
import { type Cluster, NEEDS_ETCD, sharedCluster, traderOf, WAIT_MS } from './whole-cluster.ts';

useCompiledNodes();

type Metric = (name: string) => number;

const scraped = new Map<string, string>();

/** Present metrics of a node; a busy node sends the last ones again. */
async function metricsOf(cluster: Cluster, i: number): Promise<Metric> {
  const { ADMIN_PORT = '' } = cluster.settingsOf(i);
  const last = scraped.get(ADMIN_PORT);
  let text = '';
  await until(async () => {
    text = await (await fetch(`http://127.0.0.1:${ADMIN_PORT}/metrics`)).text();
    // The time that the process has used is in it.
    return text !== last;
  }, WAIT_MS);
  scraped.set(ADMIN_PORT, text);
  const lines = text.split('\n');
  return (name) => Number(lines.find((it) => it.startsWith(`${name} `))?.split(' ')[1] ?? 0);
}

async function followersOf(cluster: Cluster): Promise<TestNode[]> {
  const leader = await cluster.leader();
  return cluster.nodes.filter((_, i) => i !== leader);
}

const STREAM = 150;
/** Size at which most ids have left memory and are looked up on disk. */
const TINY = { ORDER_HISTORY: '16' };
/** Long enough for a request in between on a slow machine. */
const LONG = { CLUSTER_SILENCE_MS: '5000', HEARTBEAT_SECONDS: '600' };

async function alone(cluster: Cluster): Promise<TestNode> {
  const directory = temporaryDirectory();
  await withMarkets(directory, [{ id: 1 }]);
  mkdirSync(directory, { recursive: true });
  copyFileSync(join(cluster.directories[0]!, 'node.key'), join(directory, 'node.key'));
  return TestNode.start(directory, TINY);
}

type Asked = readonly [method: string, path: string, body: string];

/** Valid orders of both sides, invalid ones of all kinds, repeated ones, and cancels. */
function randomRequest(
  { market }: Cluster,
  trader: Trader,
  known: Signed[],
  pick: (count: number) => number,
): Asked {
  const sign = (): Signed => {
    const sent = [{}, {}, {}, {}, { signature: `0x${'11'.repeat(65)}` }, { tokenId: '7' }][
      pick(6)
    ]!;
    const order = trader.sign({
      market,
      sent,
      side: pick(2) === 0 ? 'BUY' : 'SELL',
      ticks: 40 + pick(20),
      shares: 5 + pick(20),
      type: (['GTC', 'GTC', 'FOK', 'FAK'] as const)[pick(4)]!,
    });
    known.push(order);
    return order;
  };
  const old = (): Signed => known[pick(known.length)] ?? sign();
  switch (pick(10)) {
    case 0:
      return ['POST', '/orders', bodyOf([old()])];
    case 1:
      return ['DELETE', '/order', JSON.stringify({ orderID: old().id })];
    case 2:
      return ['DELETE', '/orders', JSON.stringify([old().id, 'no id', old().id])];
    case 3:
      return ['POST', '/order', JSON.stringify(sign().item)];
    case 4:
      return ['POST', '/replace', JSON.stringify({ orderID: old().id, ...sign().item })];
    case 5:
      return ['POST', '/orders', ['', '[', '{}', '[{}]', '[1]'][pick(5)]!];
    case 6:
      return pick(5) === 0
        ? ['DELETE', '/cancel-all', '']
        : ['DELETE', '/cancel-market-orders', JSON.stringify({ market: market.conditionId })];
    default:
      return ['POST', '/orders', bodyOf(Array.from({ length: 1 + pick(4) }, sign))];
  }
}

/** Operation of the user stream with the answers of a route. */
function operationsOf(route: string): OperationName[] {
  return OPERATION_NAMES.filter((name) => OPERATIONS[name] === route);
}

describe('any node takes orders', NEEDS_ETCD, () => {
  const on = sharedCluster({ ...TINY, ...LONG, MCP: 'on' });
  test(
    'a follower answers a random stream over HTTP and WebSockets like a single node over HTTP, byte for byte',
    on(async (cluster) => {
      const seed = freshSeed();
      console.log(`seed ${seed}`);
      const random = new Random(seed);
      const pick = (count: number): number => random.below(count);
      const single = await alone(cluster);
      try {
        const [follower] = await followersOf(cluster);
        const traders: Trader[] = [];
        const sockets = new Map<Trader, OrderSocket>();
        for (const name of ['alice', 'bob']) {
          await Trader.join(single, name);
          const trader = await Trader.join(follower!, name);
          traders.push(trader);
          sockets.set(trader, await OrderSocket.open(follower!, trader.trio));
        }
        const known: Signed[] = [];
        for (let i = 0; i < STREAM; i++) {
          const trader = traders[pick(2)]!;
          const [method, path, body] = randomRequest(cluster, trader, known, pick);
          const socket = sockets.get(trader)!;
          const [op] = pick(2) === 0 ? operationsOf(`${method} ${path}`) : [];
          const [here, there] = await Promise.all([
            trader.ask(single, method, path, body),
            op === undefined
              ? trader.ask(follower!, method, path, body)
              : socket
                  .ask(op, body)
                  .then((answer) => ({ ...answer, text: JSON.stringify(answer.body) })),
          ]);
          const shown = ({ status, text }: Pick<Reply, 'status' | 'text'>) => [status, text];
          assert.deepEqual(shown(there), shown(here), `${i}: ${op} ${method} ${path} ${body}`);
        }
        await cluster.level();
        await cluster.booksAreEqual();
        const token = cluster.market.tokenIds[0]!;
        const [here, there] = await Promise.all([book(single, token), book(follower!, token)]);
        assert.deepEqual([there!.bids, there!.asks], [here!.bids, here!.asks]);
      } finally {
        await single.end('SIGKILL');
      }
    }),
  );

  test(
    'a client without a list of nodes works when each request goes to another one',
    on(async (cluster) => {
      const { market, nodes } = cluster;
      const leader = await cluster.leader();
      const SECONDS = 'exchange_cluster_forward_seconds_count';
      const counts = async (): Promise<number[]> => {
        const all = await Promise.all(nodes.map((_, i) => metricsOf(cluster, i)));
        const sumOf = (name: string) => all.reduce((sum, metric) => sum + metric(name), 0);
        const forwarded = ['checked_orders', 'request', 'operation'].map((kind) =>
          sumOf(`exchange_cluster_forwarded_total{kind="${kind}"}`),
        );
        return [...forwarded, sumOf(SECONDS), all[leader]!(SECONDS)];
      };
      const before = await counts();
      let turn = 0;
      const next = (): TestNode => nodes[turn++ % nodes.length]!;
      // The key is used at nodes that may not have it yet.
      const carol = await Trader.join(next(), 'carol');
      for (const node of nodes) {
        const keys = await carol.ask(node, 'GET', '/auth/api-keys');
        assert.deepEqual([keys.status, keys.json], [200, [carol.trio.apiKey]]);
      }
      const orders = Array.from({ length: 9 }, (_, i) =>
        carol.sign({ market, side: 'BUY', ticks: 1 + i, shares: 10 }),
      );
      for (const order of orders) {
        const [result] = await carol.post(next(), [order]);
        assert.deepEqual([result!.orderID, result!.status], [order.id, 'live']);
      }
      for (const node of nodes) {
        const [again] = await carol.post(node, [orders[0]!]);
        assert.deepEqual([again!.orderID, again!.success], [orders[0]!.id, false]);
      }
      const other = carol.sign({ market, side: 'BUY', ticks: 20, shares: 10 });
      const body = JSON.stringify({ orderID: orders[0]!.id, ...other.item });
      const replaced = await carol.ask(next(), 'POST', '/replace', body);
      assert.equal(replaced.status, 200, replaced.text);
      const { canceled } = await carol.cancel(next(), '/order', { orderID: orders[1]!.id });
      assert.deepEqual(canceled, [orders[1]!.id]);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, 8);
      const heartbeat = await carol.ask(next(), 'POST', '/v1/heartbeats', '{}');
      assert.equal(heartbeat.status, 200, heartbeat.text);
      for (const node of nodes) {
        const { heartbeat_id } = heartbeat.json as { heartbeat_id: string };
        const stale = await carol.ask(node, 'POST', '/v1/heartbeats', '{"heartbeat_id":"x"}');
        assert.deepEqual(
          [stale.status, { heartbeat_id, ...plainRefusal(stale.json) }],
          [400, { heartbeat_id, error: 'invalid heartbeat_id', code: 'INVALID_HEARTBEAT' }],
        );
      }
      const all = await carol.cancel(next(), '/cancel-all');
      assert.equal(all.canceled.length, 8);
      const revoked = await carol.ask(next(), 'DELETE', '/auth/api-key');
      assert.deepEqual([revoked.status, revoked.json], [200, { revoked: true }]);
      for (const node of nodes) {
        const late = await carol.postText(node, bodyOf([orders[2]!]));
        assert.equal(late.status, 401);
      }
      // Two thirds of all that was sent came to nodes that follow.
      const after = await counts();
      const [checked = 0, requests = 0, operations, calls = 0, ofLeader] = after.map(
        (count, i) => count - before[i]!,
      );
      // Orders with a key that such a node has not applied yet are forwarded as they came.
      assert(checked >= 1 && checked <= 11, `${checked}`);
      assert(checked + requests >= 14 && calls >= 15, `${checked} ${requests} ${calls}`);
      assert.deepEqual([operations, ofLeader], [0, 0]);
    }),
  );

  test(
    'the tools of a follower place and cancel orders that the leader decides',
    on(async (cluster) => {
      const { market } = cluster;
      const erin = await traderOf(cluster, 'erin');
      const [follower] = await followersOf(cluster);
      assert(follower);
      const agent = await Agent.overHttp(follower, NEWEST, signedBy(erin));
      const order = erin.sign({ market, side: 'BUY', ticks: 1, shares: 5 });
      const placing = { without_preview: true, signed_order: order.item };
      const placed = await agent.call('place', placing);
      assert.deepEqual([placed.order_id, placed.status], [order.id, 'live']);
      const again = await agent.call('place', placing);
      assert.deepEqual([again.order_id, again.status], [order.id, 'live']);
      const { order_ids } = await agent.call('cancel', { order_id: order.id });
      assert.deepEqual(order_ids, [order.id]);
      assert.equal((await agent.refused('cancel', { order_id: order.id })).code, 'ORDER_NOT_OPEN');
      await agent.close();
    }),
  );

  test(
    'every acknowledged order survives kill -9 of the leader under load at both followers',
    on(async (cluster) => {
      const { market } = cluster;
      const dave = await traderOf(cluster, 'dave');
      const leader = await cluster.leader();
      const followers = cluster.nodes.filter((_, i) => i !== leader);
      const taken: string[] = [];
      const others: string[] = [];
      let isOver = false;
      const client = async (node: TestNode): Promise<void> => {
        while (!isOver) {
          const order = dave.sign({ market, side: 'BUY', ticks: 30, shares: 10 });
          const { json, status, text } = await dave.postText(node, bodyOf([order]));
          if (status === 200) taken.push((json as { orderID: string }[])[0]!.orderID);
          else others.push(text);
        }
      };
      const clients = [...followers, ...followers].map(client);
      await until(async () => taken.length > 50, WAIT_MS);
      await cluster.nodes[leader]!.end('SIGKILL');
      const before = taken.length;
      await until(async () => taken.length > before + 50, WAIT_MS);
      isOver = true;
      await Promise.all(clients);
      const unexpected = others.filter(
        (text) => !/outcome unknown|nobody leads|engine busy/.test(text),
      );
      assert.deepEqual(unexpected, []);
      await cluster.run(leader);
      await cluster.level();
      for (const id of taken) {
        const reply = await dave.ask(followers[0]!, 'GET', `/data/order/${id}`);
        assert.equal(reply.status, 200, `${id}: ${reply.text}`);
      }
      const count = taken.length + others.length;
      const [level] = levels((await book(followers[0]!, market.tokenIds[0]!)).bids);
      const shares = Number(level!.split('@')[0]);
      assert(shares >= taken.length * 10 && shares <= count * 10, level);
    }),
  );

  test(
    'an order without a leader waits for CLUSTER_WAIT_MS and is answered 503 with Retry-After',
    on(async (cluster) => {
      const dave = await traderOf(cluster, 'dave');
      const waiting = await cluster.follower();
      await cluster.nodes[waiting]!.stop();
      await cluster.run(waiting, { CLUSTER_WAIT_MS: '50' });
      const follower = cluster.nodes[waiting]!;
      const order = dave.sign({ market: cluster.market, side: 'BUY', ticks: 3, shares: 10 });
      let reply: Reply | undefined;
      let killed = -1;
      // On a slow machine another node may lead before the order is sent: then it is tried again.
      await until(async () => {
        const leader = await cluster.leader();
        if (leader === waiting) {
          const settings = { settings: cluster.settingsOf(leader) };
          await cli(cluster.directories[leader]!, ['cluster', 'handover'], settings);
          return false;
        }
        await cluster.nodes[leader]!.end('SIGKILL');
        reply = await dave.postText(follower, bodyOf([order]));
        killed = leader;
        if (reply.status === 200) await cluster.run(leader);
        return reply.status !== 200;
      }, 3 * WAIT_MS);
      const { headers, json, status } = reply!;
      assert.deepEqual(
        [status, json, headers['retry-after']],
        [
          503,
          {
            error: 'this node of the cluster does not lead',
            detail: 'nobody leads at present',
            code: 'NOT_LEADING',
          },
          '1',
        ],
      );
      const failures = 'exchange_cluster_forward_failures_total{reason="nobody"}';
      const metric = await metricsOf(cluster, waiting);
      assert.equal(metric(failures), 1);
      assert(metric('exchange_cluster_forward_waits_total') >= 1);
      await until(
        async () => (await dave.postText(follower, bodyOf([order]))).status === 200,
        WAIT_MS,
      );
      assert.equal((await get(follower, '/status')).status, 200);
      await cluster.run(killed);
    }),
  );
});
