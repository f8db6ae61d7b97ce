/**
 * The markets of a prepared catalog: rows, fragments, indexes, creators, and the sampling lists.
 * Layout: prepared.ts.
 *
 * Runs on the catalog thread.
 */

import { OUTCOMES_MAX } from '../../engine/tables/capacities.ts';
import { isObject, type JsonObject, marketsOf, text } from '../../storage/catalog/catalog-json.ts';
import {
  creatorOf,
  type TradingTerms,
  tradingTerms,
} from '../../storage/catalog/catalog-market.ts';
import type { Site } from '../../storage/catalog/catalog-sites.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import { tradedTokens, versionOf } from '../../storage/catalog/market-form.ts';
import {
  isResolved,
  noteIn,
  PROPOSED_STATUS,
  proposalIn,
  RESOLVED_STATUS,
} from '../../storage/catalog/operator-marks.ts';
import { POSITIONS_VERSION } from '../../storage/catalog/protocol-version.ts';
import {
  type ByteCollector,
  closedTexts,
  prepareObjects,
  type Rows,
  rowsOf,
  spansOf,
} from './build-objects.ts';
import { clientMembersText, feeMembersText } from './client-members.ts';
import {
  CatalogFlag,
  type PreparedCatalog,
  type PreparedMarkets,
  type PreparedSampling,
} from './prepared.ts';
import { dateOf, listTextOf, type MarketSource, textsOf } from './shape.ts';
import { MARKET_TEXT, statisticsWithoutBook } from './statistics-text.ts';
import { buildTextIndex } from './text-index.ts';

/**
 * Fields of a market's event that lists show: id, ticker, slug, title
 * (docs/protocol.md#catalog-objects).
 */
const SHORT_SUMMARY_FIELDS = 4;

interface MarketRow extends MarketSource {
  readonly id: number;
  readonly eventRow: number;
}

export function marketRowsOf(events: readonly JsonObject[]): readonly MarketRow[] {
  return events
    .flatMap((event, eventRow) =>
      marketsOf(event).map((raw) => ({
        id: Number(raw.id),
        eventRow,
        raw,
        outcomes: listTextOf(raw.outcomes),
        tokenIds: listTextOf(tradedTokens(raw)),
        terms: shownTerms(raw, event),
        creator: creatorOf(raw, event),
      })),
    )
    .sort((a, b) => a.id - b.id);
}

function shownTerms(raw: JsonObject, event: JsonObject): TradingTerms {
  const terms = tradingTerms(raw, event);
  return proposalIn(raw) === undefined ? terms : { ...terms, acceptingOrders: false };
}

export function prepareMarkets(
  bytes: ByteCollector,
  markets: readonly MarketRow[],
  events: Rows,
  creatorNumbers: ReadonlyMap<string, number>,
): PreparedMarkets {
  const outcomes = Uint16Array.from(markets, outcomesOf);
  const spans = Array.from({ length: OUTCOMES_MAX + 1 }, (_, count) => {
    return MARKET_TEXT.of(statisticsWithoutBook(count));
  });
  const summaries = closedTexts(events, SHORT_SUMMARY_FIELDS);
  const objects = prepareObjects(bytes, rowsOf('markets', markets), {
    more: (row) =>
      protocolMembers(markets[row]!) +
      feeMembersText(markets[row]!.raw) +
      resolutionMembers(markets[row]!),
    statistics: (row) => spans[outcomes[row]!]!,
    nested: (row) => `,"events":[${summaries[markets[row]!.eventRow]!}]`,
    cuts: ['icon', 'description'],
    keyed: { clobTokenIds: markets.map(({ tokenIds }) => tokenIds.text) },
  });
  return {
    ...objects,
    clientMembers: spansOf(bytes, markets, ({ raw }) => clientMembersText(raw)),
    event: Uint32Array.from(markets, ({ eventRow }) => eventRow),
    outcomes,
    creator: Uint32Array.from(markets, ({ creator }) => creatorNumbers.get(creator) ?? 0),
  };
}

/** `version` where the catalog has it, and the positions of a market of the second protocol. */
function protocolMembers({ raw, tokenIds }: MarketRow): string {
  const version = versionOf(raw);
  if (version === undefined) return '';
  const positions = version === POSITIONS_VERSION ? `,"positionIds":${textsOf(tokenIds)}` : '';
  return `,"version":"${version}"${positions}`;
}

function resolutionMembers({ raw }: MarketRow): string {
  const proposal = proposalIn(raw);
  if (!isResolved(raw) && proposal === undefined) return '';
  const shown =
    proposal === undefined
      ? { closedTime: dateOf(raw.closedTime), umaResolutionStatus: RESOLVED_STATUS }
      : { umaResolutionStatus: PROPOSED_STATUS, ...proposal };
  const noted = { ...shown, resolutionNote: noteIn(raw) };
  return `,${JSON.stringify(noted).slice(1, -1)}`;
}

/**
 * Number of outcomes; 0 where it has more than a book can have, as it is then shown without prices.
 */
function outcomesOf({ outcomes }: MarketRow): number {
  return outcomes.count > OUTCOMES_MAX ? 0 : outcomes.count;
}

export function numberCreators(markets: readonly MarketRow[]): ReadonlyMap<string, number> {
  const wallets = new Set(markets.map(({ creator }) => creator));
  wallets.delete('');
  return new Map([...wallets].sort().map((wallet, index) => [wallet, index + 1]));
}

/**
 * Index of creators: a wallet stands for itself, a site for those of its wallets that have a
 * market.
 */
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

export function prepareSampling(
  bytes: ByteCollector,
  markets: readonly MarketRow[],
  flags: Uint8Array,
): PreparedSampling {
  const { active, archived, closed } = CatalogFlag;
  const listed = Uint32Array.from(
    [...markets.keys()].filter((row) => (flags[row]! & (active | closed | archived)) === active),
  );
  const rows = Array.from(listed, (row) => markets[row]!);
  const split = new Uint32Array(listed.length);
  const { start, end } = spansOf(bytes, rows, (row, place) => {
    const head = samplingHead(row);
    split[place] = bytes.place + Buffer.byteLength(head);
    const { outcomes, tokenIds } = row;
    return `${head},"assets_ids":${textsOf(tokenIds)},"outcomes":${textsOf(outcomes)}`;
  });
  const metadata = spansOf(bytes, rows, ({ raw: { raw_metadata: metadata } }) =>
    JSON.stringify(isObject(metadata) ? metadata : {}),
  );
  return { markets: listed, start, split, end, metadata };
}

/**
 * Head of a sampling row; a market is paused while it takes no orders
 * (docs/protocol.md#sampling-lists).
 */
function samplingHead({ id, raw, terms }: MarketRow): string {
  const shown = {
    condition_id: wholeCondition(text(raw.conditionId)),
    status: terms.acceptingOrders && terms.enableOrderBook ? 'active' : 'paused',
    neg_risk: terms.negRisk,
    market_id: id,
    question: text(raw.question),
    slug: text(raw.slug),
  };
  return JSON.stringify(shown).slice(0, -1);
}
