/**
 * What the catalog routes answer (SPEC 2, GAPS 4.4 and 5), for the API document and for the tests
 * that hold answers to it. Fields beyond SPEC.md are named in shape.ts.
 */
import { type TSchema, Type } from '../common/schema.ts';
import { EVENT_FIGURES, type FigureForm, MARKET_FIGURES } from './shape.ts';

const When = Type.Union([Type.String(), Type.Null()], { description: 'ISO 8601, UTC' });
const Text = Type.String();
const FIGURE_SCHEMAS: Readonly<Record<FigureForm, TSchema>> = {
  text: Type.String({ description: 'a decimal' }),
  number: Type.Number(),
  prices: Type.String({ description: 'a JSON array of decimals, in the order of outcomes' }),
};
const Flags = { active: Type.Boolean(), closed: Type.Boolean(), archived: Type.Boolean() };

export const TagAnswer = Type.Object({
  id: Text,
  label: Text,
  slug: Text,
  createdAt: When,
  updatedAt: When,
  requiresTranslation: Type.Boolean(),
});

const summary = {
  id: Text,
  ticker: Text,
  slug: Text,
  title: Text,
  description: Text,
  resolutionSource: Text,
  startDate: When,
  creationDate: When,
  endDate: When,
  image: Text,
  icon: Text,
  ...Flags,
  createdAt: When,
  updatedAt: When,
  ...figures(EVENT_FIGURES),
};
const EventSummary = Type.Object(summary);

const series = {
  id: Text,
  ticker: Text,
  slug: Text,
  title: Text,
  seriesType: Text,
  recurrence: Text,
  image: Text,
  icon: Text,
  ...Flags,
  createdAt: When,
  updatedAt: When,
};

const market = {
  id: Text,
  question: Text,
  conditionId: Text,
  slug: Text,
  resolutionSource: Text,
  startDate: When,
  endDate: When,
  image: Text,
  icon: Text,
  description: Text,
  outcomes: Type.String({ description: 'a JSON array of labels' }),
  clobTokenIds: Type.String({ description: 'a JSON array of token ids, in the order of outcomes' }),
  ...Flags,
  createdAt: When,
  updatedAt: When,
  questionID: Text,
  ...figures(MARKET_FIGURES),
};

export const MarketAnswer = Type.Object({
  ...market,
  events: Type.Array(Type.Object({ id: Text, ticker: Text, slug: Text, title: Text })),
});
export const EventAnswer = Type.Object({ ...summary, tags: Type.Array(TagAnswer) });
export const WholeEventAnswer = Type.Object({
  ...summary,
  tags: Type.Array(TagAnswer),
  markets: Type.Array(Type.Object(market)),
  series: Type.Array(Type.Object(series)),
  eventMetadata: Type.Object({}),
});
export const SeriesAnswer = Type.Object({ ...series, events: Type.Array(EventSummary) });

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

/** Live figures of this node's own books and fills, up to a second old. */
function figures(
  table: readonly { readonly name: string; readonly form: FigureForm }[],
): Record<string, TSchema> {
  return Object.fromEntries(table.map(({ name, form }) => [name, FIGURE_SCHEMAS[form]]));
}

/** A page of a list by cursor; `LTE=` is the end (GAPS 5). */
function pageOf<S extends TSchema>(item: S) {
  return Type.Object({ data: Type.Array(item), next_cursor: Text });
}
