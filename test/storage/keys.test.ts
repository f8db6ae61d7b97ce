/** Rows of API keys: what is not as it was written is never a key. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { withChecksum } from '../../storage/kv/checksum.ts';
import { openHeartbeatStore } from '../../storage/kv/heartbeats.ts';
import { openKeyStore } from '../../storage/kv/keys.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { OwnStore } from '../../storage/kv/own-store.ts';
import { temporaryDirectory } from '../common/node-harness.ts';

const ADDRESS = new Uint8Array(20).fill(0xab);

test('a damaged row stops the start and is named', async () => {
  const root = openEnvironment({ path: temporaryDirectory(), durability: 'committed' });
  const table = openTable(root, 'keys');
  const key = Buffer.alloc(16, 0x11);
  const row = (version: number, revoked: number, nonce: string): Buffer =>
    withChecksum(
      key,
      Buffer.concat([
        Buffer.alloc(4),
        Buffer.from([version, revoked]),
        ADDRESS,
        Buffer.from(nonce),
      ]),
    );
  const good = row(3, 0, '12');
  const store = openKeyStore(table, (error) => assert.fail(String(error)));
  await table.put(key, good);
  assert.deepEqual(
    [...store.rows()],
    [
      {
        id: '11111111-1111-1111-1111-111111111111',
        address: ADDRESS,
        nonce: '12',
        revoked: false,
        readOnly: false,
      },
    ],
  );
  const flipped = Array.from({ length: 8 * good.length }, (_, bit) => {
    const copy = Buffer.from(good);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    return copy;
  });
  for (const value of [
    ...flipped,
    row(3, 2, '12'),
    row(3, 0, '012'),
    row(3, 0, ''),
    good.subarray(0, 9),
    good.subarray(0, 2),
  ]) {
    table.putSync(key, value);
    assert.throws(() => [...store.rows()], /API key row (11){16}: damaged; put back a copy/);
  }
  table.putSync(key, row(4, 0, '12'));
  assert.deepEqual([...store.rows()][0]?.readOnly, true);
  table.putSync(key, row(5, 0, '12'));
  assert.throws(() => [...store.rows()], /API key row (11){16}: found version 5, expected 3 or 4/);
  await root.close();
});

test('who is watched is read back as it was written; a damaged row stops the start and is named', async () => {
  const own = new OwnStore(temporaryDirectory(), { durability: 'committed', readOnly: false });
  const store = openHeartbeatStore(own);
  const other = new Uint8Array(20).fill(0xcd);
  await store.put(ADDRESS);
  await store.put(other);
  assert.deepEqual(store.read(), [ADDRESS, other]);
  await store.remove(other);
  assert.deepEqual(store.read(), [ADDRESS]);
  const [{ key, value } = assert.fail()] = [...own.meta.getRange()];
  const good = Buffer.from(value);
  for (let bit = 0; bit < 8 * good.length; bit++) {
    const flipped = Buffer.from(good);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    own.meta.putSync(key, flipped);
    assert.throws(() => store.read(), /heartbeat row of keys (ab){20}: damaged; put back a copy/);
  }
  own.meta.putSync(key, Buffer.from([1]));
  assert.throws(() => store.read(), /(ab){20}: of an older version; put back/);
  own.meta.removeSync(key);
  // One address in place of another.
  const moved = Buffer.concat([key.subarray(0, key.length - 1), Buffer.of(0xac)]);
  own.meta.putSync(moved, good);
  assert.throws(() => store.read(), /damaged/);
  await own.close();
});
