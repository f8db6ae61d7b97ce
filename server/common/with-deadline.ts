/**
 * Waits of start and stop with a deadline. A long wait logs what it waits for, so that an operator
 * sees where a node hangs.
 *
 * Thread: any.
 */

const LOG_MS = 10_000;

export interface DeadlineOptions {
  /** Completes "waiting for". */
  readonly what: string;
  readonly msMax: number;
  readonly log: (line: string) => void;
  readonly logMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the result of `wait`; rejects with the name of a wait that did not end in time. */
export async function withDeadline<T>(wait: Promise<T>, options: DeadlineOptions): Promise<T> {
  const { log, msMax, signal, logMs = LOG_MS, what } = options;
  const began = performance.now();
  const seconds = (): number => Math.round((performance.now() - began) / 1_000);
  const timer = setInterval(() => log(`waiting for ${what} (${seconds()} s)`), logMs);
  let end: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    end = setTimeout(() => {
      reject(new Error(`gave up waiting for ${what} after ${seconds()} s`));
    }, msMax);
  });
  let giveUp = (): void => undefined;
  const givenUp = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal?.reason);
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([wait, tooLong, givenUp]);
  } finally {
    clearInterval(timer);
    clearTimeout(end);
    signal?.removeEventListener('abort', giveUp);
  }
}
