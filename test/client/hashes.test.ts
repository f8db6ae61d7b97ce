import assert from 'node:assert/strict';
import test from 'node:test';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { keccak256 } from '../../client/hashes.ts';
import { Keccak } from '../../client/keccak.ts';
import { keccak256 as ofEthers } from '../common/ethers.ts';
import { rounds, withSeed } from '../common/random.ts';

/** Bytes of a block, and of the longest part of a message that is hashed at once. */
const RATE = 136;
const PART = 60 * RATE;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'ascii'));

test('published digests are reproduced', () => {
  const keccak = new Keccak();
  for (const [text, digest] of [
    ['', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['abc', '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
    ['testing', '5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02'],
  ] as const) {
    assert.equal(hex(keccak.hash(ascii(text))), digest);
    assert.equal(hex(keccak256(ascii(text))), digest);
  }
});

test('messages around the ends of blocks and parts have the digests of two packages', () => {
  const keccak = new Keccak();
  const ends = [0, RATE, 2 * RATE, 3 * RATE, PART - RATE, PART, PART + RATE, 2 * PART, 5 * PART];
  for (const length of ends.flatMap((end) => [end - 1, end, end + 1])) {
    if (length < 0) continue;
    const data = new Uint8Array(length).map((_, i) => i * 31 + length);
    const expected = hex(keccak_256(data));
    assert.equal(ofEthers(data), `0x${expected}`);
    assert.equal(hex(keccak.hash(data)), expected, `${length} bytes`);
  }
});

test('random messages, and changed messages of constant length, have the digests of @noble/hashes', () => {
  withSeed((random) => {
    const keccak = new Keccak();
    const fixed = [1, 64, 66, RATE - 1, RATE, 416].map((length) => keccak.fixedMessage(length));
    for (let i = 0; i < rounds(600); i += 1) {
      // A view at any offset, half of them of memory that threads share.
      const offset = random.below(9);
      const length = random.below(random.pick([RATE, 4 * RATE, 2 * PART]));
      const memory = new (random.chance(50) ? ArrayBuffer : SharedArrayBuffer)(offset + length);
      const data = new Uint8Array(memory, offset);
      for (let at = 0; at < length; at += 1) data[at] = random.below(256);
      const message = random.pick(fixed);
      message.bytes[random.below(message.bytes.length)] = random.below(256);
      const before = hex(message.hash());
      assert.equal(hex(keccak.hash(data)), hex(keccak_256(Uint8Array.from(data))));
      assert.equal(before, hex(keccak_256(message.bytes)));
      assert.equal(hex(message.hash()), before);
    }
  });
});

test('an instance refuses a message for which its memory has no place', () => {
  const keccak = new Keccak();
  assert.throws(() => keccak.fixedMessage(65_536), RangeError);
  assert.equal(keccak.fixedMessage(416).bytes.length, 416);
  assert.equal(hex(keccak.hash(ascii('abc'))), hex(keccak_256(ascii('abc'))));
});
