/** A write at one node is read at another one by its X-Sequence. Three processes on a real etcd. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { NodeClient } from '../../client/client.ts';
import { level2 } from '../../client/credentials.ts';
import { Wallet } from '../../client/wallet.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { type Reply, send, type TestNode, until } from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import { bodyOf, seconds, Trader } from '../common/traders.ts';
import { NEEDS_ETCD, PATIENT, sharedCluster, traderOf } from './whole-cluster.ts';

useCompiledNodes();
const ROUNDS = 60;
const KEYS = 30;
/**
 * Keys that may be refused: a node that stands still for more than a second has not got them yet.
 */
const LATE_MAX = 6;
const BEHIND = 503;

const on = sharedCluster(PATIENT);

/**
 * A private read that must include the write `written`; repeated where that takes longer than a
 * second.
 */
async function read(node: TestNode, trader: Trader, path: string, written: Reply): Promise<Reply> {
  const sequence = String(written.headers['x-sequence']);
  assert.match(sequence, /^\d+$/, written.text);
  let reply: Reply | undefined;
  await until(async () => {
    const headers = level2('SERVICE', trader.address, trader.trio, 'GET', path, '', seconds());
    reply = await send(node, 'GET', path, { ...headers, 'X-Min-Sequence': sequence });
    return reply.status !== BEHIND;
  });
  return reply!;
}

test(
  'a write at any node is read at any other one',
  NEEDS_ETCD,
  on(async (cluster) => {
    const { market, nodes } = cluster;
    const alice = await traderOf(cluster, 'alice');
    const leader = await cluster.leader();
    for (let i = 0; i < ROUNDS; i++) {
      const writer = nodes[i % nodes.length]!;
      // Whoever leads is the last one that has to wait.
      const reader = nodes.filter((node, at) => node !== writer && at !== leader)[0]!;
      const order = alice.sign({ market, side: 'BUY', ticks: 1 + (i % 90), shares: 10 });
      const placed = await alice.postText(writer, bodyOf([order]));
      const shown = await read(reader, alice, `/data/order/${order.id}`, placed);
      assert.equal(shown.status, 200, `round ${i}: ${shown.text}`);
      const body = JSON.stringify({ orderID: order.id });
      const canceled = await alice.ask(writer, 'DELETE', '/order', body);
      const gone = await read(reader, alice, `/data/order/${order.id}`, canceled);
      assert.equal((gone.json as { status: string }).status, 'canceled', `round ${i}`);
      const issued = await alice.ask(writer, 'POST', '/auth/readonly-api-key');
      const { apiKey } = issued.json as { apiKey: string };
      const keys = await read(reader, alice, '/auth/readonly-api-keys', issued);
      assert(keys.text.includes(apiKey), `round ${i}: ${keys.text}`);
    }
  }),
);

test(
  'a stream is opened with a key that another node has just issued',
  NEEDS_ETCD,
  on(async (cluster) => {
    const leader = await cluster.leader();
    const [follower, third] = cluster.nodes.filter((_, i) => i !== leader);
    let late = 0;
    for (let i = 0; i < KEYS; i++) {
      const writer = [cluster.nodes[leader]!, third!][i % 2]!;
      const { trio } = await Trader.join(writer, `stream ${i}`);
      const client = await SocketClient.open(follower!, '/ws/user');
      client.send({ type: 'user', auth: trio });
      const events = await client.upToNow().catch(() => undefined);
      if (events === undefined || events[0]?.error === 'invalid_auth') late += 1;
      else assert.deepEqual(events, [], `round ${i}`);
      client.cut();
    }
    assert(late <= LATE_MAX, `${late} of ${KEYS} keys were refused`);
    const { trio } = await Trader.join(third!, 'stranger');
    const client = await SocketClient.open(follower!, '/ws/user');
    client.send({ type: 'user', auth: { ...trio, apiKey: trio.apiKey.replace(/.$/, '?') } });
    assert.equal((await client.json()).error, 'invalid_auth');
  }),
);

async function balancer(nodes: readonly TestNode[]): Promise<Server> {
  let turn = 0;
  const server = createServer((incoming, answer) => {
    const { headers, method, url } = incoming;
    const { port } = nodes[turn++ % nodes.length]!;
    const options = { host: '127.0.0.1', port, path: url, method, headers };
    const outgoing = request(options, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test(
  'a client behind a load balancer reads its own writes on request',
  NEEDS_ETCD,
  on(async ({ market, nodes }) => {
    const server = await balancer(nodes);
    const { port } = server.address() as AddressInfo;
    const wallet = Wallet.fromSeed('own writes');
    const common = { wallet, readsOwnWrites: true };
    const client = await NodeClient.connect(`http://127.0.0.1:${port}`, common);
    const other = await NodeClient.connect(`http://127.0.0.1:${nodes[0]!.port}`, common);
    try {
      const [tokenId = ''] = market.tokenIds;
      for (let i = 0; i < ROUNDS; i++) {
        const before = client.sequence;
        const { id } = await client.orders.post({
          tokenId,
          side: 'BUY',
          price: '0.1',
          size: '9',
        });
        assert(client.sequence > before, `${client.sequence} after ${before}`);
        assert.equal((await client.orders.get(id))?.status, 'live', `round ${i}`);
        other.showFrom(client.sequence);
        assert.equal((await other.orders.get(id))?.status, 'live', `round ${i}, other client`);
      }
    } finally {
      client.close();
      other.close();
      server.closeAllConnections();
      server.close();
    }
  }),
);
