/**
 * Requests and answers of agents. Amounts are whole micro-units as text, as in orders. Rules: docs/protocol.md#agents
 */
import { AGENT_MARKETS_MAX } from '../../engine/tables/capacities.ts';
import { CONDITION_SOURCE } from '../../storage/catalog/condition-ids.ts';
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { PAGE_SIZE } from './pages.ts';

const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'an address, 0x and 40 hexadecimal digits',
});
/** Parameter of reads. */
export const OWN_WALLET = Type.Optional(
  Type.String({
    pattern: '^0x[0-9a-fA-F]{40}$',
    description: 'a wallet of the caller, or one whose agent the caller is',
  }),
);
const Micro = (of: string) =>
  Type.String({
    pattern: '^(?:0|[1-9]\\d{0,15})$',
    description: `${of} in micro-units as text, a whole number without leading zeros`,
  });
const Markets = Type.Union(
  [
    Type.Literal('all'),
    Type.Array(Type.String({ pattern: CONDITION_SOURCE }), {
      minItems: 1,
      maxItems: AGENT_MARKETS_MAX,
    }),
  ],
  { description: `all, or 1 to ${AGENT_MARKETS_MAX} condition ids` },
);
const Seconds = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER / 1_000,
  description: 'unix seconds, 366 days ahead at most',
});

export const AgentBody = Type.Object(
  {
    agent: Address,
    wallet: Type.Optional(Address),
    cashPerDay: Micro('what its purchases may pay on a UTC day, with fees,'),
    maxOrderSize: Micro('shares of its largest order'),
    markets: Markets,
    end: Seconds,
  },
  { additionalProperties: true },
);
export const AGENT_BOUNDS = boundsOf(6 + AGENT_MARKETS_MAX);

export const RevokeAgentBody = Type.Object(
  { agent: Address, wallet: Type.Optional(Address) },
  { additionalProperties: true },
);
export const REVOKE_AGENT_BOUNDS = boundsOf(2);

const Amount = Type.String({ pattern: '^\\d+$', description: 'micro-units' });

export const AgentAnswer = Type.Object(
  {
    wallet: Address,
    agent: Address,
    state: Type.Union([Type.Literal('active'), Type.Literal('ended'), Type.Literal('revoked')]),
    cashPerDay: Amount,
    maxOrderSize: Amount,
    markets: Markets,
    end: Seconds,
    spent: Type.String({
      pattern: '^\\d+$',
      description: 'micro-units that purchases of this UTC day have paid, with fees',
    }),
    reserved: Type.String({
      pattern: '^\\d+$',
      description: 'micro-units that open purchases reserve',
    }),
    left: Type.String({
      pattern: '^\\d+$',
      description: 'micro-units that it may still spend on this day; 0 once it has ended',
    }),
    openOrders: Type.Integer({ minimum: 0 }),
    createdAt: Type.String({ pattern: '^\\d+$', description: 'unix milliseconds' }),
  },
  { additionalProperties: false },
);

export const AGENTS_QUERY = compileQuery(
  Type.Object({
    wallet: Type.Optional(
      Type.String({
        pattern: '^0x[0-9a-fA-F]{40}$',
        description: 'a wallet: only its agents',
      }),
    ),
    next_cursor: Type.Optional(
      Type.String({ error: 'invalid next_cursor', description: 'a cursor of the page before' }),
    ),
  }),
);

export const AgentsAnswer = Type.Object(
  {
    data: Type.Array(AgentAnswer),
    next_cursor: Type.String(),
    limit: Type.Literal(PAGE_SIZE),
    count: Type.Integer({ minimum: 0, maximum: PAGE_SIZE }),
  },
  { additionalProperties: false },
);
