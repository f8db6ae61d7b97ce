/**
 * Projections of a node: fills are in LMDB soon, a kill at any moment leaves no gap, and a deleted
 * LMDB is made again.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDerivedTables, positionOf } from '../../storage/projection/derived.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { bodyOf, type Signed, Trader } from '../common/traders.ts';

useCompiledNodes();
/** Frequent snapshots, so that kills hit all work of the projector. */
const SETTINGS = { IMAGE_BATCHES: '12', LOG_SEGMENT_BYTES: '65536' };

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
let node = await TestNode.start(dataDir, SETTINGS);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

/** Number of fills in LMDB, which have no gap and agree with the stored position. */
async function derivedFills(): Promise<number> {
  const tables = openDerivedTables(dataDir, { durability: 'flushed', readOnly: true });
  const { fills } = positionOf(tables);
  let next = 0;
  for (const [sequence] of tables.fills.range(0, fills + 1)) {
    assert.equal(sequence, next, 'without a gap');
    next += 1;
  }
  assert.equal(next, fills);
  await tables.root.close();
  return fills;
}

async function trades(): Promise<unknown[]> {
  return (await get(node, '/trades?limit=10000')).json as unknown[];
}

/** The one position of a trader; `undefined` while it has none. */
async function held({
  address,
}: Trader): Promise<{ size: number; initialValue: number } | undefined> {
  const { json, status } = await get(node, `/positions?user=${address}`);
  return status === 200 ? (json as { size: number; initialValue: number }[])[0] : undefined;
}

async function trade(count: number): Promise<void> {
  const sales: Signed[] = [];
  const purchases: Signed[] = [];
  for (let i = 0; i < count; i++) {
    const terms = { market: market as NonNullable<typeof market>, ticks: 50, shares: 5 };
    sales.push(alice.sign({ ...terms, side: 'SELL' }));
    purchases.push(bob.sign({ ...terms, side: 'BUY' }));
  }
  assert.equal((await alice.postText(node, bodyOf(sales))).status, 200);
  assert.equal((await bob.postText(node, bodyOf(purchases))).status, 200);
}

test('a fill is in LMDB soon after the answer to its order', async () => {
  await trade(20);
  await until(async () => (await derivedFills()) >= 20);
  assert.equal(await derivedFills(), 20);
});

interface Status {
  readonly status: string;
  readonly log: { readonly sequence: number };
  readonly follower: { readonly sequence: number; readonly behind: number; behind_ms: number };
  readonly image: { readonly sequence: number; readonly age_seconds: number } | null;
}

async function status(): Promise<Status> {
  return (await get(node, '/status')).json as Status;
}

test('a node reports the positions of log, projector and snapshots', async () => {
  const before = await status();
  const loads = Array.from({ length: 8 }, () => trade(5));
  for (let i = 0; i < 20; i++) {
    const { follower, log, status: taken } = await status();
    assert.equal(taken, 'ok');
    assert.equal(log.sequence - follower.sequence, follower.behind);
  }
  await Promise.all(loads);
  await until(async () => (await status()).follower.behind === 0);
  const after = await status();
  assert(after.log.sequence > before.log.sequence);
  assert.equal(after.follower.behind_ms, 0);
  while ((await status()).image === null) await trade(1);
  const { image, log } = await status();
  assert(image !== null && image.sequence > 0 && image.sequence <= log.sequence);
  assert(image.age_seconds < 60);
});

test('a node projects without a gap after kills in transactions, segments and snapshots', async () => {
  for (let round = 0; round < (SHORT ? 1 : 3); round++) {
    const load = async (): Promise<void> => {
      for (;;) await trade(5);
    };
    const loads = [load(), load()].map((one) => one.catch(() => undefined));
    await sleep(100 + Math.random() * 300);
    await node.end('SIGKILL');
    await Promise.all(loads);
    assert((await derivedFills()) > 0);
    node = await TestNode.start(dataDir, SETTINGS);
    assert.doesNotMatch(node.log, /projections: made again/, 'they go on where they were');
    const { length } = await trades();
    await until(async () => (await derivedFills()) === length);
  }
});

test('deleted LMDB data is made again from log and snapshots', {
  skip: SHORT,
}, async () => {
  const before = await trades();
  const size = 5 * before.length;
  await until(async () => (await held(bob))?.size === size);
  const [position, sold] = [await held(bob), await held(alice)];
  assert.deepEqual([position?.initialValue, sold?.size], [size / 2, -size]);
  await node.stop();
  for (const name of ['derived', 'projections']) rmSync(join(dataDir, name), { recursive: true });
  node = await TestNode.start(dataDir, SETTINGS);
  assert.deepEqual(await trades(), before);
  await until(async () => (await held(bob))?.size === size);
  assert.deepEqual([await held(bob), await held(alice)], [position, sold]);
  await until(async () => (await derivedFills()) === before.length);
  assert.doesNotMatch(node.log, /fills .* are gone/, 'the snapshots have all of them');
  await trade(5);
  await until(async () => (await derivedFills()) === before.length + 5);
  await node.stop();
});
