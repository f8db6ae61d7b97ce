/** `market list` and `event list`: the catalog of a running node by its public API. */

import { textList } from '../../storage/catalog/catalog-json.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import { type Cells, given } from './command.ts';
import { type Context, type Options, Refused } from './context.ts';
import { columnsOf, type ListPage, listCommand } from './list-command.ts';
import { answerOf, baseOf } from './node-request.ts';
import { textOf } from './settings.ts';

interface ApiMarket {
  readonly id: string;
  readonly slug: string;
  readonly question: string;
  readonly conditionId: string;
  /** JSON arrays of texts, by outcome. */
  readonly outcomes: string;
  readonly clobTokenIds: string;
  readonly version?: string;
  readonly positionIds?: readonly string[];
  readonly outcomePrices: string;
  readonly endDate: string | null;
  readonly closed: boolean;
  readonly acceptingOrders: boolean;
  readonly enableOrderBook: boolean;
  readonly umaResolutionStatus?: string;
  readonly umaEndDate?: string;
  readonly proposedPrices?: string;
  readonly volume: string;
  readonly liquidity: string;
  readonly events?: readonly { readonly id: string; readonly slug: string }[];
}

interface ApiEvent {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly closed: boolean;
  readonly endDate: string | null;
  readonly volume: number;
  readonly markets?: readonly ApiMarket[];
}

interface Outcome {
  readonly outcome: string;
  readonly token_id: string;
  readonly price: string;
}

/** Row of a market, or with `--tokens` of one outcome. */
interface MarketRow {
  readonly id: string;
  readonly slug: string;
  readonly question: string;
  readonly condition_id: string;
  readonly event_id: string;
  readonly event_slug: string;
  readonly state: string;
  readonly end: string;
  readonly volume: string;
  readonly liquidity: string;
  readonly outcomes: readonly Outcome[];
}

interface EventRow {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly state: string;
  readonly end: string;
  readonly volume: string;
  readonly markets: number;
}

const STATES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  open: { closed: 'false', accepting_orders: 'true' },
  halted: { closed: 'false', accepting_orders: 'false' },
  closed: { closed: 'true' },
};
/** Query parameters by value of `--by`: largest or next ones first. */
const ORDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  new: {},
  volume: { order: 'volumeNum', ascending: 'false' },
  liquidity: { order: 'liquidityNum', ascending: 'false' },
  end: { order: 'endDate', ascending: 'true' },
};
export const listMarkets = listCommand<MarketRow>({
  page(context, options, from) {
    const event = textOf(options, 'event') ?? '';
    const isNumber = /^\d+$/.test(event);
    const query = given({
      ...chosen(options, 'state', STATES),
      ...chosen(options, 'by', ORDERS),
      tag_slug: textOf(options, 'tag'),
      event_id: isNumber ? event : undefined,
      event_slug: isNumber ? undefined : textOf(options, 'event'),
    });
    return pageOf<ApiMarket, MarketRow>(
      context,
      options,
      { kind: 'markets', query, ...from },
      marketRow,
    );
  },
  columns: columnsOf<MarketRow>(
    {
      id: 'id',
      slug: 'slug',
      question: 'question',
      condition_id: 'condition_id',
      event_id: 'event_id',
      event_slug: 'event_slug',
      state: 'state',
      end: 'end',
      volume: 'volume',
      liquidity: 'liquidity',
      outcomes: ({ outcomes }) => outcomes.map(({ outcome }) => outcome).join('|'),
      prices: ({ outcomes }) => outcomes.map(({ price }) => price).join('|'),
      token_ids: ({ outcomes }) => outcomes.map((row) => row.token_id).join('|'),
    },
    ['slug', 'question', 'event_slug', 'state', 'outcomes', 'prices', 'token_ids'],
  ),
  shown: (options) => (options.tokens === true ? TOKEN_CELLS : MARKET_CELLS),
  numbers: ['number', 'price', 'volume'],
  isDim: ({ state }) => state !== 'open',
  split: (row, options) =>
    options.tokens === true ? row.outcomes.map((of) => ({ ...row, outcomes: [of] })) : [row],
});

const MARKET_CELLS: Cells<MarketRow> = {
  number: 'id',
  slug: 'slug',
  state: 'state',
  prices: ({ outcomes }) => outcomes.map((row) => `${row.outcome} ${row.price}`).join(', '),
  volume: 'volume',
  ends: 'end',
};
const TOKEN_CELLS: Cells<MarketRow> = {
  number: 'id',
  slug: 'slug',
  outcome: ({ outcomes }) => outcomes[0]!.outcome,
  price: ({ outcomes }) => outcomes[0]!.price,
  token: ({ outcomes }) => outcomes[0]!.token_id,
};

export const listEvents = listCommand<EventRow>({
  page(context, options, from) {
    const state = textOf(options, 'state');
    if (state === 'halted') throw new Refused('--state of events must be open or closed');
    const query = given({
      closed: chosen(options, 'state', STATES).closed,
      ...eventOrder(options),
      tag_slug: textOf(options, 'tag'),
    });
    return pageOf<ApiEvent, EventRow>(
      context,
      options,
      { kind: 'events', query, ...from },
      eventRow,
    );
  },
  columns: columnsOf<EventRow>(
    {
      id: 'id',
      slug: 'slug',
      title: 'title',
      state: 'state',
      end: 'end',
      volume: 'volume',
      markets: 'markets',
    },
    ['slug', 'title'],
  ),
  shown: () => ({
    number: 'id',
    slug: 'slug',
    state: 'state',
    markets: 'markets',
    volume: 'volume',
    ends: 'end',
  }),
  numbers: ['number', 'markets', 'volume'],
  isDim: ({ state }) => state !== 'open',
});

interface Asked {
  readonly kind: 'markets' | 'events';
  readonly query: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly after: string | undefined;
}

async function pageOf<Api, Row>(
  context: Context,
  options: Options,
  { after, kind, limit, query }: Asked,
  rowOf: (object: Api) => Row,
): Promise<ListPage<Row>> {
  const base = baseOf(context, options, (config) => config);
  // Under this base path the lists are those of the catalog in either client profile.
  const url = new URL(`/gamma/${kind}/keyset`, base);
  const cursor = after === undefined ? {} : { after_cursor: after };
  url.search = new URLSearchParams({ ...query, ...cursor, limit: String(limit) }).toString();
  const answer = await answerOf<
    Readonly<Record<typeof kind, readonly Api[]>> & { readonly next_cursor?: string }
  >(url, context.signal);
  return { rows: answer[kind].map(rowOf), next: answer.next_cursor };
}

function chosen(
  options: Options,
  name: string,
  table: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Readonly<Record<string, string>> {
  const text = textOf(options, name);
  if (text === undefined) return {};
  if (Object.hasOwn(table, text)) return table[text]!;
  throw new Refused(`--${name} must be one of ${Object.keys(table).join(', ')}, not "${text}"`);
}

/** Sort order of events, whose statistics have names of their own. */
function eventOrder(options: Options): Readonly<Record<string, string>> {
  const { order, ...rest } = chosen(options, 'by', ORDERS);
  return order === undefined ? rest : { ...rest, order: order.replace(/Num$/, '') };
}

function marketRow(market: ApiMarket): MarketRow {
  const [event] = market.events ?? [];
  const prices = textList(market.outcomePrices) ?? [];
  const tokens = textList(tradedTokens(market)) ?? [];
  const outcomes = (textList(market.outcomes) ?? []).map((outcome, i) => ({
    outcome,
    token_id: tokens[i] ?? '',
    price: prices[i] ?? '',
  }));
  return {
    id: market.id,
    slug: market.slug,
    question: market.question,
    condition_id: market.conditionId,
    event_id: event?.id ?? '',
    event_slug: event?.slug ?? '',
    state: stateOf(market, outcomes),
    end: market.endDate ?? '',
    volume: market.volume,
    liquidity: market.liquidity,
    outcomes,
  };
}

function stateOf(market: ApiMarket, outcomes: readonly Outcome[]): string {
  if (market.umaResolutionStatus === 'resolved') return `resolved: ${paidText(outcomes)}`;
  if (market.umaResolutionStatus === 'proposed') return proposedState(market, outcomes);
  if (market.closed) return 'closed';
  if (!market.enableOrderBook) return 'no book';
  return market.acceptingOrders ? 'open' : 'halted';
}

/** State of a market with a proposal. A node that syncs a catalog may lack its terms. */
function proposedState(
  { proposedPrices, umaEndDate }: ApiMarket,
  outcomes: readonly Outcome[],
): string {
  const prices = textList(proposedPrices);
  if (prices === undefined || umaEndDate === undefined) return 'proposed';
  const paid = outcomes.map((row, i) => ({ ...row, price: prices[i] ?? '' }));
  return `proposed: ${paidText(paid)} from ${umaEndDate}`;
}

/** The outcome that pays all, or the payout of each. */
function paidText(outcomes: readonly Outcome[]): string {
  const winner = outcomes.find(({ price }) => price === '1');
  return winner?.outcome ?? outcomes.map(({ outcome, price }) => `${outcome} ${price}`).join(', ');
}

function eventRow({ closed, endDate, id, markets, slug, title, volume }: ApiEvent): EventRow {
  const state = closed ? 'closed' : 'open';
  const shown = { id, slug, title, state, end: endDate ?? '', volume: String(volume) };
  return { ...shown, markets: markets?.length ?? 0 };
}
