/**
 * Child processes of a suite: what is measured runs in a process of its own, in the form
 * in which this one runs (source through tsx, or compiled), and answers questions over IPC.
 *
 * Thread: any of the parent; the only one of the child.
 * Non-goals: several questions at a time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnPinned } from './http-load.ts';

const SUFFIX = extname(fileURLToPath(import.meta.url));

interface Reply {
  readonly value?: unknown;
  readonly error?: string;
}

export interface ChildOptions {
  /** Flags of the child's Node, besides those of this process. */
  readonly flags?: readonly string[];
  /** Keeps the child on one processor. */
  readonly core?: number;
}

export class Child {
  readonly #process: ChildProcess;

  /**
   * @param path absolute, without the file's ending; the file calls answerQuestions()
   */
  constructor(path: string, args: readonly string[], options: ChildOptions = {}) {
    const file = `${path}${SUFFIX}`;
    const all = [...process.execArgv, ...(options.flags ?? []), file, ...args];
    const io = {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'] as ['ignore', ...'inherit'[], 'ipc'],
    };
    this.#process =
      options.core === undefined
        ? spawn(process.execPath, all, io)
        : spawnPinned(options.core, process.execPath, all, io);
  }

  /** Rejects with what the child threw, or when it ends without an answer. */
  async ask<Answer>(question: string, input?: unknown): Promise<Answer> {
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error('the child has ended');
    const stop = new AbortController();
    const ended = once(child, 'exit', { signal: stop.signal }).then(([code, signal]) => {
      throw new Error(`the child ended with ${code ?? signal} instead of an answer to ${question}`);
    });
    ended.catch(() => undefined);
    const answered = once(child, 'message', { signal: stop.signal });
    child.send({ question, input });
    try {
      const [reply] = (await Promise.race([answered, ended])) as [Reply];
      if (reply.error !== undefined) throw new Error(reply.error);
      return reply.value as Answer;
    } finally {
      stop.abort();
    }
  }

  /** Ends the child, whatever it does. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

export type Answers = Readonly<Record<string, (input: never) => unknown>>;

/** The child's side; it ends with its parent. */
export function answerQuestions(answers: Answers): void {
  process.once('disconnect', () => process.exit(0));
  process.on('message', (message: { question: string; input: never }) => {
    void (async () => answers[message.question]!(message.input))().then(
      (value) => process.send?.({ value }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : error }),
    );
  });
}
