/**
 * The fields of a market or an event in a prepared catalog, parsed from its JSON fragment on demand:
 * most are never needed, and each takes some 20 us.
 *
 * Thread: the I/O thread.
 */

import { conditionAt, marketCount } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { ID_PATTERN } from '../../storage/catalog/catalog-fields.ts';
import { textList } from '../../storage/catalog/catalog-json.ts';
import { CONDITION_PATTERN } from '../../storage/catalog/condition-ids.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import type { ProtocolVersion } from '../../storage/catalog/protocol-version.ts';
import { nextIteration } from '../common/event-loop.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { MarketInfo, MarketLifecycle, MarketLookup } from '../market-data/texts.ts';
import type { ClientMembers } from './client-members.ts';
import type { PreparedCatalog, PreparedObjects } from './prepared.ts';
import { valuesOfRow } from './relation.ts';
import { placeAmong } from './select.ts';
import { keyOf, rowsNamed } from './text-index.ts';

type Texts<Names extends string> = Readonly<Record<Names, string>>;

/**
 * Fields of a market that are read; `outcomes` and the two after it are JSON arrays of texts
 * (docs/protocol.md#catalog-objects).
 */
export type ShownMarket = Texts<
  'conditionId' | 'description' | 'icon' | 'image' | 'question' | 'questionID' | 'slug'
> &
  Texts<'outcomes' | 'clobTokenIds' | 'outcomePrices'> &
  Readonly<
    Record<'acceptingOrders' | 'active' | 'archived' | 'closed' | 'enableOrderBook', boolean>
  > &
  Readonly<Record<'orderMinSize' | 'orderPriceMinTickSize', number>> & {
    readonly endDate: string | null;
    readonly negRisk: boolean;
    readonly feesEnabled?: boolean;
    readonly feeSchedule?: object;
    /** Present where the market has resolved, or a payout is proposed. */
    readonly umaResolutionStatus?: string;
    /** Note of the operator on that payout. */
    readonly resolutionNote?: string;
    readonly version?: ProtocolVersion;
    readonly positionIds?: readonly string[];
    readonly closedTime?: string | null;
    readonly createdAt: string | null;
    readonly updatedAt: string | null;
  };

type ShownEvent = Texts<'id' | 'ticker' | 'slug' | 'title' | 'description'>;
export type EventSummary = Pick<ShownEvent, 'id' | 'slug' | 'title'>;

const MARKETS_PER_ITERATION = 64;

function clientMembersAt({ bytes, markets }: PreparedCatalog, row: number): ClientMembers {
  const { end, start } = markets.clientMembers;
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return JSON.parse(`{${all.toString('utf8', start[row]! + 1, end[row])}}`) as ClientMembers;
}

/** Object of a row without its nested members. The fragment is open, so it is closed here. */
function shown({ bytes }: PreparedCatalog, { coreEnd, coreStart }: PreparedObjects, row: number) {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return JSON.parse(`${all.toString('utf8', coreStart[row], coreEnd[row])}}`) as unknown;
}

export function marketAt(prepared: PreparedCatalog, row: number): ShownMarket {
  return shown(prepared, prepared.markets, row) as ShownMarket;
}

/** Event of the market at a row. */
function eventAt(prepared: PreparedCatalog, row: number): ShownEvent {
  return shown(prepared, prepared.events, prepared.markets.event[row]!) as ShownEvent;
}

/** Event of the market with a condition id; `undefined` when there is none. */
export function eventOfCondition(prepared: PreparedCatalog, id: string): EventSummary | undefined {
  const row = rowOfCondition(prepared, id);
  return row === undefined ? undefined : eventAt(prepared, row);
}

/** Row of the market with a condition id; `undefined` when there is none. */
export function rowOfCondition({ markets }: PreparedCatalog, id: string): number | undefined {
  if (!CONDITION_PATTERN.test(id)) return undefined;
  return rowsNamed(markets.keys.conditionId!, keyOf('condition', id))[0];
}

/** Rows of the markets of a question id in lower case. */
export function rowsOfQuestion({ markets }: PreparedCatalog, id: string): readonly number[] {
  return Array.from(rowsNamed(markets.keys.questionID!, keyOf('number', id)));
}

export function marketInfoLookup(prepared: PreparedCatalog) {
  return lookup(prepared, (market, outcomes, event): MarketInfo => {
    const { archived, endDate, icon, question, slug } = market;
    const tokenIds = textList(tradedTokens(market)) ?? [];
    const shown = { question, slug, icon, outcomes, tokenIds, archived };
    return { ...shown, eventId: event.id, eventSlug: event.slug, endDate: endDate ?? '' };
  });
}

/** Looks up the fields for the stream message new_market; keys as in marketInfoLookup. */
export function marketLifecycleLookup(prepared: PreparedCatalog) {
  return lookup(prepared, (market, outcomes, event, row): MarketLifecycle => {
    const { active, description, orderPriceMinTickSize, question, slug } = market;
    const { id, ticker, title } = event;
    const summary = { id, ticker, slug: event.slug, title, description: event.description };
    const { feeSchedule, feesEnabled } = market;
    const fees = {
      ...(feesEnabled !== undefined && { feesEnabled }),
      ...(feeSchedule !== undefined && { feeSchedule }),
    };
    const listed = { ...fees, ...clientMembersAt(prepared, row) };
    const terms = { active, tick: orderPriceMinTickSize, listed };
    return { question, slug, description, outcomes, event: summary, ...terms };
  });
}

function lookup<Info>(
  prepared: PreparedCatalog,
  fieldsOf: (
    market: ShownMarket,
    outcomes: readonly string[],
    event: ShownEvent,
    row: number,
  ) => Info,
): (conditionId: string) => Info | undefined {
  return (conditionId) => {
    const row = rowOfCondition(prepared, conditionId);
    if (row === undefined) return undefined;
    const market = marketAt(prepared, row);
    const event = eventAt(prepared, row);
    return fieldsOf(market, textList(market.outcomes) ?? [], event, row);
  };
}

/**
 * Condition ids of an event's markets, in the order of the catalog; none when there is no such
 * event.
 */
export async function conditionsOfEvent(prepared: PreparedCatalog, id: string): Promise<string[]> {
  const { ids, markets } = prepared.events;
  const row = ID_PATTERN.test(id) ? placeAmong(ids, Number(id)) : -1;
  const conditions: string[] = [];
  if (row === -1) return conditions;
  for (const market of valuesOfRow(markets, row)) {
    if (conditions.length % MARKETS_PER_ITERATION === MARKETS_PER_ITERATION - 1)
      await nextIteration();
    conditions.push(marketAt(prepared, market).conditionId);
  }
  return conditions;
}

type ConditionLookup = (conditionId: string) => MarketInfo | undefined;

interface CatalogLookups {
  readonly byCondition: ConditionLookup;
  readonly bySlot: Map<MarketRow, MarketInfo>;
  readonly pinned: MarketLookup;
}

export class MarketInfos {
  private readonly tables: Tables;
  private current: CatalogLookups;

  constructor(tables: Tables) {
    this.tables = tables;
    this.current = this.lookupsOf(() => undefined);
  }

  /** Answers from a new catalog from now on, except callers with look-ups of the previous one. */
  replace(byCondition: ConditionLookup): void {
    this.current = this.lookupsOf(byCondition);
  }

  find(market: MarketRow): MarketInfo | undefined {
    return this.findIn(this.current, market);
  }

  /** Look-ups in the current catalog, also after another has replaced it: one function for each generation. */
  pinnedLookup(): MarketLookup {
    return this.current.pinned;
  }

  private lookupsOf(byCondition: ConditionLookup): CatalogLookups {
    const lookups: CatalogLookups = {
      byCondition,
      bySlot: new Map(),
      pinned: (market) => this.findIn(lookups, market),
    };
    return lookups;
  }

  private findIn(
    { byCondition, bySlot }: CatalogLookups,
    market: MarketRow,
  ): MarketInfo | undefined {
    const known = bySlot.get(market);
    if (known !== undefined) return known;
    if (market < 1 || market > marketCount(this.tables)) return undefined;
    const at = conditionAt(market);
    const found = byCondition(wordsToHex(this.tables.marketI, at, ID_WORDS));
    if (found !== undefined) bySlot.set(market, found);
    return found;
  }
}

/** Result of a look-up; several objects may share a slug. */
export type Named = { readonly found: string } | 'none' | 'many';

export function conditionNamed(prepared: PreparedCatalog, text: string): Named {
  const row = rowNamed(prepared.markets, text);
  return typeof row === 'string' ? row : { found: marketAt(prepared, row).conditionId };
}

export function eventNamed({ events }: PreparedCatalog, text: string): Named {
  const row = rowNamed(events, text);
  return typeof row === 'string' ? row : { found: String(events.ids[row]) };
}

function rowNamed({ ids, keys }: PreparedObjects, text: string): number | 'none' | 'many' {
  if (ID_PATTERN.test(text)) {
    const row = placeAmong(ids, Number(text));
    return row === -1 ? 'none' : row;
  }
  const rows = rowsNamed(keys.slug!, text);
  if (rows.length === 0) return 'none';
  return rows.length === 1 ? rows[0]! : 'many';
}
