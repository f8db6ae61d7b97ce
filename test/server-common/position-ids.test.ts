import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isPosition } from '../../server/common/position-ids.ts';
import { rounds } from '../common/random.ts';

const ZEROS = ((1n << 64n) - 1n) << 40n;
const MODULE_AT = 248n;

/** The test of published clients, and a module that exists. */
function isPositionByMask(id: bigint): boolean {
  const module = id >> MODULE_AT;
  return (id & ZEROS) === 0n && module >= 1n && module <= 4n;
}

const anyNumber = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });

test('ids are positions exactly where their zeros and their module say so', () => {
  const near = anyNumber.map((id) => (id & ~ZEROS & ((1n << 251n) - 1n)) as bigint);
  const oneBit = fc
    .tuple(near, fc.integer({ min: 36, max: 107 }))
    .map(([id, bit]) => id | (1n << BigInt(bit)));
  fc.assert(
    fc.property(fc.oneof(anyNumber, near, oneBit), (id) => {
      assert.equal(isPosition(String(id)), isPositionByMask(id), String(id));
      assert.equal(isPosition(`0x${id.toString(16)}`), isPositionByMask(id));
      assert.equal(
        isPosition(`0x${id.toString(16).padStart(64, '0').toUpperCase()}`),
        isPositionByMask(id),
      );
    }),
    { numRuns: rounds(2_000) },
  );
});

test('the first and the last id of the modules are positions, their neighbours are none', () => {
  const last = (4n << MODULE_AT) | (~ZEROS & ((1n << MODULE_AT) - 1n));
  for (const id of [1n << MODULE_AT, last]) assert(isPosition(String(id)));
  for (const id of [(1n << MODULE_AT) - 1n, 5n << MODULE_AT, last + 1n, 0n])
    assert(!isPosition(String(id)));
});

test('texts that are no number are no positions', () => {
  const id = String(1n << MODULE_AT);
  for (const text of [
    '',
    '0x',
    `0${id}`,
    `-${id}`,
    ` ${id}`,
    `${id.slice(1)}x`,
    `0x1${'0'.repeat(64)}`,
  ])
    assert(!isPosition(text), text);
});
