import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Player } from '../../server/paper/player.ts';
import { encodeMember } from '../../storage/recordings/members.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { temporaryDirectory } from '../common/node-harness.ts';

const HEADER = {
  format: 'prediction-market-recording',
  version: 1,
  venue: 'a test',
  started: 1_000,
  // One choice, which found three markets.
  markets: ['top:3'],
  inferred: [],
};

function market(id: number, tokens: readonly string[]): object {
  return { id: String(id), conditionId: `0x${id}`, clobTokenIds: JSON.stringify(tokens) };
}

function book(at: unknown, timestamp: unknown = '5'): object {
  const levels = { bids: [{ price: '0.4', size: '1' }], asks: [] };
  return {
    at,
    kind: 'message',
    message: { event_type: 'book', asset_id: '1', timestamp, ...levels },
  };
}

const CATALOG = {
  at: 1_000,
  kind: 'catalog',
  event: {
    id: '1',
    markets: [market(1, ['1', '2']), market(2, ['3', '4']), market(3, ['5', '6', '7'])],
  },
};

async function played(entries: readonly object[]) {
  const path = join(temporaryDirectory(), 'recording');
  const text = [HEADER, CATALOG, ...entries].map((entry) => JSON.stringify(entry)).join('\n');
  writeFileSync(path, await encodeMember(`${text}\n`));
  const lines: string[] = [];
  const applied: string[] = [];
  const recording = await openRecording(path);
  const player = new Player({
    recording,
    from: 0,
    to: 0,
    log: (line) => void lines.push(line),
    node: {
      apply: async ({ condition }) => void applied.push(condition),
      clear: async () => undefined,
      setTick: async () => undefined,
      changed: async () => undefined,
    },
  });
  const times: number[] = [];
  for (let due = await player.next(); due !== undefined; due = await player.next()) {
    times.push(due.at);
    await due.run();
  }
  return { applied, leftOut: recording.leftOut, lines, player, times };
}

test('markets are counted by the catalog, those without two outcomes apart', async () => {
  const { leftOut, player } = await played([book(1_001)]);
  assert.deepEqual([player.marketCount, leftOut], [2, 1]);
});

test('an entry without a possible time is never due, and one whose time goes back is due at the one before', async () => {
  const wrong = [1e300, -1, 5.5, 'NaN', null].map((at) => book(at));
  const stamped = [book(1_002, '9007199254740991'), book(1_002, '-1')];
  const { applied, lines, times } = await played([
    book(1_001),
    ...wrong,
    ...stamped,
    book(1_005),
    book(1_003),
    book(900),
    book(1_006),
  ]);
  assert.deepEqual(times, [1_001, 1_002, 1_002, 1_005, 1_005, 1_005, 1_006]);
  assert.equal(applied.length, 5);
  assert.deepEqual(lines, [
    "entries with a time before that of an earlier one: 2, by up to 105 ms; the earlier one's counts",
    'a message of the recording is left out: its at is no time',
    'messages of the recording that were left out: 7',
  ]);
});
