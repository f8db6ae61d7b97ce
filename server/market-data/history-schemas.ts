/**
 * Requests and answers of price history and volumes. A schema checks requests and documents answers. Rules:
 * docs/protocol.md#price-history
 */
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { type Static, Type } from '../common/schema.ts';

const HISTORY_TOKENS_MAX = 20;
const CONDITIONS_MAX = 500;

const Seconds = Type.Integer({ minimum: 0, description: 'unix seconds' });

/** `1m` is a month: clients request it for their chart of one month. */
const INTERVALS = ['5m', '15m', '1h', '6h', '1d', '1w', '1m', 'max', 'all'] as const;
export type Interval = (typeof INTERVALS)[number];
const IntervalName = Type.Union(
  INTERVALS.map((name) => Type.Literal(name)),
  { description: `one of ${INTERVALS.join(', ')}; 1m is a month` },
);

const window = {
  interval: Type.Optional(IntervalName),
  startTs: Type.Optional(Seconds),
  endTs: Type.Optional(Seconds),
  fidelity: Type.Optional(
    Type.Integer({ minimum: 1, description: 'a whole number of minutes, 1 or more' }),
  ),
};

export interface WindowQuery {
  readonly interval?: Interval;
  readonly startTs?: number;
  readonly endTs?: number;
  readonly fidelity?: number;
}

const HistoryParameters = Type.Object({
  market: Type.String({
    minLength: 1,
    error: 'market is required',
    description: 'the decimal id of an outcome token',
  }),
  ...window,
});
export type HistoryQuery = WindowQuery & { readonly market: string };
export const HISTORY_QUERY = compileQuery(HistoryParameters);

export const BATCH_HISTORY_BOUNDS = boundsOf(HISTORY_TOKENS_MAX);

/** Clients use both spellings of the times. */
export const BatchHistoryBody = Type.Object({
  markets: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: HISTORY_TOKENS_MAX,
    description: `a list of 1 to ${HISTORY_TOKENS_MAX} token ids`,
  }),
  ...window,
  start_ts: Type.Optional(Seconds),
  end_ts: Type.Optional(Seconds),
});
export type BatchHistoryRequest = Static<typeof BatchHistoryBody>;

const Points = Type.Array(
  Type.Object({
    t: Type.Integer({ description: 'beginning of the bucket, unix seconds' }),
    p: Type.Number({ description: 'last trade price in it or before it' }),
  }),
);
export const HistoryAnswer = Type.Object({ history: Points });
export const BatchHistoryAnswer = Type.Object({ history: Type.Record(Type.String(), Points) });

export const VOLUMES_BOUNDS = boundsOf(CONDITIONS_MAX);

export const VolumesBody = Type.Object({
  conditions: Type.Array(
    Type.Object({
      condition_id: Type.String(),
      token_ids: Type.Optional(Type.Array(Type.String())),
    }),
    { maxItems: CONDITIONS_MAX, description: `a list of up to ${CONDITIONS_MAX}` },
  ),
  include_24h: Type.Optional(Type.Boolean()),
});

const Decimal = Type.String({ pattern: '^(?:0|[1-9]\\d*)(?:\\.\\d*[1-9])?$' });
export const VolumesAnswer = Type.Array(
  Type.Union([
    Type.Object({
      condition_id: Type.String(),
      status: Type.Literal(200),
      volume: Decimal,
      volume_24h: Type.Optional(Decimal),
    }),
    Type.Object({
      condition_id: Type.String(),
      status: Type.Literal(404),
      error: Type.String(),
    }),
  ]),
);
