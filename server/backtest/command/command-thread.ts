/**
 * Thread between a run and the program of a strategy. The run waits for lines without returning to its event loop, so
 * this thread reads and writes the pipes of the program. A word of shared memory wakes the run.
 *
 * Thread: its own. Non-goals: the meaning of the lines (messages.ts).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { parentPort, workerData } from 'node:worker_threads';
import type { FromProgram, ProgramData, ToProgram } from './program.ts';

/** Milliseconds from the end of its input to the end of a program by force. */
const EXIT_MS_MAX = 2_000;
/** Characters of standard error that are retained: the newest. */
const STDERR_MAX = 2 ** 14;

assert(parentPort !== null, 'a thread has a parent');
const { command, port, wake } = workerData as ProgramData;
const isPosix = process.platform !== 'win32';
// A group of its own, so that a shell between is ended too.
const child = spawn(command, { shell: true, detached: isPosix });
let stderr = '';

child.stdout.setEncoding('utf8').on('data', (text: string) => send({ kind: 'text', text }));
child.stderr.setEncoding('utf8').on('data', (text: string) => {
  stderr = (stderr + text).slice(-STDERR_MAX);
});
// The end of the program is reported below.
child.stdin.on('error', () => undefined);
child.on('error', ({ message }) => send({ kind: 'end', how: message, stderr }));
child.on('close', (code, signal) => {
  send({ kind: 'end', how: signal === null ? `exit code ${code}` : signal, stderr });
  port.close();
});
port.on('message', (message: ToProgram) => {
  if (message.kind === 'text') child.stdin.write(message.text);
  else if (message.kind === 'stderr') send({ kind: 'stderr', stderr });
  else {
    child.stdin.end();
    setTimeout(kill, EXIT_MS_MAX).unref();
  }
});
parentPort.postMessage('loaded');

function send(message: FromProgram): void {
  port.postMessage(message);
  Atomics.add(wake, 0, 1);
  Atomics.notify(wake, 0);
}

function kill(): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  if (isPosix) process.kill(-child.pid, 'SIGKILL');
  else child.kill('SIGKILL');
}
