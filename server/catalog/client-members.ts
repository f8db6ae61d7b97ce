/**
 * Members of raw markets that are served unchanged where the catalog has them: fees always, so that a catalog sync from
 * any node has them, and facts of a listing for clients (CATALOG_OBJECTS). A value of another type is left out.
 *
 * Pure; any thread.
 */
import { isObject, type JsonObject } from '../../storage/catalog/catalog-json.ts';
import { versionOf } from '../../storage/catalog/market-form.ts';
import type { MarketLifecycle } from '../market-data/texts.ts';

export type ClientMembers = Pick<MarketLifecycle['listed'], keyof typeof LISTING>;

const isText = (value: unknown): boolean => typeof value === 'string';
type Types = Readonly<Record<string, (value: unknown) => boolean>>;

const FEES = {
  feesEnabled: (value) => typeof value === 'boolean',
  feeType: isText,
  feeSchedule: isObject,
} satisfies Types;
const LISTING = {
  sportsMarketType: isText,
  line: (value) => typeof value === 'number',
  gameStartTime: isText,
  groupItemTitle: isText,
} satisfies Types;

/** JSON members of a market, each after its comma, with the version of one whose catalog says none. */
export function clientMembersText(raw: JsonObject): string {
  const version = versionOf(raw) === undefined ? ',"version":"v1"' : '';
  return version + membersText(raw, LISTING);
}

/** JSON members of a market's fees, each after its comma. */
export function feeMembersText(raw: JsonObject): string {
  return membersText(raw, FEES);
}

function membersText(raw: JsonObject, types: Types): string {
  const known = Object.entries(types).filter(([name, isSound]) => isSound(raw[name]));
  const members = Object.fromEntries(known.map(([name]) => [name, raw[name]]));
  return known.length === 0 ? '' : `,${JSON.stringify(members).slice(1, -1)}`;
}
