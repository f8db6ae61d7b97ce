/**
 * Loaded into a node before its own code (NODE_OPTIONS): faults that the machine does not have at hand.
 *
 *   FAULT_WRITE_MS      each write of the log takes so much longer
 *   FAULT_WRITE_FAILS   the write of the log of this number fails with EIO
 *   FAULT_WRITE_KILLS   the process is killed at the write of the log of this number: before it, or after it where
 *                       the number has a + in front
 *   FAULT_FOLLOWER      the follower's thread ends at its first `open` of a snapshot, at its first `write`
 *                       into one, or after its first `rename` of one
 *   FAULT_CLOCK_MS      milliseconds, one after the other: with each SIGUSR2 the clock jumps by the next, for
 *                       every thread
 *   FAULT_CLOCK_FROM_MS milliseconds by which the clock of every thread is off from the start
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

const STANDARD_ERROR = 2;

const {
  FAULT_CLOCK_FROM_MS,
  FAULT_CLOCK_MS,
  FAULT_FOLLOWER,
  FAULT_WRITE_FAILS,
  FAULT_WRITE_KILLS,
  FAULT_WRITE_MS,
} = process.env;

const failsWrites = (FAULT_WRITE_MS ?? FAULT_WRITE_FAILS ?? FAULT_WRITE_KILLS) !== undefined;
if (failsWrites) {
  const inherited = getEnvironmentData('writes') as SharedArrayBuffer | undefined;
  const memory = inherited ?? new SharedArrayBuffer(4);
  if (isMainThread) setEnvironmentData('writes', memory);
  const writes = new Int32Array(memory);
  const next = (): string => String(Atomics.add(writes, 0, 1) + 1);
  if (isMainThread) failWrites(next);
  else failSyncWrites(next);
  syncBuiltinESMExports();
}

/** The log and the lines on standard output use the function with a callback, which comes last. */
function failWrites(next: () => string): void {
  const write = fs.write as (...args: unknown[]) => void;
  Object.assign(fs, {
    write: (...args: unknown[]) => {
      if (Number(args[0]) <= STANDARD_ERROR) {
        write(...args);
        return;
      }
      const number = next();
      if (number === FAULT_WRITE_FAILS) {
        const told = args.at(-1) as (error: Error) => void;
        setImmediate(() => told(ioError()));
        return;
      }
      if (number === FAULT_WRITE_KILLS) process.kill(process.pid, 'SIGKILL');
      if (`+${number}` === FAULT_WRITE_KILLS) {
        write(...args.slice(0, -1), () => process.kill(process.pid, 'SIGKILL'));
        return;
      }
      setTimeout(() => write(...args), Number(FAULT_WRITE_MS ?? 0));
    },
  });
}

/** A worker writes the record of a batch that is alone. */
function failSyncWrites(next: () => string): void {
  const writeSync = fs.writeSync as (...args: unknown[]) => number;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  Object.assign(fs, {
    writeSync: (...args: unknown[]) => {
      if (!fs.readlinkSync(`/proc/self/fd/${args[0]}`).includes('/log/')) return writeSync(...args);
      const number = next();
      if (number === FAULT_WRITE_FAILS) throw ioError();
      if (number === FAULT_WRITE_KILLS) process.kill(process.pid, 'SIGKILL');
      Atomics.wait(pause, 0, 0, Number(FAULT_WRITE_MS ?? 0));
      const written = writeSync(...args);
      if (`+${number}` === FAULT_WRITE_KILLS) process.kill(process.pid, 'SIGKILL');
      return written;
    },
  });
}

function ioError(): Error {
  const facts = { code: 'EIO', errno: -constants.errno.EIO };
  return Object.assign(new Error('EIO: i/o error, write'), facts);
}

if ((FAULT_CLOCK_MS ?? FAULT_CLOCK_FROM_MS) !== undefined) {
  const jumps = (FAULT_CLOCK_MS ?? '0').split(',').map(Number);
  const { now } = Date;
  const inherited = getEnvironmentData('clock') as SharedArrayBuffer | undefined;
  const memory = inherited ?? new SharedArrayBuffer(8);
  const offset = new Float64Array(memory);
  Date.now = () => now() + offset[0]!;
  if (isMainThread) {
    setEnvironmentData('clock', memory);
    offset[0] = Number(FAULT_CLOCK_FROM_MS ?? 0);
    process.on('SIGUSR2', () => {
      offset[0]! += jumps.shift() ?? 0;
      process.stderr.write(`the clock has jumped to ${Date.now()}\n`);
    });
  }
}

if (!isMainThread && FAULT_FOLLOWER !== undefined) {
  const snapshots = new Set<unknown>();
  const { openSync, renameSync, writeSync } = fs;
  const endAt = (moment: string): void => {
    if (FAULT_FOLLOWER === moment) process.exit(1);
  };
  const isSnapshot = (path: unknown): boolean => String(path).includes('.image');
  Object.assign(fs, {
    openSync: (...args: Parameters<typeof openSync>) => {
      const isNew = isSnapshot(args[0]) && args[1] !== 'r';
      if (isNew) endAt('open');
      const file = openSync(...args);
      if (isNew) snapshots.add(file);
      return file;
    },
    writeSync: (...args: Parameters<typeof writeSync>) => {
      if (snapshots.has(args[0])) endAt('write');
      return writeSync(...args);
    },
    renameSync: (...args: Parameters<typeof renameSync>) => {
      renameSync(...args);
      if (isSnapshot(args[0])) endAt('rename');
    },
  });
  syncBuiltinESMExports();
}
