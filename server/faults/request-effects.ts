/**
 * Effect of each kind of fault on a request, in one table: the request is answered, goes on with another context, or
 * waits. Rules: docs/protocol.md#faults
 *
 * Thread: I/O.
 */
import { errorBody, TRADING_PAUSED } from '../common/error-bodies.ts';
import { parseJson } from '../common/json.ts';
import type { JsonBounds } from '../common/json-measure.ts';
import { refusalOf } from '../common/refusals.ts';
import type { Static } from '../common/schema.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import type { Headers } from '../http/answer-head.ts';
import type { RequestContext } from '../http/http.ts';
import { RATE_LIMITS } from '../http/limits/rate-limits.ts';
import { TOO_MANY_REQUESTS } from '../http/refusals.ts';
import type { PostOnlyAnswer } from './fault-schemas.ts';
import type { Fault, Faults } from './faults.ts';
import { holdsText } from './holds-text.ts';
import { InterceptedContext, type OrderTerms } from './intercepted-context.ts';
import type { RequestKind } from './kinds.ts';
import { StaleAnswers } from './stale-answers.ts';

export interface EffectParts {
  readonly faults: Faults;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly stale: WeakMap<Fault, StaleAnswers>;
}

/** A request on the way to its handler. */
export interface Passage {
  /** With which its handler is called. */
  context: RequestContext;
  /** The fault that it waits for. */
  delay: Fault | undefined;
  /** Bounds of its body. */
  readonly bounds: JsonBounds;
}

/** Does what a kind does, and counts the use. Returns true where the request was answered. */
type Effect = (passage: Passage, fault: Fault, parts: EffectParts) => boolean;

type Intercept = (
  context: RequestContext,
  status: number,
  body: string | Uint8Array,
  headers: Headers,
) => void;

const MS = 1_000;
const DISABLED = errorBody('TRADING_DISABLED');
const RESTARTING = errorBody('VENUE_RESTARTING');
const [POST_ONLY_TEXT] = refusalOf('POST_ONLY_MODE').texts;
/** In the answer to an order that was taken, and to one that waits for a taker delay. */
const TAKEN = '"success":true';
const WAITS = '"status":"delayed"';
/** In the answer to an order with an immediate fill. */
const MATCHED = '"status":"matched"';

export const EFFECTS: Readonly<Record<RequestKind, Effect>> = {
  disabled: ({ context }, fault, { faults }) => {
    faults.use(fault);
    context.reply(503, DISABLED);
    return true;
  },
  restart: (passage, fault, { faults, now }) => {
    const { context } = passage;
    const { name, until } = faults.phaseOf(fault);
    if (name === 'restarting') {
      faults.use(fault);
      context.reply(425, RESTARTING, RETRY_SOON);
      return true;
    }
    if (context.method !== 'POST' || isPostOnly(passage)) return false;
    faults.use(fault);
    const seconds = Math.max(1, Math.ceil((until - now()) / MS));
    const body: Static<typeof PostOnlyAnswer> = {
      error: POST_ONLY_TEXT,
      code: 'post_only_mode',
      retry_after_seconds: seconds,
    };
    context.reply(503, JSON.stringify(body), [['Retry-After', String(seconds)]]);
    return true;
  },
  'cancel-only': ({ context }, fault, { faults }) => {
    faults.use(fault);
    context.reply(503, TRADING_PAUSED);
    return true;
  },
  'rate-limit': ({ context }, fault, { faults, now }) => {
    faults.use(fault);
    const { requests: limit } = RATE_LIMITS.orderBurst;
    const resetMs = now() + fault.ms;
    const counted = {
      allowed: false,
      limit,
      remaining: 0,
      resetMs,
      refusedInRow: 1,
      warned: false,
    };
    context.reply(429, TOO_MANY_REQUESTS, context.limitedBy(counted));
    return true;
  },
  'lost-answer': (passage, fault, { faults }) =>
    intercepted(passage, (context, status, body, headers) => {
      const isLost = status === 200 && holdsText(body, TAKEN) && faults.use(fault);
      if (isLost) context.drop();
      else context.reply(status, body, headers);
    }),
  // A request with no order that waits is no use.
  'taker-delay': (passage, fault, { faults }) =>
    intercepted(
      passage,
      (context, status, body, headers) => {
        if (status === 200 && holdsText(body, WAITS)) faults.use(fault);
        context.reply(status, body, headers);
      },
      { takerDelay: Math.round(fault.ms / MS) },
    ),
  // The outcome is drawn here and goes with the orders. A request with no immediate fill is no use.
  'settlement-failed': (passage, fault, { faults }) =>
    intercepted(
      passage,
      (context, status, body, headers) => {
        if (status === 200 && holdsText(body, MATCHED)) faults.use(fault);
        context.reply(status, body, headers);
      },
      { settlement: { ms: fault.ms, fails: faults.draws(fault), fault: fault.number } },
    ),
  delay: (passage, fault, { faults }) => {
    faults.use(fault);
    passage.delay = fault;
    return false;
  },
  'stale-book': (passage, fault, { faults, stale }) => {
    const { context } = passage;
    const answers = stale.get(fault) ?? new StaleAnswers();
    stale.set(fault, answers);
    const request = `${context.path}?${context.query}\n${context.body.toString('latin1')}`;
    const known = answers.get(request);
    if (known !== undefined) {
      faults.use(fault);
      context.reply(200, known);
      return true;
    }
    return intercepted(passage, (inner, status, body, headers) => {
      if (status === 200) answers.add(request, body);
      inner.reply(status, body, headers);
    });
  },
  'clock-skew': (passage, fault, { faults }) =>
    intercepted(passage, (context, status, body, headers) => {
      const isSkewed = status === 200 && faults.use(fault);
      const shown = isSkewed ? String(Number(body) + Math.round(fault.ms / MS)) : body;
      context.reply(status, shown, headers);
    }),
};

/**
 * Puts a context before that of a request: its answer goes to `answer`. Returns false, as an effect does.
 * @param terms of its orders, in place of those of the request
 */
function intercepted(passage: Passage, answer: Intercept, terms?: OrderTerms): false {
  const { context } = passage;
  passage.context = new InterceptedContext(
    context,
    (status, body, headers) => answer(context, status, body, headers),
    terms,
  );
  return false;
}

/** True where every order of the request is post-only. */
function isPostOnly({ bounds, context }: Passage): boolean {
  const sent = parseJson(context.body, bounds);
  const items: unknown[] = Array.isArray(sent) ? sent : [sent];
  return items.every((item) => (item as { postOnly?: unknown } | null)?.postOnly === true);
}
