/**
 * Loaded into a node before its own code (NODE_OPTIONS): it kills the process at a moment (kill-moments.ts).
 *
 *   KILL_AT      the moment
 *   KILL_ARMED   a file; before it is there nothing happens
 */
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

type Call = (...args: never[]) => unknown;

const [side, call, name] = (process.env.KILL_AT ?? '').split(' ') as [string, string, string];
const { existsSync } = fs;

function killAt(wanted: string): void {
  if (side !== wanted || !existsSync(process.env.KILL_ARMED!)) return;
  process.kill(process.pid, 'SIGKILL');
  // Nothing of this thread happens between the call and the end of the process.
  for (;;);
}

/** File of a call: its first argument, or the file that its descriptor was opened for. */
const opened = new Map<unknown, string>();

function isMeant(args: readonly unknown[]): boolean {
  return (opened.get(args[0]) ?? String(args[0])).endsWith(`.${name}`);
}

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

interface Store {
  transactionSync(run: () => unknown): unknown;
}

/** Kills around a transaction of a store, or in it when all is put. */
function wrap(store: Store): void {
  const { transactionSync } = store;
  store.transactionSync = (run) => {
    killAt('before');
    const result = transactionSync.call(store, () => {
      const value = run();
      killAt('inside');
      return value;
    });
    killAt('after');
    return result;
  };
}

/** The package hides its stores, but emits an event for each transaction. */
function patchTransactions(): void {
  const { emit } = EventEmitter.prototype;
  const known = new Set<object>();
  EventEmitter.prototype.emit = function (this: EventEmitter, event, ...args): boolean {
    if (event === 'begin-transaction' && !known.has(this)) {
      known.add(this);
      wrap(this as unknown as Store);
    }
    return emit.call(this, event, ...args);
  };
}

if (call === 'transaction') {
  if (!isMainThread) patchTransactions();
} else if (call !== undefined && call !== '') {
  if (call !== 'openSync') followDescriptors();
  patch(call.endsWith('Sync') ? fs : fs.promises);
  syncBuiltinESMExports();
}
