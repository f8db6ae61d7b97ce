/** What a node makes of a data directory that another version wrote. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { openStores } from '../../server/stores.ts';

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
