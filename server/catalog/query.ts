/**
 * The query strings of the catalog routes to checked values (SPEC 4.2, GAPS 4.4 and 6.2).
 *
 * Decided here: unknown names are ignored. A parameter that is repeated, also under its other name,
 * has to have one value; values are compared as they are understood, so `1` and `true` are one. An
 * empty text is no filter and no value; an empty number or boolean is a bad one. `+` is a space.
 *
 * Thread: any; pure. Non-goals: whether what is asked for exists.
 */
import { normaliseSite } from '../../storage/catalog-sites.ts';
import type { QuerySpec } from '../common/query.ts';
import { type TSchema, Type } from '../common/schema.ts';
import { EVENT_COLUMNS, MARKET_COLUMNS } from './shape.ts';

/** SPEC 8. */
export const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 100;
const LIMIT_PER_TYPE_DEFAULT = 25;
/** Ids are whole numbers below 10^15, see storage/catalog-file.ts. */
const ID_MAX = 1e15 - 1;

/** A number that was not asked for. */
export const ANY = -1;

/** What a creator is called that no catalog has: a site id holds no `/`. */
const UNKNOWN_CREATOR = '/';

/** A checked query; what its route does not know stays at the default. */
export class CatalogQuery {
  limit: number = LIMIT_DEFAULT;
  offset = 0;
  /** 1, 0 or ANY, like the other two. */
  active = ANY;
  closed = ANY;
  archived = ANY;
  tagId = ANY;
  eventId = ANY;
  /** 1 or 0. */
  ascending = 0;
  /** From 1. */
  page = 1;
  /** 1 or 0. */
  searchTags = 1;
  /** 1 or 0; there are no profiles. */
  searchProfiles = 0;
  /** '' = no filter, like all texts below. */
  tag = '';
  eventSlug = '';
  seriesSlug = '';
  slug = '';
  /** In lower case. */
  conditionId = '';
  /** Name of a column as objects show it; '' = by id. */
  order = '';
  /** A wallet in lower case or a normalised site id. */
  creator = '';
  q = '';
  cursor = '';
}

type NumberField = {
  [Name in keyof CatalogQuery]: CatalogQuery[Name] extends number ? Name : never;
}[keyof CatalogQuery];
type TextField = Exclude<keyof CatalogQuery, NumberField>;

interface NumberParameter {
  readonly field: NumberField;
  /** Its bit in the set of the numbers given. */
  readonly bit: number;
  /** -1 for what breaks the rule. */
  readonly number: (value: string) => number;
  readonly text?: never;
  /** What a value must be, for the answer to a bad one. */
  readonly rule: string;
  /** The same for the API document. */
  readonly schema: TSchema;
}

interface TextParameter {
  readonly field: TextField;
  /** Undefined for what breaks the rule. */
  readonly text: (value: string) => string | undefined;
  readonly rule: string;
  readonly schema: TSchema;
}

type Parameter = NumberParameter | TextParameter;

/** The parameters of a route by their names. */
export type Parameters = ReadonlyMap<string, Parameter>;

const DECODABLE = 'percent-encoded UTF-8';

function whole(field: NumberField, min: number, max: number): NumberParameter {
  return {
    field,
    bit: bitOf(field),
    number: (value) => wholeNumber(value, min, max),
    rule: `a whole number from ${min} to ${max}`,
    schema: Type.Integer({ minimum: min, maximum: max }),
  };
}

function boolean(field: NumberField): NumberParameter {
  const rule = 'true, false, 1 or 0';
  return { field, bit: bitOf(field), number: truth, rule, schema: Type.Boolean() };
}

function text(field: TextField, normalise: (value: string) => string = same): TextParameter {
  return { field, text: normalise, rule: DECODABLE, schema: Type.String() };
}

function column(names: readonly string[]): TextParameter {
  const columns = new Map<string, string>();
  for (const name of names) columns.set(name, name).set(snakeCase(name), name);
  const rule = `one of ${names.join(', ')}`;
  const schema = Type.Union([...columns.keys()].map((name) => Type.Literal(name)));
  return { field: 'order', text: (value) => columns.get(value), rule, schema };
}

function bitOf(field: NumberField): number {
  return 1 << Object.keys(new CatalogQuery()).indexOf(field);
}

/** `createdAt` -> `created_at`, `questionID` -> `question_id`. */
function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

const creator = text('creator', (value) => normaliseSite(value) || UNKNOWN_CREATOR);
const tag = text('tag');
const eventSlug = text('eventSlug');
const conditionId = text('conditionId', (value) => value.toLowerCase());

const PAGED: readonly (readonly [string, Parameter])[] = [
  ['limit', whole('limit', 1, LIMIT_MAX)],
  ['offset', whole('offset', 0, Number.MAX_SAFE_INTEGER)],
  ['creator', creator],
];

const FILTERED: readonly (readonly [string, Parameter])[] = [
  ...PAGED,
  ['active', boolean('active')],
  ['closed', boolean('closed')],
  ['archived', boolean('archived')],
  ['tag', tag],
  ['tag_slug', tag],
  ['tag_id', whole('tagId', 0, ID_MAX)],
  ['slug', text('slug')],
  ['ascending', boolean('ascending')],
];

/** Of single objects. */
export const SINGLE_PARAMETERS: Parameters = new Map([['creator', creator]]);

/** Of GET /series and GET /tags. */
export const PAGED_PARAMETERS: Parameters = new Map(PAGED);

/** Of GET /markets. */
export const MARKET_PARAMETERS: Parameters = new Map([
  ...FILTERED,
  ['event_id', whole('eventId', 0, ID_MAX)],
  ['event_slug', eventSlug],
  ['eventSlug', eventSlug],
  ['conditionId', conditionId],
  ['condition_id', conditionId],
  ['order', column(MARKET_COLUMNS)],
]);

/** Of GET /events. */
export const EVENT_PARAMETERS: Parameters = new Map([
  ...FILTERED,
  ['series_slug', text('seriesSlug')],
  ['order', column(EVENT_COLUMNS)],
]);

/** Of GET /public-search. */
export const SEARCH_PARAMETERS: Parameters = new Map<string, Parameter>([
  ['q', text('q')],
  ['limit_per_type', whole('limit', 1, LIMIT_MAX)],
  ['page', whole('page', 1, Number.MAX_SAFE_INTEGER)],
  ['search_tags', boolean('searchTags')],
  ['search_profiles', boolean('searchProfiles')],
  ['creator', creator],
]);

/** Of the sampling lists. */
export const SAMPLING_PARAMETERS: Parameters = new Map([['next_cursor', text('cursor')]]);

/**
 * The parameters of a route for the route table. The route's handler reads the query itself, because
 * it looks for an answer under the same text first.
 */
export function querySpec(parameters: Parameters): QuerySpec<unknown> {
  const properties: Record<string, TSchema> = {};
  for (const [name, { schema }] of parameters) properties[name] = Type.Optional(schema);
  return { schema: Type.Object(properties), parse: () => undefined };
}

/**
 * Reads a query string, or says what has to be mended, for the member `detail` of the answer.
 *
 * @param query without `?`, '' when absent
 */
export function parseQuery(query: string, parameters: Parameters): CatalogQuery | string {
  const found = new CatalogQuery();
  if (parameters === SEARCH_PARAMETERS) found.limit = LIMIT_PER_TYPE_DEFAULT;
  let given = 0;
  let start = 0;
  while (start < query.length) {
    let end = query.indexOf('&', start);
    if (end === -1) end = query.length;
    let equals = query.indexOf('=', start);
    if (equals === -1 || equals > end) equals = end;
    const name = decode(query.slice(start, equals)) ?? '';
    const parameter = parameters.get(name);
    if (parameter !== undefined) {
      const value = decode(query.slice(equals + 1, end));
      if (value === undefined) return `${name} must be ${DECODABLE}`;
      const taken = takeValue(found, given, parameter, value);
      if (taken === BROKEN) return `${name} must be ${parameter.rule}`;
      if (taken === DIFFERENT) return differenceOf(query, parameters, parameter);
      if (parameter.text === undefined) given |= parameter.bit;
    }
    start = end + 1;
  }
  return found;
}

const TAKEN = 0;
const BROKEN = 1;
const DIFFERENT = 2;

/** @param given the bits of the numbers that were given before */
function takeValue(
  found: CatalogQuery,
  given: number,
  parameter: Parameter,
  value: string,
): typeof TAKEN | typeof BROKEN | typeof DIFFERENT {
  if (parameter.text === undefined) {
    const number = parameter.number(value);
    if (number < 0) return BROKEN;
    const isAnother = (given & parameter.bit) !== 0 && found[parameter.field] !== number;
    if (isAnother) return DIFFERENT;
    found[parameter.field] = number;
    return TAKEN;
  }
  if (value === '') return TAKEN;
  const normal = parameter.text(value);
  if (normal === undefined) return BROKEN;
  const before = found[parameter.field];
  if (before !== '' && before !== normal) return DIFFERENT;
  found[parameter.field] = normal;
  return TAKEN;
}

/** Names every spelling that the query uses of a parameter with different values. */
function differenceOf(query: string, parameters: Parameters, { field }: Parameter): string {
  const names = query.split('&').map((part) => decode(part.split('=', 1)[0] ?? '') ?? '');
  const given = new Set(names.filter((name) => parameters.get(name)?.field === field));
  const spelled = [...given].join(' and ');
  return given.size === 1
    ? `${spelled} is given more than once, with different values`
    : `${spelled} are one parameter and have different values`;
}

/** -1 for what is no whole number from min to max. */
function wholeNumber(value: string, min: number, max: number): number {
  if (value === '') return -1;
  let number = 0;
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    number = 10 * number + digit;
    if (number > max) return -1;
  }
  return number < min ? -1 : number;
}

function truth(value: string): number {
  if (value === 'true' || value === '1') return 1;
  return value === 'false' || value === '0' ? 0 : -1;
}

function same(value: string): string {
  return value;
}

/** Undefined for what is not percent-encoded UTF-8. */
function decode(value: string): string | undefined {
  if (!value.includes('%') && !value.includes('+')) return value;
  return decodePath(value.replaceAll('+', ' '));
}

/** A part of a path, where `+` is itself; undefined for what is not percent-encoded UTF-8. */
export function decodePath(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
