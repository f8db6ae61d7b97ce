import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readToken } from '../../server/admin/token-file.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { catalogFile, get, until } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { cli, type Ended } from '../common/run-cli.ts';
import { seeded } from '../storage/stored-exchange.ts';
import {
  type Cluster,
  NEEDS_ETCD,
  PATIENT,
  placed,
  type Status,
  sharedCluster,
  traderOf,
  WAIT_MS,
} from './whole-cluster.ts';

useCompiledNodes();
const KILLS = SHORT === false ? 6 : 2;
const KILL_MS_MAX = 1_500;
const sum = (a: number, b: number): number => a + b;

interface Catalog {
  readonly served: string | null;
  readonly missing: string | null;
}

async function catalogOf(cluster: Cluster, i: number): Promise<Catalog> {
  const { cluster: facts } = (await get(cluster.nodes[i]!, '/status')).json as Status & {
    cluster: { catalog: string | null; catalog_missing: string | null };
  };
  return { served: facts.catalog, missing: facts.catalog_missing };
}

async function imported(cluster: Cluster, i: number, ...ids: number[]): Promise<Ended> {
  return importedBy(cluster, i, ids);
}

async function importedBy(
  cluster: Cluster,
  i: number,
  ids: readonly number[],
  ...options: string[]
): Promise<Ended> {
  const file = join(cluster.directories[i]!, 'catalog.json');
  writeFileSync(file, JSON.stringify(catalogFile(ids.map((id) => ({ id })))));
  const settings = cluster.settingsOf(i);
  return cli(cluster.directories[i]!, ['catalog', 'import', file, ...options], { settings });
}

async function marketsAt(cluster: Cluster, i: number): Promise<string> {
  const { json } = await get(cluster.nodes[i]!, '/markets?limit=500');
  return (json as { id: string }[])
    .map(({ id }) => id)
    .sort()
    .join();
}

/** Waits for a condition; a node that resyncs cannot be reached. */
function settles(condition: () => Promise<boolean>): Promise<void> {
  return until(() => condition().catch(() => false), WAIT_MS);
}

async function serve(cluster: Cluster, nodes: readonly number[], markets: string): Promise<void> {
  await settles(async () => {
    const served = await Promise.all(nodes.map((i) => catalogOf(cluster, i)));
    if (served.some(({ missing }) => missing !== null)) return false;
    if (new Set(served.map((it) => it.served)).size > 1) return false;
    const listed = await Promise.all(nodes.map((i) => marketsAt(cluster, i)));
    return listed.every((it) => it === markets);
  });
}

async function operated(cluster: Cluster, i: number, path: string, body: object) {
  const { ADMIN_PORT } = cluster.settingsOf(i);
  const answer = await fetch(`http://127.0.0.1:${ADMIN_PORT}/admin/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${readToken(cluster.directories[i]!)}` },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

const ALL = [0, 1, 2];

/** Clusters begin with market 1; the tests of one cluster build on one another. */
const patiently = sharedCluster(PATIENT, 1);
const withLedger = sharedCluster({ LEDGER: 'on', ...PATIENT }, 1);
const on = sharedCluster({}, 1);

test(
  'an import at the leader is in use on all nodes, and is refused elsewhere',
  NEEDS_ETCD,
  patiently(async (cluster) => {
    const leader = await cluster.leader();
    const other = (leader + 1) % 3;
    const { code, stderr } = await imported(cluster, leader, 1, 2);
    assert.equal(code, 0, stderr);
    await serve(cluster, ALL, '1,2');
    const refused = await imported(cluster, other, 1, 2, 3);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, new RegExp(`does not lead its cluster: .* at n${leader}`));
    const edit = await operated(cluster, other, 'events', { title: 'elsewhere' });
    // What an operator makes there, the leader makes.
    assert.equal(edit.status, 200, JSON.stringify(edit.json));
    await serve(cluster, ALL, '1,2');
    // The same again changes nothing anywhere.
    assert.equal((await imported(cluster, leader, 1, 2)).code, 0);
    await serve(cluster, ALL, '1,2');
    await cluster.level();
    await cluster.nodes[other]!.stop();
    const offline = await imported(cluster, other, 1);
    assert.match(offline.stderr, /a catalog of a cluster changes while its node runs: start it/);
    await cluster.run(other);
  }),
);

test(
  'a node that was down, one without its catalog, and one that stood still get the catalog in use',
  NEEDS_ETCD,
  patiently(async (cluster) => {
    const leader = await cluster.leader();
    const [down, still] = ALL.filter((i) => i !== leader) as [number, number];
    await serve(cluster, ALL, '1,2');
    await cluster.nodes[down]!.end('SIGKILL');
    const first = await imported(cluster, leader, 1, 2, 3);
    assert.equal(first.code, 0, first.stderr);
    await serve(cluster, [leader, still], '1,2,3');
    await cluster.run(down);
    await serve(cluster, ALL, '1,2,3');
    assert.match(cluster.nodes[down]!.log, /is here, of/);
    await cluster.nodes[down]!.end('SIGKILL');
    rmSync(join(cluster.directories[down]!, 'catalog'), { recursive: true });
    await cluster.run(down);
    await serve(cluster, ALL, '1,2,3');
    process.kill(cluster.nodes[still]!.pid, 'SIGSTOP');
    const second = await imported(cluster, leader, 1, 2, 3, 4);
    process.kill(cluster.nodes[still]!.pid, 'SIGCONT');
    assert.equal(second.code, 0, second.stderr);
    await serve(cluster, ALL, '1,2,3,4');
  }),
);

interface Listed {
  readonly conditionId: string;
  readonly clobTokenIds: string;
  readonly outcomes: string;
}

test(
  'outcomes in the order of a peer of an earlier release are in the registered order on all nodes',
  NEEDS_ETCD,
  withLedger(async (cluster) => {
    const leader = await cluster.leader();
    await serve(cluster, ALL, '1');
    const shown = async (i: number): Promise<string[]> => {
      const { json } = await get(cluster.nodes[i]!, '/markets/1');
      const { clobTokenIds, outcomes } = json as Listed;
      return [outcomes, clobTokenIds];
    };
    const registered = await shown(leader);
    const turned = JSON.stringify(catalogFile([{ id: 1 }, { id: 2 }])).replaceAll(
      /"(outcomes|clobTokenIds)":"\[(.*?),(.*?)\]"/g,
      '"$1":"[$3,$2]"',
    );
    const read = readCatalog(JSON.parse(turned));
    assert(read.ok);
    // Past the import, which would have put it in order.
    const store = openCatalog(cluster.directories[leader]!, { durability: 'flushed' });
    await store.replace(read.catalog);
    await store.close();
    await serve(cluster, ALL, '1,2');
    const line = 'the catalog names outcomes in the order of the engine now';
    await settles(async () => cluster.nodes[leader]!.log.includes(line));
    await serve(cluster, ALL, '1,2');
    for (const i of ALL) assert.deepEqual(await shown(i), registered, `n${i}`);
    const file = join(cluster.directories[leader]!, 'turned.json');
    writeFileSync(file, turned);
    const settings = cluster.settingsOf(leader);
    const again = await cli(cluster.directories[leader]!, ['catalog', 'import', file], {
      settings,
    });
    assert.match(again.stdout, /^1 markets name their outcomes in another order/m, again.stderr);
    await serve(cluster, ALL, '1,2');
    for (const i of ALL) assert.deepEqual(await shown(i), registered, `n${i}`);
  }),
);

test(
  'markets that an operator creates and resolves are equal on all nodes',
  NEEDS_ETCD,
  withLedger(async (cluster) => {
    const leader = await cluster.leader();
    const made = await operated(cluster, leader, 'markets', {
      question: 'Will it travel?',
      outcomes: ['Yes', 'No'],
    });
    assert.equal(made.status, 200, JSON.stringify(made.json));
    const condition = made.json.condition as string;
    const path = `/markets?condition_ids=${condition}`;
    const shown = async (): Promise<readonly string[]> =>
      Promise.all(ALL.map(async (i) => JSON.stringify((await get(cluster.nodes[i]!, path)).json)));
    const areAll = async (text: string): Promise<boolean> => {
      const texts = await shown();
      return texts.every((it) => it === texts[0] && it.includes(text));
    };
    await until(() => areAll('Will it travel?'), WAIT_MS);
    const resolved = await operated(cluster, leader, 'markets/resolve', {
      condition,
      payout: [1, 0],
    });
    assert.equal(resolved.status, 200, JSON.stringify(resolved.json));
    await until(() => areAll('"umaResolutionStatus":"resolved"'), WAIT_MS);
    const served = await Promise.all(ALL.map((i) => catalogOf(cluster, i)));
    assert.equal(new Set(served.map((it) => it.served)).size, 1);
  }),
);

test(
  'all nodes have one catalog after kill -9 of the leader at any time of an import',
  NEEDS_ETCD,
  on(async (cluster) => {
    await serve(cluster, ALL, '1');
    let before = '1';
    await seeded(async (random) => {
      for (let i = 2; i < 2 + KILLS; i++) {
        const leader = await cluster.leader();
        const ending = imported(cluster, leader, 1, i).catch(() => undefined);
        const offers = (): number =>
          cluster.nodes.map(({ log }) => log.split('offers catalog').length).reduce(sum);
        const offered = offers();
        let isOver = false;
        void ending.then(() => {
          isOver = true;
        });
        // It offers nothing where the node has lost the lead meanwhile.
        await until(() => offers() > offered || isOver, WAIT_MS);
        // From the offer until after it is in use.
        await sleep(random.between(0, KILL_MS_MAX));
        await cluster.nodes[leader]!.end('SIGKILL');
        const others = ALL.filter((it) => it !== leader);
        await cluster.leader(others);
        await cluster.run(leader);
        const ended = await ending;
        let settled = before;
        await settles(async () => {
          settled = await marketsAt(cluster, leader);
          const listed = await Promise.all(others.map((it) => marketsAt(cluster, it)));
          const served = await Promise.all(ALL.map((it) => catalogOf(cluster, it)));
          return (
            listed.every((it) => it === settled) &&
            served.every((it) => it.missing === null && it.served === served[0]!.served)
          );
        });
        assert([before, `1,${i}`].includes(settled), settled);
        if (ended?.code === 0) assert.equal(settled, `1,${i}`, 'an import that succeeded stays');
        console.log(`${ended?.code === 0 ? 'done' : 'not done'}, then markets ${settled}`);
        before = settled;
      }
    });
    const leader = await cluster.leader();
    const last = await imported(cluster, leader, 1, 99);
    assert.equal(last.code, 0, last.stderr);
    await serve(cluster, ALL, '1,99');
    await cluster.level();
  }),
);

test(
  'a leader without the catalog in use changes no market and refuses edits',
  NEEDS_ETCD,
  on(async (cluster) => {
    const alice = await traderOf(cluster, 'alice');
    const leader = await cluster.leader();
    const [other, down] = ALL.filter((i) => i !== leader) as [number, number];
    await cluster.nodes[down]!.end('SIGKILL');
    const { code, stderr } = await imported(cluster, leader, 1, 2);
    assert.equal(code, 0, stderr);
    await serve(cluster, [leader, other], '1,2');
    await Promise.all([leader, other].map((i) => cluster.nodes[i]!.end('SIGKILL')));
    await cluster.run(down);
    await cluster.leader([down]);
    await until(async () => (await catalogOf(cluster, down)).missing !== null, WAIT_MS);
    assert.equal(await marketsAt(cluster, down), '1,99');
    const read = readCatalog(catalogFile([{ id: 2 }]));
    assert(read.ok);
    cluster.market = read.catalog.markets[0]!;
    await placed(cluster, alice, 5, [down]);
    const edit = await operated(cluster, down, 'events', { title: 'of an old catalog' });
    assert.equal(edit.status, 503);
    assert.match(JSON.stringify(edit.json), /the generation in use is not here/);
    const forced = await importedBy(cluster, down, [1, 2, 3], '--force');
    assert.equal(forced.code, 0, forced.stderr);
    await serve(cluster, [down], '1,2,3');
    await Promise.all([leader, other].map((i) => cluster.run(i)));
    await serve(cluster, ALL, '1,2,3');
    await cluster.level();
  }),
);
