/**
 * POST /heartbeats and /v1/heartbeats: the first heartbeat of an address starts the watch over its orders,
 * further ones extend it. Answers of the second route have an id that the client sends back, so that it
 * notices another client with heartbeats for the same address. Rules: docs/protocol.md#cancel-on-silence
 *
 * Thread: I/O. Not here: watches and deadlines (heartbeats.ts).
 */

import type { KeyOwner } from '../../auth/auth.ts';
import { errorBody, JOURNAL_UNAVAILABLE } from '../../common/error-bodies.ts';
import { readJson } from '../../common/json.ts';
import { compileShape } from '../../common/schema.ts';
import type { RequestContext } from '../../http/http.ts';
import { route } from '../../http/route.ts';
import {
  HEARTBEAT_BOUNDS,
  HeartbeatAnswer,
  HeartbeatBody,
  HeartbeatOkAnswer,
} from './heartbeat-schemas.ts';
import type { HeartbeatResult, Heartbeats } from './heartbeats.ts';

const INVALID = errorBody('INVALID_PAYLOAD', 'heartbeat_id must be a string or null', {
  text: 'invalid payload',
});
const FULL = errorBody('TOO_MANY_HEARTBEATS');
const OK = JSON.stringify({ status: 'ok' });

const heartbeatBody = compileShape(HeartbeatBody);

export interface HeartbeatRouteParts {
  readonly heartbeats: Pick<Heartbeats, 'take'>;
  readonly config: { readonly heartbeatError: 'error' | 'error_msg' };
}

const ERROR_MSG = 'Invalid Heartbeat ID';

export const HEARTBEAT_ROUTES = [
  route(
    'POST /heartbeats',
    {
      access: 'level2',
      bodyMax: 'mebibyte',
      answer: HeartbeatOkAnswer,
      does: "begins or goes on with the watch: after silence all of the caller's open orders are cancelled",
    },
    ({ heartbeats }: HeartbeatRouteParts) =>
      async (context, _query, caller) => {
        const taken = await stored(heartbeats, caller, undefined);
        if (taken === undefined) context.reply(503, JOURNAL_UNAVAILABLE);
        else if (taken.kind === 'full') context.reply(503, FULL);
        else context.reply(200, OK);
      },
  ),
  route(
    'POST /v1/heartbeats',
    {
      access: 'level2',
      body: HeartbeatBody,
      bodyBounds: HEARTBEAT_BOUNDS,
      answer: HeartbeatAnswer,
      repeats: true,
      does: 'the same, with the id of the last answer: `{"heartbeat_id": ".."}`',
    },
    (parts: HeartbeatRouteParts) => (context, _query, caller) =>
      context.body.length === 0
        ? answerChained(parts, context, caller, '')
        : readJson(context, HEARTBEAT_BOUNDS, (sent) =>
            answerChained(parts, context, caller, idOf(sent)),
          ),
  ),
];

function stored(
  heartbeats: Pick<Heartbeats, 'take'>,
  { address }: KeyOwner,
  id: string | undefined,
): Promise<HeartbeatResult | undefined> {
  return heartbeats.take(address, id).catch(() => undefined);
}

async function answerChained(
  { config, heartbeats }: HeartbeatRouteParts,
  context: RequestContext,
  caller: KeyOwner,
  id: string | undefined,
): Promise<void> {
  if (id === undefined) return context.reply(400, INVALID);
  const taken = await stored(heartbeats, caller, id);
  if (taken === undefined) context.reply(503, JOURNAL_UNAVAILABLE);
  else if (taken.kind === 'full') context.reply(503, FULL);
  else {
    const answer = { heartbeat_id: taken.id };
    if (taken.kind === 'taken') context.reply(200, JSON.stringify(answer));
    else {
      const facts =
        config.heartbeatError === 'error' ? answer : { ...answer, error_msg: ERROR_MSG };
      context.reply(400, errorBody('INVALID_HEARTBEAT', '', { facts }));
    }
  }
}

/** '' when the client starts a new chain; `undefined` for a body that is not valid. */
function idOf(sent: unknown): string | undefined {
  return heartbeatBody.matches(sent) ? (sent.heartbeat_id ?? '') : undefined;
}
