/**
 * Inputs and answers about faults, for keys and for operators. Rules: docs/protocol.md#faults
 *
 * Thread: any; pure.
 */
import { CONDITION_SOURCE } from '../../storage/catalog/condition-ids.ts';
import { type TSchema, Type } from '../common/schema.ts';
import {
  FAULT_BOUNDS,
  FAULT_KINDS,
  type FaultKind,
  KEY_FAULT_KINDS,
  MS_KINDS,
  SEEDS,
} from './kinds.ts';

const SEED_MAX = SEEDS - 1;
const MS_LEAST = Math.min(...MS_KINDS.map(({ ms }) => ms.minimum));
const MS_MOST = Math.max(...MS_KINDS.map(({ ms }) => ms.maximum));
const OF_MS_KINDS = MS_KINDS.map(({ kind }) => kind).join(', ');

function oneOfKinds(kinds: readonly FaultKind[]) {
  return Type.Union(
    kinds.map((kind) => Type.Literal<FaultKind>(kind)),
    { description: `one of ${kinds.join(', ')}` },
  );
}

function upTo(maximum: number, means: string) {
  const description = `${means}: a whole number from 1 to ${maximum}`;
  return Type.Optional(Type.Integer({ minimum: 1, maximum, description }));
}

/** Members of an input beside its target. */
export function faultMembers({ count, seconds }: { count: number; seconds: number }) {
  return {
    count: upTo(count, 'uses, after which it ends'),
    seconds: upTo(seconds, 'seconds of its first phase'),
    probability: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'of a use: a number from 0 to 1' }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SEED_MAX,
        description: `with probability: a whole number from 0 to ${SEED_MAX}`,
      }),
    ),
    ms: Type.Optional(
      Type.Integer({
        minimum: MS_LEAST,
        maximum: MS_MOST,
        description: `of ${OF_MS_KINDS}: whole milliseconds from ${MS_LEAST} to ${MS_MOST}`,
      }),
    ),
  };
}

export const FaultKindSchema = oneOfKinds(FAULT_KINDS);

const Condition = Type.String({ pattern: CONDITION_SOURCE, description: 'a condition id' });

/** Body of POST /faults. */
export const KeyFaultBody = Type.Object({
  kind: oneOfKinds(KEY_FAULT_KINDS),
  market: Type.Optional(Condition),
  ...faultMembers(FAULT_BOUNDS.key),
});

/** Body of DELETE /faults, which may be absent. */
export const ClearFaultBody = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 32, description: 'the id of a fault' })),
});

const orNull = <Schema extends TSchema>(schema: Schema, absence: string) =>
  Type.Union([schema, Type.Null({ description: absence })]);
const Time = Type.String({ description: 'ISO 8601' });

export const FaultAnswer = Type.Object({
  id: Type.String(),
  kind: FaultKindSchema,
  by: Type.Union([Type.Literal('operator'), Type.Literal('key')]),
  key: Type.Optional(Type.String()),
  wallet: Type.Optional(Type.String()),
  market: Type.Optional(Type.String()),
  phase: Type.String(),
  uses: Type.Integer({ description: 'requests or messages that it has struck' }),
  count: orNull(Type.Integer(), 'not bounded'),
  probability: Type.Number(),
  seed: Type.Integer({ description: 'of the numbers that are compared with the probability' }),
  ms: Type.Integer({ description: '0 where the kind has none' }),
  since: Time,
  ends: orNull(Time, 'when its uses are made, or it is cleared'),
});

export const FaultsAnswer = Type.Object({ faults: Type.Array(FaultAnswer) });

export const ClearedAnswer = Type.Object({
  cleared: Type.Integer({ description: 'faults that ended, with all their phases and waits' }),
});

/** Body of a 503 in the second phase of `restart`, with the code that clients compare. */
export const PostOnlyAnswer = Type.Object({
  error: Type.String(),
  code: Type.Literal('post_only_mode'),
  retry_after_seconds: Type.Integer({ minimum: 1 }),
});

/** Faults of operators in force in GET /status, which names nobody. */
export const StatusFaults = Type.Array(
  Type.Object({
    id: Type.String(),
    kind: FaultKindSchema,
    of: Type.Union(
      ['venue', 'market', 'wallet', 'key'].map((one) => Type.Literal(one)),
      { description: 'the narrowest target' },
    ),
    phase: Type.String(),
    ends: orNull(Time, 'when its uses are made, or it is cleared'),
  }),
  { description: 'failures on demand of operators that are in force; absent with FAULTS=off' },
);

/** Faults of keys in force in GET /status: there may be thousands. */
export const StatusKeyFaults = Type.Array(
  Type.Object({ kind: FaultKindSchema, count: Type.Integer({ minimum: 1 }) }),
  { description: 'those of API keys by kind; absent with FAULTS=off' },
);
