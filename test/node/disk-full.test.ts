/**
 * A disk that is full or cannot be written: no acknowledged order is lost, reads go on, and the
 * node recovers by itself once it can write again. Real tmpfs mounts; skipped where mounting is not
 * allowed.
 */
import assert from 'node:assert/strict';
import { appendFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  get,
  levels,
  remount,
  smallDisk,
  statusOf,
  TestNode,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { bodyOf, type Result, type Signed, Trader } from '../common/traders.ts';

useCompiledNodes();
const UNAVAILABLE = { error: 'journal unavailable', code: 'JOURNAL_UNAVAILABLE' };

const mounted = smallDisk('3m');
const disk = mounted ?? '';
const skip = SHORT || (mounted === undefined && 'mounting a tmpfs is not allowed here');
const IMAGES = { IMAGE_BATCHES: '1000' };

function fill(free: number): void {
  const { bavail, bsize } = statfsSync(disk);
  appendFileSync(join(disk, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - free), 1));
}

test('a node goes on when its disk fills up under load', { skip }, async (t) => {
  const markets = await withMarkets(disk, [{ id: 1 }]);
  const [market] = markets;
  assert(market);
  const token = market.tokenIds[0] ?? '';
  let node = await TestNode.start(disk, IMAGES);
  const alice = await Trader.join(node, 'alice');
  const sent: Signed[] = [];
  const taken: Signed[] = [];

  const refusals = async (): Promise<void> => {
    let refused = 0;
    const load = async (): Promise<void> => {
      while (refused < 20) {
        const orders: Signed[] = Array.from({ length: 10 }, (_, i) =>
          alice.sign({ market, side: 'BUY', ticks: 10 + i, shares: 5 }),
        );
        sent.push(...orders);
        const reply = await alice.postText(node, bodyOf(orders));
        if (reply.status === 503) {
          assert.deepEqual(reply.json, UNAVAILABLE);
          refused += 1;
          continue;
        }
        assert.equal(reply.status, 200, reply.text);
        assert((reply.json as Result[]).every(({ success }) => success));
        taken.push(...orders);
      }
    };
    const filling = until(() => taken.length >= 100).then(() => fill(64 << 10));
    await Promise.all([load(), load(), load(), filling]);
  };

  await t.test('orders are refused and reads go on, until there is room again', async () => {
    await refusals();
    const says = /warn (log|follower): .*; reads only, until there is room again/;
    await until(() => says.test(node.log));
    assert.equal(await statusOf(node), 'read-only');
    assert(levels((await book(node, token)).bids).length > 0);
    assert.equal((await get(node, '/trades')).status, 200);
    assert(!node.hasEnded);
    rmSync(join(disk, 'filler'));
    await until(() => node.log.includes('there is room again: orders are taken'));
    assert.equal(await statusOf(node), 'ok');
    const order = alice.sign({ market, side: 'BUY', ticks: 30, shares: 5 });
    sent.push(order);
    taken.push(order);
    assert.equal((await alice.post(node, [order]))[0]?.status, 'live');
    await refusals();
    await node.end('SIGKILL');
  });

  await t.test('a node that starts on a full disk serves reads and refuses orders', async () => {
    fill(0);
    node = await TestNode.start(disk, IMAGES);
    assert.match(node.log, /warn DATA_DIR .* cannot be written: .*; reads only, trying again/);
    assert(levels((await book(node, token)).bids).length > 0);
    assert.equal((await get(node, '/trades')).status, 200);
    const order = alice.sign({ market, side: 'BUY', ticks: 31, shares: 5 });
    const { json, status } = await alice.postText(node, bodyOf([order]));
    assert.deepEqual([status, json], [503, UNAVAILABLE]);
  });

  await t.test(
    'the node recovers by itself once there is room, with all acknowledged orders',
    async () => {
      rmSync(join(disk, 'filler'));
      remount(disk, 'size=64m');
      await until(() => node.log.includes('resync') && isWritable(node));
      for (const chunk of chunks(sent, 100)) {
        const results = await alice.post(node, chunk);
        for (const [i, { errorMsg }] of results.entries()) {
          const order = chunk[i];
          assert(order !== undefined);
          if (taken.includes(order)) assert.match(errorMsg, /Duplicated/);
        }
      }
      const shares = (await book(node, token)).bids.reduce(
        (sum, { size }) => sum + Number(size),
        0,
      );
      assert.equal(shares, sent.length * 5, 'each order stands once');
      await node.stop();
    },
  );

  await t.test(
    'a node serves reads on a read-only file system, and accepts orders when it is writable again',
    async () => {
      remount(disk, 'ro');
      node = await TestNode.start(disk, IMAGES);
      const before = await book(node, token);
      assert(before.bids.length > 0);
      const order = alice.sign({ market, side: 'BUY', ticks: 40, shares: 5 });
      assert.equal((await alice.postText(node, bodyOf([order]))).status, 503);
      remount(disk, 'rw');
      await until(() => isWritable(node));
      assert.deepEqual(await book(node, token), before);
      assert.equal((await alice.post(node, [order]))[0]?.status, 'live');
      await node.stop();
    },
  );
});

/** Returns true when the newest resync in the log is followed by a line that the node listens. */
function isWritable({ log }: TestNode): boolean {
  const over = log.lastIndexOf('resync');
  return over >= 0 && log.indexOf('listening on', over) >= 0;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
