import assert from 'node:assert/strict';
import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { generateCatalog } from '../../bench/catalog/catalog-generator.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { smallDisk, temporaryDirectory } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { commandProcess } from './catalog-commands.ts';

const disk = smallDisk('24m');

test('an import on a full disk fails every time, and loses nothing', {
  skip: SHORT || (disk === undefined && 'mounting is not allowed here'),
}, async () => {
  assert(disk !== undefined);
  const files = temporaryDirectory();
  const file = (name: string, markets: number): string => {
    const path = join(files, name);
    writeFileSync(path, JSON.stringify(generateCatalog(markets, name)));
    return path;
  };
  const [small, other, large] = [file('small', 200), file('other', 220), file('large', 9_000)];
  const DATA_DIR = disk;
  const first = await commandProcess(['import', small], { DATA_DIR });
  assert.equal(first.code, 0, first.stderr);
  for (let round = 0; round < 2; round++) {
    const failed = await commandProcess(['import', large, '--force'], { DATA_DIR });
    assert.equal(failed.code, 1, failed.stderr);
    assert.match(failed.stderr, /^cannot write to .*, its catalog stays: /m);
    assert.doesNotMatch(failed.stderr, /^\s+at /m, 'no stack trace');
    const store = openCatalog(disk, { durability: 'committed', readOnly: true });
    assert.equal(store.load().markets.length, 200);
    await store.close();
  }
  const last = await commandProcess(['import', other, '--force'], { DATA_DIR });
  assert.equal(last.code, 0, `${last.stderr}, ${statfsSync(disk).bavail} blocks are free`);
});
