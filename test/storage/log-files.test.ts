import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry } from '../../storage/log/log.ts';
import { WaitingReader } from '../../storage/log/waiting-reader.ts';
import { chain, logOf } from './log-stage.ts';
import { directoryOf, seeded } from './stored-exchange.ts';

const SMALL = { segmentBytes: 4_096 };

function outOfFiles(path: unknown): Error {
  const message = `EMFILE: too many open files, open '${String(path)}'`;
  return Object.assign(new Error(message), { code: 'EMFILE' });
}

/** Lets the next `count` opens fail; returns a function that counts the failed ones. */
function failOpens(t: TestContext, count: number): () => number {
  const { open } = fs.promises;
  let failed = 0;
  fs.promises.open = (...args: Parameters<typeof open>) => {
    if (failed === count) return open(...args);
    failed += 1;
    return Promise.reject(outOfFiles(args[0]));
  };
  t.after(() => {
    fs.promises.open = open;
  });
  return () => failed;
}

test('a switch to the prepared segment opens no file', (t) =>
  seeded(async (random) => {
    const log = await logOf(t, directoryOf(t), SMALL);
    const [entry] = chain(log, random, 1);
    await log.append([{ ...entry!, payload: Buffer.alloc(3_000, 7) }], 0);
    // It is prepared meanwhile.
    await sleep(200);
    const failed = failOpens(t, 1);
    const problems: (string | undefined)[] = [];
    log.onRoom = (problem) => problems.push(problem);
    for (let n = 0; n < 2; n++) {
      const [next] = chain(log, random, 1);
      await log.append([{ ...next!, payload: Buffer.alloc(1_000, 7) }], log.last);
    }
    while (problems.length < 2) await sleep(10);
    assert.equal(failed(), 1);
    assert.match(problems[0]!, /^the next segment cannot be made: EMFILE/);
    assert.deepEqual(problems.slice(1), [undefined]);
  }));

test('a record without a prepared segment waits until a file can be opened', (t) =>
  seeded(async (random) => {
    const dataDir = directoryOf(t);
    const log = await logOf(t, dataDir, SMALL);
    const problems: (string | undefined)[] = [];
    log.onRoom = (problem) => problems.push(problem);
    failOpens(t, 2);
    const [entry] = chain(log, random, 1);
    const large = { ...entry!, payload: Buffer.alloc(9_000, 7) };
    await log.append([large], 0);
    assert.match(problems[0]!, /EMFILE/);
    await log.close();
    const again = await logOf(t, dataDir, SMALL);
    assert.deepEqual([again.last, again.digest], [1, large.after]);
  }));

test('a reader that cannot open the next segment continues once it can, with every record', (t) =>
  seeded(async (random) => {
    const log = await logOf(t, directoryOf(t), SMALL);
    const warned: string[] = [];
    const reader = new WaitingReader(log.read(1), (line) => warned.push(line));
    t.after(() => reader.close());
    const entries = chain(log, random, 40);
    for (const entry of entries) await log.append([entry], log.last);
    const { openSync } = fs;
    fs.openSync = (...args: Parameters<typeof openSync>) => {
      // The second of the two that it takes to enter a segment, too.
      if (random.chance(50)) throw outOfFiles(args[0]);
      return openSync(...args);
    };
    syncBuiltinESMExports();
    t.after(() => {
      fs.openSync = openSync;
      syncBuiltinESMExports();
    });
    const read: LogEntry[] = [];
    for (let tries = 0; read.length < entries.length; tries++) {
      assert(tries < 10_000, 'it goes on');
      const entry = reader.next(log.last);
      if (entry === undefined) continue;
      const { after, before, payload, sequence, time } = entry;
      read.push({ sequence, time, before, after, payload: Buffer.from(payload) });
    }
    assert(warned.length > 0);
    for (const line of warned) assert.match(line, /^the log is read on later: EMFILE/);
    assert.deepEqual(read, entries);
  }));
