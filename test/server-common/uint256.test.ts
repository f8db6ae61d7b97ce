import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  bytesToHex,
  decimalToBytes,
  decimalToSafe,
  decimalToWords,
  hexToBytes,
  isUint256,
  uuidToWords,
  wordsToDecimal,
} from '../../server/common/uint256.ts';

const MAX = 2n ** 256n - 1n;

/** Values of every length: a uniform draw would hardly ever be short. */
const anyUint256 = fc
  .tuple(fc.bigInt({ min: 0n, max: MAX }), fc.integer({ min: 0, max: 256 }))
  .map(([value, shift]) => value >> BigInt(shift));

test('a decimal text becomes the bytes of the number', () => {
  fc.assert(
    fc.property(anyUint256, fc.integer({ min: 0, max: 9 }), (value, offset) => {
      const out = new Uint8Array(offset + 33).fill(0xaa);
      assert.equal(decimalToBytes(value.toString(), out, offset), true);
      const expected = value.toString(16).padStart(64, '0');
      assert.equal(bytesToHex(out, offset, 32), `0x${expected}`);
      assert.equal(out[offset + 32], 0xaa, 'nothing behind the number is written');
      assert.ok(out.subarray(0, offset).every((byte) => byte === 0xaa));
    }),
    { numRuns: 2000 },
  );
});

test('a decimal text becomes eight words, the most significant first, and reads back', () => {
  fc.assert(
    fc.property(anyUint256, (value) => {
      const words = new Int32Array(10);
      assert.equal(decimalToWords(value.toString(), words, 1), true);
      const joined = Array.from(words.subarray(1, 9), (word) =>
        (word >>> 0).toString(16).padStart(8, '0'),
      ).join('');
      assert.equal(BigInt(`0x${joined}`), value);
      assert.equal(words[0], 0);
      assert.equal(words[9], 0);
      assert.equal(wordsToDecimal(words, 1), value.toString());
    }),
    { numRuns: 1000 },
  );
});

test('powers of ten and of two, and their neighbours, are exact', () => {
  const out = new Uint8Array(32);
  for (const base of [2n, 10n]) {
    for (let power = 1n; power <= MAX; power *= base) {
      for (const value of [power - 1n, power, power + 1n]) {
        assert.equal(decimalToBytes(value.toString(), out, 0), true);
        assert.equal(BigInt(bytesToHex(out, 0, 32)), value);
      }
    }
  }
});

test('text that is not a uint256 is refused and leaves the buffer alone', () => {
  const refused = [
    '',
    '-1',
    '+1',
    '00',
    '01',
    '1.0',
    '1e3',
    ' 1',
    '1 ',
    '0x1',
    '１',
    'NaN',
    (MAX + 1n).toString(),
    '9'.repeat(78),
    '1'.repeat(79),
  ];
  for (const text of refused) {
    const out = new Uint8Array(32).fill(7);
    assert.equal(isUint256(text), false, text);
    assert.equal(decimalToBytes(text, out, 0), false, text);
    assert.equal(decimalToWords(text, new Uint32Array(8), 0), false, text);
    assert.equal(decimalToSafe(text), -1, text);
    assert.ok(out.every((byte) => byte === 7));
  }
  assert.equal(isUint256(MAX.toString()), true);
  assert.equal(isUint256(`-${MAX}`, 1), true);
  assert.equal(isUint256(`-${MAX + 1n}`, 1), false);
  assert.equal(isUint256('-', 1), false);
  assert.equal(isUint256('-00', 1), false);
});

test('a number is safe up to 2^53 - 1 and no further', () => {
  assert.equal(decimalToSafe('0'), 0);
  assert.equal(decimalToSafe('9007199254740991'), Number.MAX_SAFE_INTEGER);
  for (const above of [
    '9007199254740992',
    '9007199254740993',
    '9999999999999999',
    '1'.repeat(17),
  ]) {
    assert.equal(decimalToSafe(above), -1, above);
  }
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => decimalToSafe(String(value)) === value),
    { numRuns: 500 },
  );
});

test('hex text of the right length becomes bytes in either case and reads back in lower case', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), fc.boolean(), (bytes, upper) => {
      const lower = Buffer.from(bytes).toString('hex');
      const out = new Uint8Array(bytes.length + 1);
      const text = `0x${upper ? lower.toUpperCase() : lower}`;
      assert.equal(hexToBytes(text, bytes.length, out, 1), true);
      assert.deepEqual(out.subarray(1), bytes);
      assert.equal(bytesToHex(out, 1, bytes.length), `0x${lower}`);
    }),
  );
});

test('hex text of another length or with another character is refused', () => {
  const out = new Uint8Array(4);
  const refused = [
    '',
    '0x',
    'abcd',
    '0xabc',
    '0xabcde',
    '0xabcg',
    '0xab d',
    '0Xabcd',
    '1xabcd',
    '0xabc/',
  ];
  refused.push('0xab:d', '0xab@d', '0x`bcd', '0xabc\u0141', '0x-1-1');
  for (const text of refused) assert.equal(hexToBytes(text, 2, out, 0), false, text);
  assert.equal(hexToBytes('0xaBcD', 2, out, 0), true);
});

test('a UUID of either case becomes its four words, and no other text is one', () => {
  const words = new Int32Array(4);
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      for (const text of [uuid, uuid.toUpperCase()]) {
        assert.equal(uuidToWords(text, words), true);
        const bytes = Buffer.alloc(16);
        for (const [i, word] of words.entries()) bytes.writeInt32BE(word, 4 * i);
        assert.equal(bytes.toString('hex'), uuid.replaceAll('-', ''));
      }
    }),
    { numRuns: 500 },
  );
  const uuid = '550e8400-e29b-41d4-a716-446655440000';
  for (let at = 0; at < uuid.length; at++) {
    for (const wrong of ['g', '_', ' ', '\u212a', uuid[at] === '-' ? '0' : '-']) {
      const text = uuid.slice(0, at) + wrong + uuid.slice(at + 1);
      assert.equal(uuidToWords(text, words), false, text);
    }
  }
  for (const text of ['', uuid.slice(1), `${uuid}0`, uuid.replaceAll('-', '')]) {
    assert.equal(uuidToWords(text, words), false, text);
  }
});
