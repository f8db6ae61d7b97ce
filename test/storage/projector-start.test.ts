import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { State } from '../../engine/tables/layout.ts';
import { cutLog } from '../../storage/operations/cut-log.ts';
import { openDerivedTables, positionOf, putPosition } from '../../storage/projection/derived.ts';
import { logOf } from './log-stage.ts';
import { Pair, parts } from './projector-stage.ts';
import { appended, directoryOf, Exchange, seeded, tradingDay } from './stored-exchange.ts';

test('rows of a batch without its last transaction are compared before they are put', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t, { imageBatches: 10 });
    const day = tradingDay(random, 600);
    await pair.go(day.slice(0, 30));
    pair.settle();
    const { digest, sequence } = pair.follower.written;
    await pair.go(day.slice(30, 60));
    pair.settle();
    const tables = openDerivedTables(pair.dataDir, { durability: 'committed', readOnly: false });
    const position = { ...pair.follower.written, digest, sequence };
    tables.root.transactionSync(() => putPosition(tables, position));
    await tables.root.close();
    pair.start();
    for (let at = sequence; at <= pair.log.last; at++) {
      pair.now += 200;
      pair.follower.step(at, pair.now);
    }
    pair.settle();
    assert(!pair.reports.some(({ kind }) => kind === 'problem'));
    pair.checkDerived();
  }));

test('a cut of the log removes rows that half a commit had put for removed batches', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir, { segmentBytes: 1 << 20 });
    const context = new Exchange();
    const { state } = context.t;
    for (const batch of tradingDay(random, 200)) await appended(log, context.apply(batch));
    await log.close();
    const sequence = log.last;
    const [digest, fills, finished] = [0, state[State.fills]!, state[State.closed]!];
    const cut = async (more: number): Promise<string[]> => {
      const tables = openDerivedTables(dataDir, { durability: 'committed', readOnly: false });
      const position = { sequence, digest, fills, finished: finished + more, entries: 0 };
      tables.root.transactionSync(() => putPosition(tables, position));
      await tables.root.close();
      return (await cutLog(dataDir, sequence + 1, true)).map((path) => basename(path));
    };
    assert.deepEqual(await cut(0), ['00000001.segment.cut']);
    assert.deepEqual(await cut(1), ['derived.cut', '00000001.segment.cut.2']);
    assert.deepEqual(await cut(2), ['derived.cut.2', '00000001.segment.cut.3'], 'nothing is lost');
  }));

test('LMDB of another log is refused with a reason', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    await pair.go(tradingDay(random, 300));
    pair.settle();
    const other = new Pair(t, { dataDir: directoryOf(t) });
    await other.go(tradingDay(random, 600));
    const follower = pair.start({ read: (from) => other.log.read(from) });
    assert.throws(
      () => follower.step(other.log.last, 0),
      /derived: it holds batch \d+ of another log; remove DATA_DIR\/derived/,
    );

    const third = new Pair(t, { dataDir: directoryOf(t) });
    await third.go(tradingDay(random, 300));
    third.follower.close(third.log.last, 0);
    const tables = openDerivedTables(third.dataDir, { durability: 'committed', readOnly: false });
    const { digest, ...position } = positionOf(tables);
    tables.root.transactionSync(() => putPosition(tables, { ...position, digest: digest ^ 1 }));
    await tables.root.close();
    assert.throws(() => third.start(), /it holds batch \d+ of another log/, 'as of its snapshot');
  }));

test('a snapshot that recovery found to be damaged does not count when LMDB is missing, too', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    const saved: number[] = [];
    for (const part of parts(tradingDay(random, 900)).slice(0, 3)) {
      if (saved.length === 2) {
        await pair.log.trim(saved[0]!);
        rmSync(join(pair.dataDir, 'derived'), { recursive: true });
        pair.start({ damagedSnapshots: [saved[1]!] });
      } else if (saved.length === 1) pair.start();
      await pair.go(part);
      pair.follower.close(pair.log.last, pair.now);
      saved.push(pair.log.last);
    }
    const said = pair.reports.findLast(({ kind }) => kind === 'image');
    assert(said?.kind === 'image' && said.sequence === saved[2]);
    assert.equal(said.older, saved[0], 'the log has to reach back to one that can be used');
  }));
