import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { readCollections, tailRatios } from '../../bench/orders/tail.ts';

const NOTHING = { writes: [], collections: [], snapshots: [] };
/** A request every 10 ms. */
const TIMES = Array.from({ length: 1_000 }, (_, i) => 10 * i);

function sent(latencyMs: (index: number) => number) {
  return TIMES.map((dueMs, i) => ({ dueMs, latencyMs: latencyMs(i), toolLateMs: 0 }));
}

function lines(context: TestContext): string[] {
  const written: string[] = [];
  context.mock.method(process.stdout, 'write', (text: string) => written.push(text) > 0);
  return written;
}

test('the tail of a bare write is taken out of p99, and never more than brings it to p50', (context) => {
  lines(context);
  const slow = sent((i) => (i % 50 === 0 ? 9 : 1));
  const ratioWith = (slowMs: number): number => {
    const writes = TIMES.map((begin, i) => ({ begin, end: begin + (i % 50 === 0 ? slowMs : 1) }));
    return tailRatios('x', slow, { ...NOTHING, writes })[0]!.ratio;
  };
  assert.equal(tailRatios('x', slow, NOTHING)[0]!.ratio, 9);
  assert.equal(ratioWith(5), 5);
  assert.equal(ratioWith(9.9), 1);
});

test('a long bare write counts for every request that was due during it', (context) => {
  lines(context);
  const stalled = sent((i) => (i >= 100 && i < 120 ? 1 + 10 * (120 - i) : 1));
  const short = TIMES.map((begin) => ({ begin, end: begin + 1 }));
  const long = { begin: TIMES[100]!, end: TIMES[120]! };
  const writes = [...short.slice(0, 100), long, ...short.slice(120)];
  const [before] = tailRatios('x', stalled, { ...NOTHING, writes: short });
  const [after] = tailRatios('x', stalled, { ...NOTHING, writes });
  assert.equal(before!.ratio, 111);
  assert.equal(after!.ratio, 2);
});

test('answers that meet a snapshot are compared with all others', (context) => {
  lines(context);
  const snapshots = [{ begin: 1_000.5, end: 1_995 }];
  const ratios = tailRatios(
    'x',
    sent((i) => (i >= 100 && i < 200 ? 3 : 1)),
    { ...NOTHING, snapshots },
  );
  assert.deepEqual(
    ratios.map(({ ratio }) => ratio),
    [3, 3],
  );
});

test('each cause of a slowest answer is counted where their spans overlap', (context) => {
  const written = lines(context);
  const answers = sent((i) => (i === 500 || i === 600 ? 8 : 1));
  const collections = [{ begin: 5_004, end: 5_006 }];
  tailRatios('x', answers, { ...NOTHING, collections });
  const line = written.find((text) => text.includes('causes of the slowest'));
  assert.match(line!, /slowest 2 .*collection of garbage 1, .*none of these 1/);
});

test('spans of collections are read from whole lines', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tail-'));
  try {
    const file = join(directory, 'collections');
    writeFileSync(file, '1.5 2.5\n7 9\n11');
    assert.deepEqual(readCollections(file), [
      { begin: 1.5, end: 2.5 },
      { begin: 7, end: 9 },
    ]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
