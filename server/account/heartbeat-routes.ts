/**
 * POST /heartbeats and /v1/heartbeats: the first heartbeat of an address starts the watch over its
 * orders, further ones extend it. The second route also has an id that the client sends back, so
 * that it notices when another client sends heartbeats for the same address. Rules:
 * docs/protocol.md#cancel-on-silence
 *
 * Thread: I/O.
 */
import { errorBody, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { compileShape } from '../common/schema.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import type { KeyOwner } from '../identity/auth.ts';
import { HEARTBEAT_BOUNDS, HeartbeatBody } from './account-schemas.ts';
import type { Beat, Heartbeats } from './heartbeats.ts';

const STALE = 'invalid heartbeat_id';
const INVALID = errorBody('invalid payload', 'heartbeat_id must be a string or null');
const FULL = errorBody('too many heartbeats');
const OK = JSON.stringify({ status: 'ok' });

const heartbeatBody = compileShape(HeartbeatBody);

export function heartbeatHandlers(heartbeats: Pick<Heartbeats, 'beat'>) {
  /** The heartbeat; undefined when it cannot be stored. */
  const beat = async ({ address }: KeyOwner, id: string | undefined): Promise<Beat | undefined> =>
    heartbeats.beat(address, id).catch(() => undefined);

  const plain: Handler<unknown, KeyOwner> = async (context, _query, caller) => {
    const taken = await beat(caller, undefined);
    if (taken === undefined) context.reply(503, JOURNAL_UNAVAILABLE);
    else if (taken.kind === 'full') context.reply(503, FULL);
    else context.reply(200, OK);
  };

  const chained: Handler<unknown, KeyOwner> = (context, _query, caller) =>
    context.body.length === 0
      ? goOn(context, caller, '')
      : readJson(context, HEARTBEAT_BOUNDS, (sent) => goOn(context, caller, idOf(sent)));

  const goOn = async (
    context: RequestContext,
    caller: KeyOwner,
    id: string | undefined,
  ): Promise<void> => {
    if (id === undefined) return context.reply(400, INVALID);
    const taken = await beat(caller, id);
    if (taken === undefined) context.reply(503, JOURNAL_UNAVAILABLE);
    else if (taken.kind === 'full') context.reply(503, FULL);
    else {
      const answer = { heartbeat_id: taken.id };
      if (taken.kind === 'taken') context.reply(200, JSON.stringify(answer));
      else context.reply(400, errorBody(STALE, '', answer));
    }
  };

  return { 'POST /heartbeats': plain, 'POST /v1/heartbeats': chained };
}

/** The id of a body; '' when the client starts anew; undefined when the body is not valid. */
function idOf(sent: unknown): string | undefined {
  return heartbeatBody.matches(sent) ? (sent.heartbeat_id ?? '') : undefined;
}
