import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { State } from '../../engine/tables/layout.ts';
import { cutLog } from '../../storage/operations/cut-log.ts';
import { openDerivedTables, positionOf, putPosition } from '../../storage/projection/derived.ts';
import { Pair, parts } from './follower-stage.ts';
import { logOf } from './log-stage.ts';
import { appended, directoryOf, Exchange, seeded, tradingDay } from './stored-exchange.ts';

test('rows of a batch whose last transaction was not made are met before they are put', (t) =>
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

test('a cut of the log sets rows aside that half a commit had put for what is given up', (t) =>
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

test('LMDB of another log is refused by saying so', (t) =>
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
    assert.throws(() => third.start(), /it holds batch \d+ of another log/, 'as of its image');
  }));

test('an image that recovery found to be damaged does not count where LMDB is gone, too', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t);
    const imaged: number[] = [];
    for (const part of parts(tradingDay(random, 900)).slice(0, 3)) {
      if (imaged.length === 2) {
        await pair.log.trim(imaged[0]!);
        rmSync(join(pair.dataDir, 'derived'), { recursive: true });
        pair.start({ damagedSnapshots: [imaged[1]!] });
      } else if (imaged.length === 1) pair.start();
      await pair.go(part);
      pair.follower.close(pair.log.last, pair.now);
      imaged.push(pair.log.last);
    }
    const said = pair.reports.findLast(({ kind }) => kind === 'image');
    assert(said?.kind === 'image' && said.sequence === imaged[2]);
    assert.equal(said.older, imaged[0], 'the log has to reach back to one that can be used');
  }));
