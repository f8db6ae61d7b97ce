/** What a node makes of a data directory that another version wrote. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { openStores } from '../../server/stores.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { Trader } from '../common/traders.ts';

test('the journal of an older version is refused by saying what to do, and nothing is written', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stores-test-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  mkdirSync(join(dataDir, 'journal'));
  const log = (): void => undefined;
  await assert.rejects(
    openStores({ dataDir, durability: 'committed', segmentBytes: 1 << 16, log }),
    /it holds the journal of an older version, .* begin with another DATA_DIR$/,
  );
  assert.deepEqual(readdirSync(dataDir), ['journal']);
});

test('a node whose table of keys is gone says so, and one that never had any says nothing', {
  skip: SHORT,
}, async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  assert(market);
  const before = await TestNode.start(dataDir);
  assert.doesNotMatch(before.log, /holds no API key/);
  const alice = await Trader.join(before, 'alice');
  await alice.place(before, { market, side: 'BUY', ticks: 40, shares: 10 });
  await before.stop();
  rmSync(join(dataDir, 'keys'), { recursive: true });
  const after = await TestNode.start(dataDir);
  assert.match(
    after.log,
    /keys\/ holds no API key, but 1 orders in memory .* keys\/data\.mdb is new/,
  );
  await after.stop();
});
