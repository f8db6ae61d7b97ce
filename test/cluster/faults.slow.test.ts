/** Faults of the whole venue in a cluster: at all nodes, over takeovers, until a clear. Three processes on a real etcd. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FAULT_KINDS, faultRow } from '../../server/faults/kinds.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, type Reply, until } from '../common/node-harness.ts';
import { bodyOf, type Result, type Terms, type Trader } from '../common/traders.ts';
import { type Cluster, NEEDS_ETCD, sharedCluster, traderOf, WAIT_MS } from './whole-cluster.ts';

useCompiledNodes();

/** Above what goes to the leader unchecked. */
const LONG = 120;
const SETTINGS = { FAULTS: 'on', MAX_BATCH_ORDERS: '200' };
const PRICE = 60;
const HOUR = 3_600;
const CANCEL_ONLY = /^503 .*cancel-only/;
const RESTARTING = /^425 .*restarting/;
const POST_ONLY = /^503 .*post_only_mode/;

const all = ({ nodes }: Cluster): number[] => [...nodes.keys()];

function operatorOf(cluster: Cluster, i: number): OperatorNode {
  const { ADMIN_PORT = '' } = cluster.settingsOf(i);
  return OperatorNode.of(cluster.nodes[i]!, cluster.directories[i]!, ADMIN_PORT);
}

/** Kills the leader. Returns the others, one of which leads. */
async function withoutLeader(cluster: Cluster): Promise<readonly [killed: number, left: number[]]> {
  const killed = await cluster.leader();
  await cluster.nodes[killed]!.end('SIGKILL');
  const left = all(cluster).filter((i) => i !== killed);
  await cluster.leader(left);
  return [killed, left];
}

function order(
  cluster: Cluster,
  i: number,
  trader: Trader,
  terms: Omit<Terms, 'market'>,
): Promise<Reply> {
  const { item } = trader.sign({ market: cluster.market, ...terms });
  return trader.ask(cluster.nodes[i]!, 'POST', '/order', JSON.stringify(item));
}

const rests = { side: 'BUY', ticks: 10, shares: 10 } as const;
const matches = { side: 'BUY', ticks: PRICE, shares: 10 } as const;

/** Waits until an order at each of the nodes is answered so. */
async function answersAre(
  cluster: Cluster,
  trader: Trader,
  among: readonly number[],
  expected: RegExp,
  terms: Omit<Terms, 'market'> = rests,
): Promise<void> {
  for (const i of among) {
    let seen = '';
    const isSo = async (): Promise<boolean> => {
      const { status, text } = await order(cluster, i, trader, terms);
      seen = `${status} ${text}`;
      return expected.test(seen);
    };
    await until(isSo, WAIT_MS).catch(() => assert.fail(`n${i}: ${seen}`));
  }
}

/** Waits until each of the nodes shows these faults in GET /status. */
async function shown(
  cluster: Cluster,
  among: readonly number[],
  expected: readonly unknown[],
): Promise<void> {
  for (const i of among) {
    let faults: unknown;
    const isSo = async (): Promise<boolean> => {
      ({ faults } = (await get(cluster.nodes[i]!, '/status')).json as { faults: unknown });
      return JSON.stringify(faults) === JSON.stringify(expected);
    };
    await until(isSo, WAIT_MS).catch(() => assert.fail(`n${i}: ${JSON.stringify(faults)}`));
  }
}

const rowOf = (fault: Readonly<Record<string, unknown>>) => {
  const { ends, id, kind, phase } = fault;
  return { id, kind, of: 'venue', phase, ends };
};

async function resultOf(reply: Promise<Reply>): Promise<Result> {
  const { json, status, text } = await reply;
  assert.equal(status, 200, text);
  return json as Result;
}

async function areDelayed(
  { nodes }: Cluster,
  trader: Trader,
  among: readonly number[],
  ids: readonly string[],
): Promise<void> {
  for (const i of among) {
    for (const id of ids) {
      await until(async () => {
        const { json } = await trader.ask(nodes[i]!, 'GET', `/data/order/${id}`);
        return (json as { status?: string } | null)?.status === 'delayed';
      }, WAIT_MS);
    }
  }
}

describe('faults of the venue in a cluster', NEEDS_ETCD, () => {
  const on = sharedCluster(SETTINGS);
  test(
    'a taker delay that is made at the leader delays orders at each node, over a takeover, until a clear',
    on(async (cluster) => {
      const [alice, bob] = [await traderOf(cluster, 'alice'), await traderOf(cluster, 'bob')];
      const first = await cluster.leader();
      const sale = { side: 'SELL', ticks: PRICE, shares: 1_000 } as const;
      assert.equal((await resultOf(order(cluster, first, bob, sale))).status, 'live');
      const kind = 'taker-delay';
      const fault = { kind, ms: 600_000 };
      const made = rowOf(await operatorOf(cluster, first).done('POST /admin/faults', fault));
      assert.deepEqual(made, { id: kind, kind, of: 'venue', phase: 'on', ends: null });
      await shown(cluster, all(cluster), [made]);
      const ids: string[] = [];
      const delayed = async (i: number): Promise<void> => {
        const { orderID, status } = await resultOf(order(cluster, i, alice, matches));
        assert.equal(status, 'delayed', `n${i}`);
        ids.push(orderID);
      };
      for (const i of all(cluster)) await delayed(i);
      const follower = await cluster.follower();
      const { market } = cluster;
      const long = Array.from({ length: LONG }, (_, i) =>
        alice.sign({ market, ...(i === 0 || i === LONG - 1 ? matches : rests) }),
      );
      const { json } = await alice.postText(cluster.nodes[follower]!, bodyOf(long));
      const results = json as Result[];
      assert.deepEqual(
        results.map(({ status }) => status),
        long.map((_, i) => (i === 0 || i === LONG - 1 ? 'delayed' : 'live')),
      );
      ids.push(results[0]!.orderID, results.at(-1)!.orderID);

      const [killed, left] = await withoutLeader(cluster);
      await shown(cluster, left, [made]);
      await answersAre(cluster, alice, left, /"status":"delayed"/, matches);
      await areDelayed(cluster, alice, left, ids);
      await cluster.run(killed);
      await shown(cluster, all(cluster), [made]);
      await answersAre(cluster, alice, [killed], /"status":"delayed"/, matches);
      await areDelayed(cluster, alice, [killed], ids);

      const cleared = await operatorOf(cluster, await cluster.follower()).done(
        'POST /admin/faults/clear',
        {},
      );
      assert.deepEqual(cleared, { cleared: 1 });
      await shown(cluster, all(cluster), []);
      await answersAre(cluster, alice, all(cluster), /"status":"matched"/, matches);
      // Orders that wait keep their time.
      await areDelayed(cluster, alice, all(cluster), ids);
      const cancel = await alice.ask(
        cluster.nodes[killed]!,
        'DELETE',
        '/orders',
        JSON.stringify(ids),
      );
      const { canceled } = cancel.json as { canceled: string[] };
      assert.deepEqual(canceled.toSorted(), ids.toSorted());
      await cluster.level();
    }),
  );

  test(
    'a restart and cancel-only that are made at the leader refuse at each node, over a takeover, until a clear',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      const { orderID } = await resultOf(order(cluster, await cluster.leader(), alice, rests));
      const cancelAt = (i: number, id: string): Promise<Reply> =>
        alice.ask(cluster.nodes[i]!, 'DELETE', '/order', JSON.stringify({ orderID: id }));
      const operator = operatorOf(cluster, await cluster.leader());
      const cancelOnly = rowOf(await operator.done('POST /admin/faults', { kind: 'cancel-only' }));
      await answersAre(cluster, alice, all(cluster), CANCEL_ONLY);
      const restart = { kind: 'restart', seconds: HOUR };
      const restarting = rowOf(await operator.done('POST /admin/faults', restart));
      await answersAre(cluster, alice, all(cluster), RESTARTING);
      for (const i of all(cluster)) assert.equal((await cancelAt(i, orderID)).status, 425, `n${i}`);
      await shown(cluster, all(cluster), [restarting, cancelOnly]);

      const [killed, left] = await withoutLeader(cluster);
      await answersAre(cluster, alice, left, RESTARTING);
      await cluster.run(killed);
      await answersAre(cluster, alice, [killed], RESTARTING);
      await shown(cluster, all(cluster), [restarting, cancelOnly]);

      const follower = await cluster.follower();
      const byFollower = operatorOf(cluster, follower);
      assert.deepEqual(await byFollower.done('POST /admin/faults/clear', { id: 'restart' }), {
        cleared: 1,
      });
      await answersAre(cluster, alice, all(cluster), CANCEL_ONLY);
      const cancelled = await cancelAt(follower, orderID);
      assert.deepEqual((cancelled.json as { canceled: string[] }).canceled, [orderID]);
      const byLeader = operatorOf(cluster, await cluster.leader());
      assert.deepEqual(await byLeader.done('POST /admin/faults/clear', {}), { cleared: 1 });
      await shown(cluster, all(cluster), []);
      await answersAre(cluster, alice, all(cluster), /"status":"live"/);
    }),
  );

  test(
    'a restart turns to its second phase at each node, and a clear ends that too',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      const operator = operatorOf(cluster, await cluster.leader());
      await operator.done('POST /admin/faults', { kind: 'restart', seconds: 1 });
      await answersAre(cluster, alice, all(cluster), POST_ONLY);
      const postOnly = { ...rests, postOnly: true };
      await answersAre(cluster, alice, all(cluster), /^200 .*"status":"live"/, postOnly);
      assert.deepEqual(await operator.done('POST /admin/faults/clear', {}), { cleared: 1 });
      await answersAre(cluster, alice, all(cluster), /^200 .*"status":"live"/);
      await shown(cluster, all(cluster), []);
    }),
  );

  test(
    'what cannot hold in a cluster is refused by name, to an operator of any node and to a key',
    on(async (cluster) => {
      const alice = await traderOf(cluster, 'alice');
      const follower = await cluster.follower();
      const ofOne = FAULT_KINDS.filter((kind) => !faultRow(kind).ofVenue);
      assert(ofOne.length > 0);
      const refused = [
        ...ofOne.map((kind) => ({ kind, count: 1 })),
        { kind: 'disabled', wallet: alice.address },
        { kind: 'taker-delay', market: cluster.market.conditionId },
      ];
      for (const i of [await cluster.leader(), follower]) {
        for (const fault of refused) {
          const { json, status } = await operatorOf(cluster, i).call('POST /admin/faults', fault);
          assert.deepEqual([status, json.code], [409, 'NOT_IN_A_CLUSTER'], fault.kind);
          assert.match(String(json.detail), new RegExp(`^${fault.kind} `));
        }
      }
      const own = JSON.stringify({ kind: 'lost-answer', count: 1 });
      const { json, status } = await alice.ask(cluster.nodes[follower]!, 'POST', '/faults', own);
      const { code, detail } = json as { code: string; detail: string };
      assert.deepEqual([status, code], [409, 'NOT_IN_A_CLUSTER']);
      assert.match(detail, /^lost-answer /);
      await shown(cluster, all(cluster), []);
      await answersAre(cluster, alice, all(cluster), /^200 .*"status":"live"/);
    }),
  );
});
