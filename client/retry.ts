/**
 * Sends a request until it is answered: the same bytes again, with growing pauses, until the
 * client's time limit.
 *
 * The route decides what may be repeated. `always`: reads, requests that the node recognises by
 * their bytes (an order's digest is its id), and requests that have the same effect once or many
 * times. `undone`: only when the node said that nothing was done, which it says with 429,
 * `engine busy`, and where it has not applied an earlier write yet.
 */
import { ApiError, NoAnswerError } from './errors.ts';
import type { Reply } from './http.ts';

export type Repeats = 'always' | 'undone';

export interface Answered {
  readonly reply: Reply;
  /** How many earlier tries may have been carried out without an answer. */
  readonly lost: number;
}

const PAUSE_MS_FIRST = 50;
const PAUSE_MS_LONGEST = 5_000;
const THROTTLED = 429;
/** Only with one of these texts; without it, the request may have been carried out. */
const BUSY = 503;
const NOTHING_DONE = /engine busy|has not applied X-Min-Sequence/;
/** From a node that is stopping or starting, and from proxies. */
const UNAVAILABLE = new Set([500, 502, 503, 504]);

/** Growing pauses. Each varies by half, so that clients return apart. @param attempt from 0 */
export function backOffMs(attempt: number): number {
  const longest = Math.min(PAUSE_MS_LONGEST, PAUSE_MS_FIRST * 2 ** Math.min(attempt, 16));
  return longest * (0.5 + Math.random() / 2);
}

/**
 * @param send one try, with credentials of its own time @returns the first answer that is neither
 * busy nor lost, of any status @throws NoAnswerError at the time limit; ApiError when nothing was
 * done at each try
 */
export async function untilAnswered(
  what: string,
  repeats: Repeats,
  patienceMs: number,
  send: () => Promise<Reply>,
): Promise<Answered> {
  const deadline = performance.now() + patienceMs;
  for (let attempt = 0, lost = 0; ; attempt += 1) {
    let reply: Reply | undefined;
    let failure: unknown;
    try {
      reply = await send();
    } catch (error) {
      failure = error;
    }
    const isBusy = reply?.status === BUSY && NOTHING_DONE.test(reply.body);
    const isUndone = reply?.status === THROTTLED || isBusy;
    const isLost = reply === undefined || UNAVAILABLE.has(reply.status);
    if (reply !== undefined && !isUndone && !isLost) return { reply, lost };
    if (!isUndone) lost += 1;
    const waitMs = Math.max((reply?.retryAfterSeconds ?? 0) * 1_000, backOffMs(attempt));
    const mayRepeat = isUndone || repeats === 'always';
    if (!mayRepeat || performance.now() + waitMs > deadline) {
      const last = reply === undefined ? failure : new ApiError(what, reply.status, reply.body);
      // That nothing was done at the last try says nothing about the tries before.
      throw lost > 0 ? new NoAnswerError(what, last) : last;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
