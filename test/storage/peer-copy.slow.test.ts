import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { give, receive, removeGiven, settle } from '../../storage/operations/peer-copy.ts';
import { rebuild } from '../../storage/recovery/rebuild.ts';
import { type Lived, lived } from './lived-directory.ts';
import { directoryOf, seeded, TIGHT } from './stored-exchange.ts';

const KEY = Buffer.alloc(32, 7);

function hashOf(dataDir: string): string {
  return stateHash(rebuild({ dataDir, capacities: TIGHT }).t);
}

async function giver(t: TestContext): Promise<Lived> {
  const from = await lived(t);
  writeFileSync(join(from.dataDir, 'node.key'), KEY, { mode: 0o600 });
  mkdirSync(join(from.dataDir, 'audit'));
  writeFileSync(join(from.dataDir, 'audit', '1.log'), 'what was done there');
  return from;
}

async function* once(buffers: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* buffers;
}

async function streamOf(dataDir: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of give(dataDir)) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('an empty directory gets the data of a running node, with pieces of any length', async (t) => {
  const { dataDir, hashes, last } = await giver(t);
  const bytes = await streamOf(dataDir);
  assert.deepEqual(readdirSync(join(dataDir, 'giving')), []);
  await seeded(async (random) => {
    const place = directoryOf(t);
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + random.between(0, 99_999);
      pieces.push(bytes.subarray(at, end));
      at = end;
    }
    const { sequence } = await receive(once(pieces), place);
    assert.equal(sequence, last);
    assert.equal(existsSync(join(place, 'log')), false, 'nothing is in its place before settle()');
    assert.equal(settle(place), true);
    assert.equal(hashOf(place), hashes.get(last));
    assert.deepEqual(readFileSync(join(place, 'node.key')), KEY);
    assert.equal(statSync(join(place, 'node.key')).mode & 0o777, 0o600);
    assert.equal(existsSync(join(place, 'audit')), false, 'what was done on the other node');
    assert.equal(settle(place), false);
  });
});

test('a copy that ends early or has a changed byte changes nothing', async (t) => {
  const { dataDir } = await giver(t);
  const bytes = await streamOf(dataDir);
  const place = directoryOf(t);
  writeFileSync(join(place, 'node.key'), 'of the operator');
  await seeded(async (random) => {
    for (let i = 0; i < 20; i++) {
      const end = bytes.subarray(0, random.between(0, bytes.length - 1));
      await assert.rejects(receive(once([end]), place), /ends too early/);
      assert.equal(settle(place), false);
      assert.deepEqual(readdirSync(place), ['node.key']);
    }
    const other = Buffer.from(bytes);
    const at = random.between(bytes.length - 1_000, bytes.length - 1);
    other[at] = other[at]! ^ 1;
    await assert.rejects(receive(once([other]), place), /its checksum is another/);
    assert.equal(settle(place), false);
  });
  assert.equal(readFileSync(join(place, 'node.key'), 'utf8'), 'of the operator');
});

test('names that lead elsewhere are refused', async (t) => {
  const place = directoryOf(t);
  for (const path of ['../x', 'log/../../x', '/x', 'admin.token', 'audit/1.log']) {
    const files = [{ path, bytes: 0, sha256: '' }];
    const manifest = { format: 1, at: 0, sequence: 0, digest: 0, files };
    const text = Buffer.from(JSON.stringify(manifest));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    await assert.rejects(receive(once([length, text]), place), /no name of a file|does not belong/);
  }
});

test('the move into place continues after an interruption, and replaces earlier files', async (t) => {
  const { dataDir, hashes, last } = await giver(t);
  const bytes = await streamOf(dataDir);
  const parts = ['images', 'log'];
  for (let moved = 0; moved <= parts.length; moved++) {
    const place = directoryOf(t);
    for (const part of [...parts, 'derived', 'audit']) {
      mkdirSync(join(place, part));
      writeFileSync(join(place, part, 'old'), 'of an older time');
    }
    await receive(once([bytes]), place);
    for (const [i, part] of parts.entries()) {
      if (i <= moved) rmSync(join(place, part), { recursive: true });
      if (i < moved) renameSync(join(place, 'joining', part), join(place, part));
    }
    assert.equal(settle(place), true);
    assert.equal(hashOf(place), hashes.get(last));
    assert.deepEqual(readdirSync(place).sort(), ['audit', 'images', 'log', 'node.key']);
    assert.equal(readFileSync(join(place, 'audit', 'old'), 'utf8'), 'of an older time');
  }
});

test('a copy that its reader gives up, or whose node ended, leaves nothing behind', async (t) => {
  const { dataDir } = await giver(t);
  for await (const piece of give(dataDir)) {
    if (piece.length > 0) break;
  }
  assert.deepEqual(readdirSync(join(dataDir, 'giving')), []);
  cpSync(join(dataDir, 'log'), join(dataDir, 'giving', 'n3.unfinished'), { recursive: true });
  removeGiven(dataDir);
  assert.equal(existsSync(join(dataDir, 'giving')), false);
});

test('a repeated start keeps the copies that its process is still sending', async (t) => {
  const { dataDir } = await giver(t);
  const copy = give(dataDir);
  const pieces = [(await copy.next()).value as Buffer];
  removeGiven(dataDir);
  for await (const piece of copy) pieces.push(piece);
  const place = directoryOf(t);
  await receive(once(pieces), place);
  assert.deepEqual(readdirSync(join(dataDir, 'giving')), []);
  removeGiven(dataDir);
  assert.equal(existsSync(join(dataDir, 'giving')), false);
});
