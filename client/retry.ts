/**
 * Sends a request until it is answered: the same bytes again, at the next node of the venue where
 * there are several, with growing pauses, until the client's time limit.
 *
 * The route decides what may be repeated. `always`: reads, requests that the node recognises by
 * their bytes or id (an order's digest is its id), and requests that have the same effect once or
 * many times. `undone`: only where nothing was done: the node said so, or it was never reached.
 */
import { ApiError, NoAnswerError, NotSentError, problemOf } from './errors.ts';
import type { NodeChoice, Reply } from './http.ts';
import type { RefusalCode } from './types.ts';

export type Repeats = 'always' | 'undone';

export interface Answered {
  readonly reply: Reply;
  /** Earlier tries that may have been carried out without an answer. */
  readonly lost: number;
}

/** Meaning of a refusal after which the request is tried again. */
interface Meaning {
  /** The node promises that nothing was done. */
  readonly isUndone: boolean;
  /** Another node may accept it. */
  readonly isElsewhere: boolean;
}

const LOST: Meaning = { isUndone: false, isElsewhere: true };
const BUSY: Meaning = { isUndone: true, isElsewhere: false };
const NOT_HERE: Meaning = { isUndone: true, isElsewhere: true };

const MEANINGS: Readonly<Partial<Record<RefusalCode, Meaning>>> = {
  ENGINE_BUSY: BUSY,
  VENUE_RESTARTING: BUSY,
  TOO_MANY_REQUESTS: BUSY,
  NOT_APPLIED_YET: NOT_HERE,
  NOT_LEADING: NOT_HERE,
  SHUTTING_DOWN: NOT_HERE,
};
/** Codes of refusals with such a status that are final. */
const FINAL: ReadonlySet<RefusalCode | undefined> = new Set<RefusalCode>([
  'TRADING_PAUSED',
  'TRADING_DISABLED',
  'POST_ONLY_MODE',
]);

const PAUSE_MS_FIRST = 50;
const PAUSE_MS_LONGEST = 5_000;
/** Statuses of limits, and of restarts: nothing was done, also where a proxy says so. */
const BUSY_STATUSES = new Set([425, 429]);
/** Statuses of nodes that stop or start, and of proxies. */
const UNAVAILABLE = new Set([500, 502, 503, 504]);

const ONE_NODE: NodeChoice = { count: 1, at: 0, moveOn: () => undefined };

/** Growing pauses. Each varies by half, so that clients return apart. @param attempt from 0 */
export function backOffMs(attempt: number): number {
  const longest = Math.min(PAUSE_MS_LONGEST, PAUSE_MS_FIRST * 2 ** Math.min(attempt, 16));
  return longest * (0.5 + Math.random() / 2);
}

/**
 * @param send one try, with credentials of its own time @returns the first answer that is neither
 * busy nor lost, of any status @throws NoAnswerError at the time limit; ApiError when the node said
 * of each try that nothing was done
 */
export async function untilAnswered(
  what: string,
  repeats: Repeats,
  patienceMs: number,
  send: () => Promise<Reply>,
  nodes: NodeChoice = ONE_NODE,
): Promise<Answered> {
  const deadline = performance.now() + patienceMs;
  for (let lost = 0, moves = 0, pauses = 0; ; ) {
    const { at } = nodes;
    let reply: Reply | undefined;
    let failure: unknown;
    try {
      reply = await send();
    } catch (error) {
      failure = error;
    }
    const meaning = reply === undefined ? meaningOfFailure(failure) : meaningOf(reply);
    if (reply !== undefined && meaning === undefined) return { reply, lost };
    const { isElsewhere, isUndone } = meaning!;
    if (!isUndone) lost += 1;
    if (isElsewhere) {
      nodes.moveOn(at);
      moves += 1;
    }
    // Every node is tried before a pause.
    const isNext = isElsewhere && moves % nodes.count !== 0;
    const pauseMs = Math.max((reply?.retryAfterSeconds ?? 0) * 1_000, backOffMs(pauses));
    const waitMs = isNext ? 0 : pauseMs;
    const mayRepeat = isUndone || repeats === 'always';
    if (!mayRepeat || performance.now() + waitMs > deadline) {
      const last = reply === undefined ? failure : new ApiError(what, reply.status, reply.body);
      // That nothing was done at the last try says nothing about the tries before.
      if (lost > 0 || reply === undefined) throw new NoAnswerError(what, last, lost > 0);
      throw last;
    }
    if (isNext) continue;
    pauses += 1;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function meaningOfFailure(failure: unknown): Meaning {
  return failure instanceof NotSentError ? NOT_HERE : LOST;
}

/** Meaning of an answer for the next try; `undefined` when the answer is final. */
export function meaningOf({ body, status }: Reply): Meaning | undefined {
  const isBusy = BUSY_STATUSES.has(status);
  if (!isBusy && !UNAVAILABLE.has(status)) return undefined;
  const { code } = problemOf(body);
  if (FINAL.has(code)) return undefined;
  return (code && MEANINGS[code]) ?? (isBusy ? BUSY : LOST);
}
