/**
 * Loaded into a node before its own code (NODE_OPTIONS): it kills the process at a moment (kill-moments.ts).
 *
 *   KILL_AT      the moment
 *   KILL_ARMED   a file; before it is there nothing happens
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { openEnvironment } from '../../storage/lmdb.ts';

type Call = (...args: never[]) => unknown;

const [side, call, name] = (process.env.KILL_AT ?? '').split(' ') as [string, string, string];
const { existsSync } = fs;

function killAt(wanted: string): void {
  if (side !== wanted || !existsSync(process.env.KILL_ARMED!)) return;
  process.kill(process.pid, 'SIGKILL');
  // Nothing of this thread happens between the call and the end of the process.
  for (;;);
}

/** The file that a call is about: its first argument, or what that descriptor was opened for. */
const opened = new Map<unknown, string>();

function isMeant(args: readonly unknown[]): boolean {
  return (opened.get(args[0]) ?? String(args[0])).endsWith(`.${name}`);
}

/** Kills before or after the calls of a function of node:fs that are about the file. */
function patch(holder: object): void {
  const functions = holder as Record<string, Call>;
  const original = functions[call]!;
  functions[call] = (...args: never[]) => {
    if (!isMeant(args)) return original(...args);
    killAt('before');
    const result = original(...args);
    if (!(result instanceof Promise)) {
      killAt('after');
      return result;
    }
    return result.then((value: unknown) => {
      killAt('after');
      return value;
    });
  };
}

/** Remembers the names of files that are opened synchronously. */
function followDescriptors(): void {
  const { openSync } = fs;
  Object.assign(fs, {
    openSync: (...args: Parameters<typeof openSync>) => {
      const file = openSync(...args);
      opened.set(file, String(args[0]));
      return file;
    },
  });
}

/** Kills around a transaction, or in it when all is put. */
function patchTransactions(): void {
  const directory = fs.mkdtempSync(join(tmpdir(), 'kill-preload-'));
  const root = openEnvironment({ path: directory, durability: 'committed' });
  fs.rmSync(directory, { recursive: true });
  const holder = Object.getPrototypeOf(root) as {
    transactionSync: (run: () => unknown) => unknown;
  };
  const { transactionSync } = holder;
  holder.transactionSync = function (this: object, run: () => unknown): unknown {
    killAt('before');
    const result = transactionSync.call(this, () => {
      const value = run();
      killAt('inside');
      return value;
    });
    killAt('after');
    return result;
  };
}

if (call === 'transaction') {
  if (!isMainThread) patchTransactions();
} else if (call !== undefined && call !== '') {
  if (call !== 'openSync') followDescriptors();
  patch(call.endsWith('Sync') ? fs : fs.promises);
  syncBuiltinESMExports();
}
