import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromMicro, NodeClient, type Placed, Wallet } from '../../client/client.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  type BookJson,
  get,
  send,
  TestNode,
  temporaryDirectory,
  until,
} from '../common/node-harness.ts';
import {
  NEEDS_ETCD,
  placed,
  type Status,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const LEVELS = 20;
/** Longer than the heartbeat timeout after which a read counts as stale. */
const STOPPED_MS = 4_000;
const ROUNDS = 3;
const READS = 8;

describe('a cluster of three nodes', NEEDS_ETCD, () => {
  const on = sharedCluster();
  test(
    'one of three nodes leads, and all show the same book',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      for (let i = 1; i <= LEVELS; i++) await placed(cluster, alice, i);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, LEVELS);
      const leader = await cluster.leader();
      for (const i of cluster.nodes.keys()) {
        await until(async () => {
          const { cluster: facts, status } = await cluster.statusOf(i);
          return facts.leader === `n${leader}` && facts.node === `n${i}` && status === 'ok';
        }, WAIT_MS);
      }
    }),
  );

  test(
    'another node accepts orders after kill -9 of the leader, and nothing acknowledged is lost',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      for (let i = 1; i <= LEVELS; i++) await placed(cluster, alice, i);
      const first = await cluster.leader();
      await cluster.nodes[first]!.end('SIGKILL');
      const others = cluster.nodes.map((_, i) => i).filter((i) => i !== first);
      const ms = await placed(cluster, alice, LEVELS + 1, others);
      console.log(`first acknowledged order ${Math.round(ms)} ms after the kill`);
      await cluster.run(first);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, LEVELS + 1);
    }),
  );

  test(
    'a client of all nodes places each order once when the leader is killed',
    on(async (cluster) => {
      const urls = cluster.nodes.map(({ port }) => `http://127.0.0.1:${port}`);
      const wallet = Wallet.fromSeed('failover');
      const client = await NodeClient.connect(urls, { wallet, patienceMs: WAIT_MS });
      const terms = { tokenId: cluster.market.tokenIds[0]!, side: 'BUY', size: '10' } as const;
      const first = await cluster.leader();
      const placing: Promise<Placed>[] = [];
      for (let i = 1; i <= LEVELS; i++) {
        placing.push(client.orders.post({ ...terms, price: fromMicro(BigInt(i) * 10_000n) }));
        if (i === LEVELS / 2) await Promise.all([...placing, cluster.nodes[first]!.end('SIGKILL')]);
      }
      const placed = await Promise.all(placing);
      assert.deepEqual([...new Set(placed.map(({ status }) => status))], ['live']);
      const open: string[] = [];
      for await (const { id } of client.orders.open()) open.push(id);
      assert.deepEqual(open.sort(), placed.map(({ id }) => id).sort());
      client.close();
      await cluster.run(first);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, LEVELS);
    }),
  );

  test(
    'a leader that was stopped for seconds has acknowledged nothing since, and follows by itself',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      await placed(cluster, alice, 1);
      const first = await cluster.leader();
      const stopped = cluster.nodes[first]!;
      process.kill(stopped.pid, 'SIGSTOP');
      const others = cluster.nodes.map((_, i) => i).filter((i) => i !== first);
      await placed(cluster, alice, 2, others);
      const late = alice.sign({ market: cluster.market, side: 'BUY', ticks: 3, shares: 10 });
      const answering = alice.postText(stopped, JSON.stringify([late.item])).catch(() => undefined);
      process.kill(stopped.pid, 'SIGCONT');
      assert.notEqual((await answering)?.status, 200);
      await until(async () => {
        const status = await cluster.statusOf(first).catch(() => undefined);
        return status?.cluster.role === 'follower' && status.status === 'ok';
      }, WAIT_MS);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, 2);
    }),
  );

  test(
    'orders are refused and reads are marked as stale while etcd does not answer',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      await placed(cluster, alice, 1);
      const leader = cluster.nodes[await cluster.leader()]!;
      const stale = async (): Promise<unknown> => (await get(leader, '/status')).headers['x-stale'];
      await until(async () => (await stale()) === undefined, WAIT_MS);
      for (const member of cluster.etcd.members) member.pause();
      await until(async () => (await stale()) === 'true', WAIT_MS);
      // Reads say so at once, orders pause at its next look.
      const status = async (): Promise<Status> => (await get(leader, '/status')).json as Status;
      await until(async () => (await status()).status === 'read-only', WAIT_MS);
      const order = alice.sign({ market: cluster.market, side: 'BUY', ticks: 2, shares: 10 });
      const refused = await alice.postText(leader, JSON.stringify([order.item]));
      assert.equal(refused.status, 503);
      for (const member of cluster.etcd.members) member.resume();
      await placed(cluster, alice, 3);
      await cluster.level();
      assert.equal((await cluster.booksAreEqual()).length, 2);
      await until(
        async () => (await get(cluster.nodes[0]!, '/status')).headers['x-stale'] === undefined,
        WAIT_MS,
      );
    }),
  );

  test(
    'a node whose LEDGER differs from the cluster is refused, also a new one',
    on(async (cluster) => {
      const leader = await cluster.leader();
      const [at = 0] = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
      const kept = cluster.settingsOf(at);
      await cluster.nodes[at]!.stop();
      const fresh = temporaryDirectory();
      for (const directory of [cluster.directories[at]!, fresh]) {
        const { code, log } = await TestNode.refuse(directory, { ...kept, LEDGER: 'on' });
        const why = /error LEDGER=on: the cluster \S+ was begun without a ledger\nto start what/;
        assert.deepEqual([code, why.test(log)], [2, true], log);
      }
      await cluster.run(at);
      const status = (await get(cluster.nodes[at]!, '/status')).json as { readonly mode: unknown };
      const off = { ledger: false, demo: false, mirror: false, play: false, invites: false };
      assert.deepEqual(status.mode, { ...off, cluster: true });
      await cluster.level();
    }),
  );

  test(
    'a node whose settings accept other signatures than the cluster does is refused by their names',
    on(async (cluster) => {
      const leader = await cluster.leader();
      const [at = 0] = cluster.nodes.map((_, i) => i).filter((i) => i !== leader);
      const kept = cluster.settingsOf(at);
      const { status } = await get(cluster.nodes[at]!, '/status');
      assert.equal(status, 200);
      await cluster.nodes[at]!.stop();
      const other = `0x${'ab'.repeat(20)}`;
      const wrong = {
        CHAIN_ID: '1',
        VERIFY_SIGNATURES: 'off',
        EXCHANGE_ADDRESS: other,
        NEG_RISK_EXCHANGE_ADDRESS: other,
        EXCHANGE_ADDRESS_2: other,
        NEG_RISK_EXCHANGE_ADDRESS_2: other,
        ORDER_VERSION: 'both',
        EIP712_DOMAIN_NAME: 'Another',
        EIP712_DOMAIN_VERSION: '3',
        PROXY_WALLET_FACTORY: `${other}:0x${'cd'.repeat(32)}`,
        SAFE_WALLET_FACTORY: `${other}:0x${'cd'.repeat(32)}`,
      };
      const { CHAIN_ID, ...rest } = wrong;
      const { code, log } = await TestNode.refuse(cluster.directories[at]!, { ...kept, ...rest });
      assert.equal(code, 2, log);
      for (const [variable, value] of Object.entries(rest)) {
        const line = `${variable} is ${value}, that of the cluster `;
        assert(log.includes(line), `${line}: ${log}`);
      }
      // A directory with API keys has its own chain; a new one has none.
      for (const directory of [cluster.directories[at]!, temporaryDirectory()]) {
        const chained = await TestNode.refuse(directory, { ...kept, CHAIN_ID });
        assert.deepEqual([chained.code, /CHAIN_ID/.test(chained.log)], [2, true], chained.log);
      }
      // The same address in other letters is the same one.
      const text = '0xB5592f7CccA122558D2201e190826276f3a661cb'.toLowerCase();
      await cluster.run(at, { EXCHANGE_ADDRESS: text });
      await cluster.level();
      await cluster.isReady(at);
    }),
  );

  test(
    'a follower that was stopped for seconds marks the first read as stale, or answers it anew',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      await placed(cluster, alice, 1);
      await cluster.level();
      const at = await cluster.follower();
      const others = [...cluster.nodes.keys()].filter((i) => i !== at);
      const stopped = cluster.nodes[at]!;
      const path = `/book?token_id=${cluster.market.tokenIds[0]!}`;
      await until(async () => (await get(stopped, path)).headers['x-stale'] === undefined, WAIT_MS);
      const agent = new Agent({ keepAlive: true, maxSockets: READS });
      const read = () => send(stopped, 'GET', path, {}, '', agent);
      const reads = () => Promise.all(Array.from({ length: READS }, read));
      for (let round = 0; round < ROUNDS; round++) {
        // What comes by an open connection is answered as soon as the node runs again.
        await reads();
        process.kill(stopped.pid, 'SIGSTOP');
        await placed(cluster, alice, 10 + round, others);
        await sleep(STOPPED_MS);
        const reading = reads();
        await sleep(STOPPED_MS / 10);
        process.kill(stopped.pid, 'SIGCONT');
        for (const { headers, json } of await reading) {
          const levels = (json as BookJson).bids.length;
          assert(headers['x-stale'] === 'true' || levels === 2 + round, `${levels} levels`);
        }
        await until(async () => {
          const { headers, json } = await get(stopped, path);
          const isCurrent = headers['x-stale'] === undefined;
          assert(!isCurrent || (json as BookJson).bids.length === 2 + round, 'old, without a mark');
          return isCurrent;
        }, WAIT_MS);
      }
      agent.destroy();
    }),
  );
});
