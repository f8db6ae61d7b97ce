import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { ControlRecordStore } from '../../storage/control-records/control-record-store.ts';
import type { ControlRecord } from '../../storage/control-records/control-records.ts';
import { decodeKeyRow } from '../../storage/control-records/key-rows.ts';
import { withChecksum } from '../../storage/kv/checksum.ts';
import { type BinaryTable, openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { temporaryDirectory } from '../common/node-harness.ts';

const ADDRESS = new Uint8Array(20).fill(0xab);
const OTHER = new Uint8Array(20).fill(0xcd);
const OPTIONS = { durability: 'committed', readOnly: false } as const;
const POSITION = { sequence: 7, digest: -3 };

function* flipped(value: Buffer): Generator<Buffer> {
  for (let bit = 0; bit < 8 * value.length; bit++) {
    const copy = Buffer.from(value);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    yield copy;
  }
}

test('a damaged row of a key is named', () => {
  const key = Buffer.alloc(16, 0x11);
  const row = (version: number, revoked: number, nonce: string): Buffer => {
    const head = Buffer.from([0, 0, 0, 0, version, revoked]);
    return withChecksum(key, Buffer.concat([head, ADDRESS, Buffer.from(nonce)]));
  };
  const good = row(3, 0, '12');
  assert.deepEqual(decodeKeyRow(key, good), {
    id: '11111111-1111-1111-1111-111111111111',
    address: ADDRESS,
    nonce: '12',
    revoked: false,
    readOnly: false,
  });
  for (const value of [
    ...flipped(good),
    row(3, 2, '12'),
    row(3, 0, '012'),
    row(3, 0, ''),
    good.subarray(0, 9),
    good.subarray(0, 2),
  ]) {
    assert.throws(
      () => decodeKeyRow(key, value),
      /API key row (11){16}: damaged; put back a copy of DATA_DIR\/keys, or remove it/,
    );
  }
  assert.equal(decodeKeyRow(key, row(4, 1, '12')).readOnly, true);
  assert.throws(
    () => decodeKeyRow(key, row(5, 0, '12')),
    /API key row (11){16}: found version 5, expected 3 or 4/,
  );
});

const RECORDS: readonly ControlRecord[] = [
  { about: 'ban', address: ADDRESS, decision: { since: 5, reason: 'ü' } },
  { about: 'catalog', digest: 'ab'.repeat(32) },
  { about: 'fault', kind: 'restart', decision: { since: 5, seconds: 60, ms: 0 } },
  { about: 'watch', address: ADDRESS, isWatched: true },
  { about: 'watch', address: OTHER, isWatched: true },
  {
    about: 'liquidity',
    condition: `0x${'0e'.repeat(32)}`,
    terms: { depth: 72_134_752, centre: -5, paidIn: 50_000_000, paidOut: 0 },
  },
  { about: 'message', decision: { since: 7, reason: 'Hello, ü' } },
  { about: 'name', address: OTHER, name: 'Böb' },
  { about: 'pause', decision: { since: 6, reason: '' } },
  { about: 'profile', address: ADDRESS, name: '', isHidden: true },
  { about: 'profile', address: OTHER, name: 'bob-1', isHidden: false },
];

test('records read back with the batch that they reach, and a record of an end removes its row', async () => {
  const kept = new ControlRecordStore(temporaryDirectory(), OPTIONS);
  assert.equal(kept.position(), undefined);
  kept.apply(RECORDS, POSITION);
  assert.deepEqual([...kept.records()], RECORDS);
  assert.deepEqual(kept.position(), POSITION);
  const ends: ControlRecord[] = [
    { about: 'ban', address: ADDRESS, decision: undefined },
    { about: 'fault', kind: 'restart', decision: undefined },
    { about: 'watch', address: ADDRESS, isWatched: false },
    { about: 'name', address: OTHER, name: '' },
    { about: 'message', decision: undefined },
    { about: 'pause', decision: undefined },
    { about: 'profile', address: ADDRESS, name: '', isHidden: false },
  ];
  kept.apply(ends, { sequence: 8, digest: 0 });
  assert.deepEqual([...kept.records()], [RECORDS[1], RECORDS[4], RECORDS[5], RECORDS[10]]);
  assert.deepEqual(kept.position(), { sequence: 8, digest: 0 });
  await kept.close();
});

test('a damaged row that is not of a key stops the start and is named', async () => {
  const dataDir = temporaryDirectory();
  const kept = new ControlRecordStore(dataDir, OPTIONS);
  kept.apply(RECORDS, POSITION);
  const root = openEnvironment({ path: join(dataDir, 'keys'), durability: 'committed' });
  const meta: BinaryTable = openTable(root, 'meta');
  const read = (): unknown => [[...kept.records()], kept.position()];
  const rows = Array.from(meta.getRange(), ({ key, value }) => [key, Buffer.from(value)] as const);
  assert.equal(rows.length, RECORDS.length + 1);
  const damaged =
    /^Error: (ban|fault|heartbeat|liquidity|message|name|pause|profile|catalog|position) row of keys ?[0-9a-f]*: damaged; put/;
  for (const [key, good] of rows) {
    for (const value of [...flipped(good), good.subarray(0, 3), Buffer.of(1)]) {
      meta.putSync(key, value);
      await new Promise(setImmediate);
      assert.throws(read, damaged);
    }
    meta.putSync(key, good);
  }
  // One address in place of another.
  const [key, value] = rows.find(([name]) => name.toString('latin1').startsWith('heartbeat'))!;
  meta.putSync(Buffer.concat([key.subarray(0, -1), Buffer.of(0xac)]), value);
  await new Promise(setImmediate);
  assert.throws(read, damaged);
  await root.close();
  await kept.close();
});
