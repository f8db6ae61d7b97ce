/**
 * Data files of LMDB without some of their pages are refused before they are mapped: LMDB would end
 * the process.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { TruncatedFile } from '../../storage/kv/lmdb-file.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { withSeed } from '../common/random.ts';

const PAGE = 4_096;

function open(path: string) {
  return openEnvironment({ path, durability: 'committed' });
}

async function filled(): Promise<string> {
  const path = temporaryDirectory();
  const root = open(path);
  const table = openTable(root, 'rows');
  for (let i = 0; i < 200; i++) table.putSync(Buffer.from(`row ${i}`), Buffer.alloc(3_000, i));
  // The last pages are in use: those of values that are replaced may not be.
  table.putSync(Buffer.from('last'), Buffer.alloc(40 * PAGE, 1));
  await root.close();
  return path;
}

test('a file that is cut anywhere is refused by name, with its size and the expected one', async () => {
  const path = await filled();
  const { size } = statSync(join(path, 'data.mdb'));
  withSeed((random) => {
    const lengths = [0, 1, PAGE, 2 * PAGE - 1, size - 1, size - PAGE];
    for (let i = 0; i < 5; i++) lengths.push(random.below(size));
    for (const length of lengths) {
      const cut = temporaryDirectory();
      cpSync(path, cut, { recursive: true });
      truncateSync(join(cut, 'data.mdb'), length);
      assert.throws(
        () => open(cut),
        (error) => {
          assert(error instanceof TruncatedFile, `${length}: ${error}`);
          assert(error.message.startsWith(`${cut}/data.mdb is damaged: it`), error.message);
          return error.message.includes(`${length} bytes`);
        },
      );
    }
  });
});

test('unused pages at the end may be missing', async () => {
  const path = await filled();
  const key = Buffer.from('large');
  const root = open(path);
  openTable(root, 'rows').putSync(key, Buffer.alloc(40 * PAGE, 1));
  openTable(root, 'rows').removeSync(key);
  await root.close();
  // When the package takes again what was given up, so that the end is left alone, is its own decision.
  for (let tries = 0; ; tries++) {
    const root = open(path);
    openTable(root, 'rows').putSync(key, Buffer.from(`small ${tries}`));
    await root.close();
    const cut = temporaryDirectory();
    cpSync(path, cut, { recursive: true });
    const file = join(cut, 'data.mdb');
    truncateSync(file, statSync(file).size - 2 * PAGE);
    const again = opened(cut);
    if (again === undefined) {
      assert(tries < 50, 'the end is needed after each of many writes');
      continue;
    }
    assert.equal(openTable(again, 'rows').get(key)?.toString(), `small ${tries}`);
    await again.close();
    break;
  }
});

/** `undefined` when needed pages are missing. */
function opened(path: string) {
  try {
    return open(path);
  } catch (error) {
    if (error instanceof TruncatedFile) return undefined;
    throw error;
  }
}

test('a missing environment is created', async () => {
  const root = open(join(temporaryDirectory(), 'new'));
  await root.close();
});

test('an unreadable file is named, also that of the locks', async () => {
  for (const name of ['data.mdb', 'lock.mdb']) {
    const path = join(await filled(), name);
    rmSync(path);
    mkdirSync(path);
    assert.throws(() => open(dirname(path)), new RegExp(`^Error: ${path} cannot be read: `));
  }
});
