import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { openStores } from '../../server/node/stores.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { putPosition } from '../../storage/projection/derived.ts';
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

test('positions and prices of an older version are removed with a line in the log', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stores-test-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const durability = 'committed';
  for (const name of ['positions', 'history']) {
    mkdirSync(join(dataDir, name));
    const root = openEnvironment({ path: join(dataDir, name), durability });
    await openTable(root, 'meta').put(Buffer.from('position'), Buffer.alloc(28));
    await root.close();
  }
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const { stores } = await openStores({ dataDir, durability, segmentBytes: 1 << 16, log });
  assert.deepEqual(lines, [
    'projections: positions/ and history/ of an older version removed; what they held is made again',
  ]);
  assert.equal(stores.projections?.position(), undefined);
  await stores.close();
  const found = readdirSync(dataDir).filter((name) => !name.startsWith('node'));
  assert.deepEqual(found.sort(), ['catalog', 'derived', 'keys', 'log', 'projections']);
});

test('a damaged last batch that was projected is refused and not cut off', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stores-test-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const place = { dataDir, durability: 'committed', segmentBytes: 1 << 16, log } as const;
  const { stores } = await openStores(place);
  const entry = { sequence: 1, time: 1, before: 0, after: 7, payload: Buffer.alloc(99, 7) };
  await stores.log.append([entry], 0);
  const { derived } = stores;
  const position = { sequence: 1, digest: 7, fills: 0, finished: 0, entries: 0 };
  derived.root.transactionSync(() => putPosition(derived, position));
  await stores.close();
  const segment = join(dataDir, 'log', '00000001.segment');
  const bytes = readFileSync(segment);
  bytes[60]! ^= 1;
  writeFileSync(segment, bytes);
  await assert.rejects(
    openStores(place),
    /it ends with batch 0, but derived\/ holds batch 1; what/,
  );
  assert.deepEqual(readFileSync(segment), bytes);
  assert.deepEqual(lines, []);
});

test('a node warns when its keys are gone from keys/ and log, and not when it never had any', {
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
  // Without node.key they do not come back from the log.
  for (const name of ['keys', 'node.key']) rmSync(join(dataDir, name), { recursive: true });
  const after = await TestNode.start(dataDir);
  assert.match(after.log, /no API key is known, but 1 orders in memory were placed under one: /);
  await after.stop();
});
