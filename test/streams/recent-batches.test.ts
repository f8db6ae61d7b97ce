/** Recent batches lie in one buffer that is used again: each that is told is whole, and they follow one another. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { AppliedBatch } from '../../server/orders/worker/applied-batch.ts';
import type { Names } from '../../server/streams/names.ts';
import { RecentBatches } from '../../server/streams/recent-batches.ts';
import { RECENT_BATCHES_MAX, RECENT_BYTES_MAX } from '../../storage/recovery/replayed-batches.ts';
import { type Random, withSeed } from '../common/random.ts';

const WORDS_MAX = RECENT_BYTES_MAX / 4;

function batchOf(random: Random, sequence: number, words: number): AppliedBatch {
  const eventWords = 2 * random.below(words / 2 + 1);
  const fill = (length: number): Int32Array =>
    new Int32Array(length).fill(random.below(2 ** 31), 0, length);
  const [events, commands] = [fill(eventWords), fill(words - eventWords)];
  const doubles = {
    eventsF: new Float64Array(events.buffer),
    commandsF: new Float64Array(commands.buffer),
  };
  return {
    sequence,
    endFill: 3 * sequence,
    time: 7 * sequence,
    events,
    commands,
    ...doubles,
    isWhole: true,
  };
}

test('recent batches are whole, follow one another to the newest, and fill most of their buffer', () => {
  withSeed((random) => {
    for (const wordsMax of [40, 2_000, WORDS_MAX / 3]) {
      const recent = new RecentBatches({} as Names, 0);
      const added: AppliedBatch[] = [];
      // Enough to use the whole buffer some times; large batches are few.
      const count = Math.min(3 * RECENT_BATCHES_MAX, 40 * Math.ceil(WORDS_MAX / wordsMax));
      for (let sequence = 1; sequence <= count; sequence += 1) {
        const batch = batchOf(random, sequence, 2 * random.below(wordsMax / 2));
        added.push(batch);
        if (added.length > RECENT_BATCHES_MAX) added.shift();
        recent.add(batch);
        if (sequence % Math.ceil(count / 10) !== 0) continue;
        const all = recent.all();
        assert.deepEqual(all, added.slice(-all.length));
        assert.equal(recent.from, sequence - all.length);
        const [before] = added.slice(-all.length - 1);
        if (all.length === added.length || before === undefined) continue;
        const bytes = [before, ...all].reduce((sum, one) => sum + bytesOf(one), 0);
        // At the end of the buffer less than a batch is left out.
        assert(bytes > RECENT_BYTES_MAX - 4 * wordsMax, `${bytes} bytes would have had room`);
      }
      assert(recent.all().length > 1);
    }
  });
});

test('a batch that is larger than their buffer, or not whole, leaves no recent batch', () => {
  withSeed((random) => {
    const recent = new RecentBatches({} as Names, 0);
    recent.add(batchOf(random, 1, 10));
    recent.add(batchOf(random, 2, WORDS_MAX + 2));
    assert.deepEqual([recent.all(), recent.from], [[], 2]);
    const next = batchOf(random, 3, WORDS_MAX);
    recent.add(next);
    assert.deepEqual([recent.all(), recent.from], [[next], 2]);
    recent.add({ ...batchOf(random, 4, 10), isWhole: false });
    assert.deepEqual([recent.all(), recent.from], [[], 4]);
  });
});

function bytesOf({ commands, events }: AppliedBatch): number {
  return commands.byteLength + events.byteLength;
}
