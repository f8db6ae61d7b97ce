/**
 * Answers of the catalog routes, for the API document and for the tests that check answers against
 * it: objects have the columns of shape.ts. Rules: docs/protocol.md#catalog-objects
 */

import { PROPOSED_STATUS, RESOLVED_STATUS } from '../../storage/catalog/operator-marks.ts';
import { VERSIONS } from '../../storage/catalog/protocol-version.ts';
import { type TSchema, Type } from '../common/schema.ts';
import { allColumns, type ColumnKind, type Kind } from './shape.ts';

const Text = Type.String();
/** Live kinds are statistics of this node's own books and fills, up to a second old. */
const KIND_SCHEMAS: Readonly<Record<ColumnKind, TSchema>> = {
  id: Text,
  text: Text,
  date: Type.Union([Type.String(), Type.Null()], { description: 'ISO 8601, UTC' }),
  boolean: Type.Boolean(),
  number: Type.Number(),
  'amount text': Type.String({ description: 'a decimal' }),
  amount: Type.Number(),
  price: Type.Number(),
  prices: Type.String({ description: 'a JSON array of decimals, in the order of outcomes' }),
};

const Version = Type.Union(
  VERSIONS.map((version) => Type.Literal(version)),
  { description: 'of the protocol, where the catalog has it' },
);

function columnsOf(kind: Kind): Record<string, TSchema> {
  return Object.fromEntries(
    allColumns(kind).map((column) => [column.name, KIND_SCHEMAS[column.kind]]),
  );
}

const asGiven = { description: 'as the catalog has it' };
const forClients = { description: 'as the catalog has it; `CATALOG_OBJECTS=clients`' };

const market = {
  ...columnsOf('markets'),
  version: Type.Optional(Version),
  positionIds: Type.Optional(
    Type.Array(Text, { description: 'tokens of a market whose `version` is v2' }),
  ),
  feesEnabled: Type.Optional(Type.Boolean(asGiven)),
  feeType: Type.Optional(Type.String(asGiven)),
  feeSchedule: Type.Optional(
    Type.Object(
      {},
      {
        description: '`rate`, `exponent`, `takerOnly` and `rebateRate` as the catalog has them',
      },
    ),
  ),
  sportsMarketType: Type.Optional(Type.String(forClients)),
  line: Type.Optional(Type.Number(forClients)),
  gameStartTime: Type.Optional(Type.String(forClients)),
  groupItemTitle: Type.Optional(Type.String(forClients)),
  closedTime: Type.Optional(KIND_SCHEMAS.date),
  umaResolutionStatus: Type.Optional(
    Type.Union([Type.Literal(RESOLVED_STATUS), Type.Literal(PROPOSED_STATUS)], {
      description: 'of a market that has resolved, or of which a payout is proposed',
    }),
  ),
  resolutionNote: Type.Optional(
    Type.String({ description: 'the note of the operator on that payout; absent: there is none' }),
  ),
  umaEndDate: Type.Optional(
    Type.String({ description: 'ISO 8601, UTC: a proposed payout is paid then' }),
  ),
  proposedPrices: Type.Optional(
    Type.String({
      description: 'a JSON array of decimals, in the order of outcomes: what a share is to pay',
    }),
  ),
};
const summary = { ...columnsOf('events'), version: Type.Optional(Version) };
const series = columnsOf('series');

export const TagAnswer = Type.Object(columnsOf('tags'));
export const MarketAnswer = Type.Object({
  ...market,
  events: Type.Array(Type.Object({ id: Text, ticker: Text, slug: Text, title: Text })),
});
export const EventAnswer = Type.Object({ ...summary, tags: Type.Array(TagAnswer) });
const EventWithMarketsAnswer = Type.Object({
  ...EventAnswer.properties,
  markets: Type.Array(Type.Object(market)),
});
export const WholeEventAnswer = Type.Object({
  ...EventWithMarketsAnswer.properties,
  series: Type.Array(Type.Object(series)),
  eventMetadata: Type.Object({}),
});
export const SeriesAnswer = Type.Object({
  ...series,
  events: Type.Array(Type.Object(summary)),
});
export const RelatedTagsAnswer = Type.Array(
  Type.Object({
    id: Text,
    tagID: Type.Integer(),
    relatedTagID: Type.Integer(),
    rank: Type.Integer({ minimum: 1 }),
  }),
);

/** Absent on the last page. */
const next = { next_cursor: Type.Optional(Text) };
export const MarketsKeysetAnswer = Type.Object({ markets: Type.Array(MarketAnswer), ...next });
export const EventsKeysetAnswer = Type.Object({
  events: Type.Array(EventWithMarketsAnswer),
  ...next,
});

export const SearchAnswer = Type.Object({
  events: Type.Array(EventAnswer),
  tags: Type.Array(
    Type.Object({ id: Text, label: Text, slug: Text, event_count: Type.Integer({ minimum: 0 }) }),
  ),
  pagination: Type.Object({ hasMore: Type.Boolean(), totalResults: Type.Integer({ minimum: 0 }) }),
});

const sampling = {
  condition_id: Text,
  status: Type.Union([Type.Literal('active'), Type.Literal('paused'), Type.Literal('closed')]),
  neg_risk: Type.Boolean(),
  market_id: Type.Integer(),
  question: Text,
  slug: Text,
  assets_ids: Type.Array(Text),
  outcomes: Type.Array(Text),
};
const SimplifiedMarket = Type.Object(sampling, { additionalProperties: false });
const FullMarket = Type.Object({
  ...sampling,
  description: Text,
  event: Type.Object({ id: Text, slug: Text, title: Text, ticker: Text, description: Text }),
  raw_metadata: Type.Object({}),
});

export const SamplingAnswer = pageOf(FullMarket);
export const SimplifiedSamplingAnswer = pageOf(SimplifiedMarket);

/** A page of a list by cursor; `LTE=` is the end (docs/protocol.md#cursors). */
function pageOf<S extends TSchema>(item: S) {
  return Type.Object({ data: Type.Array(item), next_cursor: Text });
}
