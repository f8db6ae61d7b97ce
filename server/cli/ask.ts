/** Question to the person at the terminal of a command. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Context } from './context.ts';

/** Resolves with true when the typed line is the answer, with false at the end of the input. */
export async function isAnswered(
  { signal, stderr, stdin }: Pick<Context, 'signal' | 'stderr' | 'stdin'>,
  question: string,
  answer: string,
): Promise<boolean> {
  stderr.status(question);
  // The terminal itself echoes what is typed.
  const silent = new Writable({ write: (_, __, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: false });
  try {
    const ended = new Promise<undefined>((resolve) =>
      lines.once('close', () => resolve(undefined)),
    );
    const typed = await Promise.race([lines.question('', { signal }), ended]);
    return typed?.trim() === answer;
  } finally {
    lines.close();
  }
}
