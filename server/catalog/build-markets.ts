/**
 * The markets of a prepared catalog: rows, fragments, indexes, the creators they have, and the
 * sampling lists. Layout: prepared.ts.
 *
 * Runs on the catalog thread.
 */
import { OUTCOMES_MAX } from '../../engine/limits.ts';
import { isObject, type JsonObject, text } from '../../storage/catalog-json.ts';
import { creatorOf, tradingTerms } from '../../storage/catalog-market.ts';
import type { Site } from '../../storage/catalog-sites.ts';
import type { ByteCollector } from './build-bytes.ts';
import { flagsOf } from './build-flags.ts';
import { emptyMarketFigures } from './figures-text.ts';
import {
  CatalogFlag,
  type PreparedCatalog,
  type PreparedMarkets,
  type PreparedSampling,
} from './prepared.ts';
import {
  columnsOf,
  type FieldValue,
  listTextOf,
  MARKET_FIELDS,
  type MarketSource,
  membersOf,
  quoted,
  textsOf,
} from './shape.ts';
import { sortOrdersOf } from './sort-orders.ts';
import { buildTextIndex } from './text-index.ts';

interface MarketRow extends MarketSource {
  readonly id: number;
  readonly eventRow: number;
}

const DESCRIPTION = MARKET_FIELDS.findIndex(({ name }) => name === 'description');

/** The markets of events whose rows are their places in the list, ascending by id. */
export function marketRowsOf(events: readonly JsonObject[]): readonly MarketRow[] {
  return events
    .flatMap((event, eventRow) =>
      (event.markets as readonly JsonObject[]).map((raw) => ({
        id: Number(raw.id),
        eventRow,
        raw,
        outcomes: listTextOf(raw.outcomes),
        tokenIds: listTextOf(raw.clobTokenIds),
        terms: tradingTerms(raw, event),
        creator: creatorOf(raw, event),
      })),
    )
    .sort((a, b) => a.id - b.id);
}

/** `summaries[eventRow]` is the short summary of an event, closed. */
export function prepareMarkets(
  bytes: ByteCollector,
  markets: readonly MarketRow[],
  summaries: readonly string[],
  creatorNumbers: ReadonlyMap<string, number>,
): PreparedMarkets {
  const columns = columnsOf(MARKET_FIELDS, markets);
  const conditions = markets.flatMap(({ raw }, row): [string, number][] => {
    const condition = text(raw.conditionId).trim().toLowerCase();
    return condition === '' ? [] : [[condition, row]];
  });
  return {
    ids: Float64Array.from(markets, ({ id }) => id),
    flags: flagsOf(markets.map(({ raw }) => raw)),
    event: Uint32Array.from(markets, ({ eventRow }) => eventRow),
    outcomes: Uint16Array.from(markets, outcomesOf),
    creator: Uint32Array.from(markets, ({ creator }) => creatorNumbers.get(creator) ?? 0),
    ...addEntries(bytes, markets, columns, summaries),
    slugs: buildTextIndex(markets.map(({ raw }, row) => [text(raw.slug), row])),
    conditions: buildTextIndex(conditions),
    orders: sortOrdersOf(MARKET_FIELDS, columns),
  };
}

function addEntries(
  bytes: ByteCollector,
  markets: readonly MarketRow[],
  columns: readonly (readonly FieldValue[])[],
  summaries: readonly string[],
) {
  const coreStart = new Uint32Array(markets.length);
  const coreEnd = new Uint32Array(markets.length);
  const entryEnd = new Uint32Array(markets.length);
  const descriptionStart = new Uint32Array(markets.length);
  const descriptionEnd = new Uint32Array(markets.length);
  const figuresStart = new Uint32Array(markets.length);
  for (let row = markets.length - 1; row >= 0; row--) {
    coreStart[row] = bytes.place;
    const head = membersOf(MARKET_FIELDS, columns, row, 0, DESCRIPTION);
    descriptionStart[row] = bytes.add(`${head},"description":`);
    descriptionEnd[row] = bytes.add(quoted(text(markets[row]!.raw.description)));
    figuresStart[row] = bytes.add(membersOf(MARKET_FIELDS, columns, row, DESCRIPTION + 1));
    coreEnd[row] = bytes.add(emptyMarketFigures(outcomesOf(markets[row]!)));
    const summary = summaries[markets[row]!.eventRow]!;
    entryEnd[row] = bytes.add(`,"events":[${summary}]},`) - 1;
  }
  return { coreStart, coreEnd, entryEnd, descriptionStart, descriptionEnd, figuresStart };
}

/** More than any book has are shown without prices. */
function outcomesOf({ outcomes }: MarketRow): number {
  return outcomes.count > OUTCOMES_MAX ? 0 : outcomes.count;
}

/** The creators of markets, numbered from 1 in the order of their wallets. */
export function numberCreators(markets: readonly MarketRow[]): ReadonlyMap<string, number> {
  const wallets = new Set(markets.map(({ creator }) => creator));
  wallets.delete('');
  return new Map([...wallets].sort().map((wallet, index) => [wallet, index + 1]));
}

/** Wallets of creators stand for themselves, sites for those of theirs that have a market. */
export function indexCreators(
  numbers: ReadonlyMap<string, number>,
  sites: readonly Site[],
): PreparedCatalog['creators'] {
  const ofSites = sites.flatMap(({ id, creators }) =>
    creators.flatMap((wallet): [string, number][] => {
      const number = numbers.get(wallet);
      return number === undefined ? [] : [[id, number]];
    }),
  );
  return buildTextIndex([...numbers, ...ofSites]);
}

/** The sampling lists (SPEC 2, GAPS 5). */
export function prepareSampling(
  bytes: ByteCollector,
  markets: readonly MarketRow[],
  flags: Uint8Array,
): PreparedSampling {
  const listed = Uint32Array.from(
    [...markets.keys()].filter((row) => flags[row] === CatalogFlag.active),
  );
  const start = new Uint32Array(listed.length);
  const split = new Uint32Array(listed.length);
  const end = new Uint32Array(listed.length);
  const metadataStart = new Uint32Array(listed.length);
  const metadataEnd = new Uint32Array(listed.length);
  for (const [place, row] of listed.entries()) {
    const { outcomes, tokenIds } = markets[row]!;
    start[place] = bytes.place;
    split[place] = bytes.add(samplingHead(markets[row]!));
    end[place] = bytes.add(`,"assets_ids":${textsOf(tokenIds)},"outcomes":${textsOf(outcomes)}`);
  }
  const emptyStart = bytes.place;
  const emptyEnd = bytes.add('{}');
  for (const [place, row] of listed.entries()) {
    const metadata = markets[row]!.raw.raw_metadata;
    const isOwn = isObject(metadata);
    metadataStart[place] = isOwn ? bytes.place : emptyStart;
    metadataEnd[place] = isOwn ? bytes.add(JSON.stringify(metadata)) : emptyEnd;
  }
  return { markets: listed, start, split, end, metadataStart, metadataEnd };
}

/** A listed market is paused while it is barred from taking orders (GAPS 5, 12). */
function samplingHead({ id, raw, terms }: MarketRow): string {
  const status = terms.acceptingOrders && terms.enableOrderBook ? 'active' : 'paused';
  return (
    `{"condition_id":${quoted(text(raw.conditionId))},"status":"${status}"` +
    `,"neg_risk":${terms.negRisk},"market_id":${id}` +
    `,"question":${quoted(text(raw.question))},"slug":${quoted(text(raw.slug))}`
  );
}
