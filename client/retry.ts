/**
 * Sends a request until it is answered: the same bytes again, with pauses that grow, for as long as
 * the caller has patience.
 *
 * What may be sent again is the route's to say. `always`: reads, and everything that the node knows
 * again by its bytes (an order's digest is its id) or that is done once however often it is asked for.
 * `undone`: only where the node said that nothing was done, which it says with 429 and `engine busy`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, NoAnswerError } from './errors.ts';
import type { Reply } from './http.ts';

export type Repeats = 'always' | 'undone';

export interface Answered {
  readonly reply: Reply;
  /** How many earlier sendings may have been obeyed without an answer that says so. */
  readonly lost: number;
}

const PAUSE_MS_FIRST = 50;
const PAUSE_MS_LONGEST = 5_000;
const THROTTLED = 429;
/** With the node's own word for it; without, somebody may have obeyed. */
const BUSY = 503;
/** Of a node that is stopping or starting, and of proxies before one. */
const UNAVAILABLE = new Set([500, 502, 503, 504]);

/**
 * Growing pauses, each of which varies by half so that clients that were cut together do not come
 * back together.
 * @param attempt from 0
 */
export function backOffMs(attempt: number): number {
  const longest = Math.min(PAUSE_MS_LONGEST, PAUSE_MS_FIRST * 2 ** Math.min(attempt, 16));
  return longest * (0.5 + Math.random() / 2);
}

/**
 * @param send one sending, with credentials of its own moment
 * @returns the first answer that is neither busy nor lost, of whatever status
 * @throws NoAnswerError when patience ends, ApiError where nothing was done each time
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
    const isBusy = reply?.status === BUSY && reply.body.includes('engine busy');
    const isUndone = reply?.status === THROTTLED || isBusy;
    const isLost = reply === undefined || UNAVAILABLE.has(reply.status);
    if (reply !== undefined && !isUndone && !isLost) return { reply, lost };
    if (!isUndone) lost += 1;
    const waitMs = Math.max((reply?.retryAfterSeconds ?? 0) * 1_000, backOffMs(attempt));
    const mayRepeat = isUndone || repeats === 'always';
    if (!mayRepeat || performance.now() + waitMs > deadline) {
      const last = reply === undefined ? failure : new ApiError(what, reply.status, reply.body);
      // That nothing was done the last time says nothing of the sendings before.
      throw lost > 0 ? new NoAnswerError(what, last) : last;
    }
    await sleep(waitMs);
  }
}
