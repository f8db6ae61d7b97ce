/**
 * A program that is started by a command and talks in lines. The caller waits for a line without returning to its event
 * loop, as the functions of a strategy have to.
 *
 * Thread: the caller's; command-thread.ts has the pipes.
 */
import { once } from 'node:events';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type Worker,
} from 'node:worker_threads';
import { startThread } from '../../../storage/files/thread.ts';

export interface ProgramData {
  readonly command: string;
  readonly port: MessagePort;
  /** Counts the messages of the thread. */
  readonly wake: Int32Array;
}

export type ToProgram =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'stderr' | 'close' };

export type FromProgram =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'stderr'; readonly stderr: string }
  | { readonly kind: 'end'; readonly how: string; readonly stderr: string };

/** Milliseconds that a program may take for a line. */
const LINE_MS_MAX = 60_000;

/** Error of a program, with the newest text of its standard error. */
export class ProgramError extends Error {
  readonly stderr: string;

  constructor(message: string, stderr: string) {
    super(message);
    this.stderr = stderr;
  }
}

export class Program {
  private readonly port: MessagePort;
  private readonly wake = new Int32Array(new SharedArrayBuffer(4));
  private readonly thread: Worker;
  private lines: string[] = [];
  private taken = 0;
  /** Begin of a line without its end. */
  private rest = '';
  private ended: Extract<FromProgram, { kind: 'end' }> | undefined;
  private count = 0;

  private constructor(command: string) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const workerData: ProgramData = { command, port: port2, wake: this.wake };
    this.thread = startThread(new URL('./command-thread', import.meta.url), {
      workerData,
      transferList: [port2],
    });
  }

  /** Starts a program. Its thread is loaded then, so that waiting for it needs no event loop. */
  static async start(command: string): Promise<Program> {
    const program = new Program(command);
    await once(program.thread, 'message');
    return program;
  }

  /** Number of the newest line that `next` returned, from 1. */
  get line(): number {
    return this.count;
  }

  send(message: object): void {
    this.post({ kind: 'text', text: `${JSON.stringify(message)}\n` });
  }

  /** Returns the next line. Throws a ProgramError where the program ends, or writes none for a minute. */
  next(): string {
    const end = performance.now() + LINE_MS_MAX;
    while (this.taken === this.lines.length) {
      if (this.ended !== undefined) {
        const { how, stderr } = this.ended;
        throw new ProgramError(`the program ended (${how}) after ${this.count} lines`, stderr);
      }
      this.receive(end, 'the program wrote no line');
    }
    this.count += 1;
    return this.lines[this.taken++]!;
  }

  /** Returns an error with the standard error so far. */
  error(message: string): ProgramError {
    if (this.ended === undefined) this.post({ kind: 'stderr' });
    const end = performance.now() + LINE_MS_MAX;
    for (;;) {
      const received = this.ended ?? this.receive(end, message);
      if (received.kind !== 'text') return new ProgramError(message, received.stderr);
    }
  }

  /** Ends the input of the program. Resolves once the program has ended, which is forced after two seconds. */
  async close(): Promise<void> {
    // A thread that has ended has this number.
    const ended = this.thread.threadId === -1 ? undefined : once(this.thread, 'exit');
    this.post({ kind: 'close' });
    await ended;
    this.port.close();
  }

  private post(message: ToProgram): void {
    this.port.postMessage(message);
  }

  private receive(end: number, problem: string): FromProgram {
    for (;;) {
      const seen = Atomics.load(this.wake, 0);
      const received = receiveMessageOnPort(this.port) as { message: FromProgram } | undefined;
      if (received !== undefined) return this.take(received.message);
      const ms = end - performance.now();
      if (ms <= 0) throw new ProgramError(`${problem} within ${LINE_MS_MAX / 1_000} seconds`, '');
      Atomics.wait(this.wake, 0, seen, ms);
    }
  }

  private take(message: FromProgram): FromProgram {
    if (message.kind === 'end') this.ended = message;
    if (message.kind !== 'text') return message;
    const lines = (this.rest + message.text).split('\n');
    this.rest = lines.pop() ?? '';
    this.lines =
      this.taken === this.lines.length ? lines : [...this.lines.slice(this.taken), ...lines];
    this.taken = 0;
    return message;
  }
}
