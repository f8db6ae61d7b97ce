import assert from 'node:assert/strict';
import test from 'node:test';
import { type BatchFacts, decodeBatch, encodeBatch } from '../../storage/log/batch-record.ts';
import { type Random, withSeed } from '../common/random.ts';

function randomFacts(random: Random): BatchFacts {
  const exact = (): number => random.next() * 2 ** 21 + random.below(2 ** 21);
  return {
    sequence: exact(),
    time: exact(),
    persistedClosedSequence: exact(),
    firstFill: exact(),
    endFill: exact(),
    closedEnd: exact(),
    digest: random.next() | 0,
  };
}

function randomWords(random: Random): Int32Array {
  return Int32Array.from({ length: 2 * random.below(60) }, () => random.next());
}

test('a record with any content reads back as it was written', () => {
  withSeed((random) => {
    for (let i = 0; i < 300; i++) {
      const facts = randomFacts(random);
      const words = randomWords(random);
      const record = decodeBatch(encodeBatch(facts, words));
      assert(typeof record === 'object', String(record));
      const { i32, f64, ...rest } = record;
      assert.deepEqual(rest, facts);
      assert.deepEqual(i32, words);
      assert.equal(f64.buffer, i32.buffer, 'both views are of the same commands');
    }
  });
});

test('a record is a copy outside of shared memory, so the commands may change at once', () => {
  withSeed((random) => {
    const shared = new Int32Array(new SharedArrayBuffer(32));
    shared.fill(7);
    const bytes = encodeBatch(randomFacts(random), shared);
    assert(bytes.buffer instanceof ArrayBuffer);
    shared.fill(9);
    const record = decodeBatch(bytes);
    assert(typeof record === 'object');
    assert.deepEqual([...record.i32], Array(8).fill(7));
  });
});

test('a record with any one byte changed is refused', () => {
  withSeed((random) => {
    const bytes = encodeBatch(
      randomFacts(random),
      Int32Array.from({ length: 40 }, (_, i) => i),
    );
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 1 + random.below(255);
      assert.equal(typeof decodeBatch(damaged), 'string', `byte ${at}`);
    }
    assert.equal(typeof decodeBatch(bytes), 'object', 'and whole it is accepted');
  });
});

test('a record that is too short or too long is refused', () => {
  withSeed((random) => {
    const bytes = encodeBatch(randomFacts(random), randomWords(random));
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(typeof decodeBatch(bytes.subarray(0, length)), 'string', `${length} bytes`);
    }
    assert.equal(typeof decodeBatch(Buffer.concat([bytes, Buffer.alloc(4)])), 'string');
  });
});

test('a record of another format is refused by naming both formats', () => {
  withSeed((random) => {
    const bytes = encodeBatch(randomFacts(random), new Int32Array(2));
    bytes.writeUInt32LE(9, 4);
    assert.equal(decodeBatch(bytes), 'its format is 9, this node reads 1');
    bytes.writeUInt32LE(9, 0);
    assert.equal(decodeBatch(bytes), 'it does not begin with the magic number');
  });
});
