/** Requests and answers of the routes of heartbeats. Rules: docs/protocol.md#cancel-on-silence */

import { boundsOf } from '../../common/json-measure.ts';
import { Type } from '../../common/schema.ts';

export const HEARTBEAT_BOUNDS = boundsOf(1);

/** Body of POST /v1/heartbeats. A request without a body starts a new chain, too. */
export const HeartbeatBody = Type.Object({
  heartbeat_id: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
});

export const HeartbeatAnswer = Type.Object({ heartbeat_id: Type.String() });
export const HeartbeatOkAnswer = Type.Object({ status: Type.Literal('ok') });
