/** Inputs and answers of the operations on a cluster. */
import { type Static, Type } from '../common/schema.ts';
import { flag, text, whole } from '../routes/shorthand.ts';
import { inputOf } from './operation-schemas.ts';

const Absent = (what: string) => ({ description: `${what}; absent where it does not answer` });
const Node = Type.Object({
  node: text(),
  address: text('how the other nodes reach it'),
  may_lead: flag(),
  state: text('what it says of itself, or why it does not'),
  role: Type.Optional(
    Type.Union([Type.Literal('leader'), Type.Literal('follower')], Absent('its role')),
  ),
  epoch: Type.Optional(Type.Integer(Absent('of the leader that it knows'))),
  applied: Type.Optional(Type.Integer(Absent('its newest batch'))),
  behind_ms: Type.Optional(Type.Integer(Absent('since the oldest batch that it lacks'))),
  sequence: Type.Optional(Type.Integer(Absent('the newest batch of its own log'))),
  digest: Type.Optional(Type.Integer(Absent('of the engine after that batch'))),
});
export type NodeView = Static<typeof Node>;
const Member = Type.Object({
  member: text('its address, as CLUSTER has it'),
  leads: flag(),
  used_bytes: whole('of its file'),
  live_bytes: whole('of them in use'),
});

export const ClusterAnswer = Type.Object({
  nodes: Type.Array(Node),
  etcd: Type.Array(Member, { description: 'the members of etcd that answer' }),
});
export const HandoverInput = inputOf({
  to: Type.Optional(
    Type.String({
      pattern: '^[\\w.-]{1,64}$',
      description: 'the NODE_ID of the next leader; without it the follower that is least behind',
    }),
  ),
});
export const HandoverAnswer = Type.Object({
  from: text(),
  to: text('the node that leads now'),
  ms: whole('between the two, as this node has seen it'),
});
export const DefragInput = inputOf({
  member: Type.String({
    pattern: '^\\S{1,300}$',
    description: 'a member of etcd, host:port as CLUSTER has it',
  }),
});
export const DefragAnswer = Type.Object({
  member: text(),
  before_bytes: whole('of its file'),
  after_bytes: whole(),
});
