/**
 * Parses the query strings of the catalog routes to checked values, as their parameters define
 * (parameters.ts; docs/protocol.md#catalog-queries).
 *
 * Decided here: unknown names are listed in a header. If a parameter with one value is repeated,
 * also under its other name, the values must be equal; values are compared after parsing, so `1`
 * and `true` are equal. An empty text is no filter and no value; an empty number or boolean is
 * invalid. `+` is a space.
 *
 * Thread: any; pure. Non-goals: whether the requested object exists.
 */
import { decodeText, eachPair, type QuerySpec } from '../common/query.ts';
import { type TSchema, Type } from '../common/schema.ts';
import type { Aim, Parameter, Parameters, Value } from './parameters.ts';
import { CatalogFlag } from './prepared.ts';

/** Maximum of values of one parameter that may have several. */
export const VALUES_MAX = 100;
const DECODABLE = 'percent-encoded UTF-8';

/** Bounds of a column, both inclusive. */
interface Range {
  readonly column: string;
  min: number;
  max: number;
}

/** A filter by keys: ids as numbers, all others as texts from keyOf(). */
interface KeyFilter {
  readonly aim: Aim & { readonly by: 'key' };
  readonly values: readonly (number | string)[];
}

/** A checked query. Parameters that its route does not have stay at the default. */
export class CatalogQuery {
  limit: number;
  offset = 0;
  /** 1 or 0, like all booleans here. */
  ascending = 0;
  /** From 1. */
  page = 1;
  searchTags = 1;
  /** There are no profiles. */
  searchProfiles = 0;
  relatedTags = 0;
  includeTag = 0;
  keepClosed = 1;
  /** Names of columns as objects show them; none = by id. */
  order: readonly string[] = [];
  /** A wallet in lower case or a normalised site id; '' = none, like all texts. */
  creator = '';
  q = '';
  cursor = '';
  /** Bits of the requested boolean columns, and those of them that must be set. */
  flagsAsked = 0;
  flagsWanted = 0;
  readonly ranges: Range[] = [];
  readonly keys: KeyFilter[] = [];
  /** Unknown parameter names of the query, for the header that lists them. */
  readonly ignored: string[] = [];

  constructor(limit = 100) {
    this.limit = limit;
  }
}

export type Setting = Exclude<
  keyof CatalogQuery,
  'flagsAsked' | 'flagsWanted' | 'ranges' | 'keys' | 'ignored'
>;

/**
 * The parameters of a route for the route table. The route's handler parses the query itself,
 * because it first looks for a cached answer under the same text.
 */
export function querySpec({ rows }: Parameters): QuerySpec<unknown> {
  const properties: Record<string, TSchema> = {};
  for (const { does, many, names, schema } of rows) {
    const [usual, ...others] = names;
    const several = many === 'no' ? {} : { many: VALUES_MAX };
    properties[usual!] = Type.Optional({ ...schema, ...several, description: does });
    for (const name of others) properties[name] = Type.Optional({ ...schema, spellingOf: usual });
  }
  return { schema: Type.Object(properties), parse: () => undefined };
}

/** A given parameter and its parsed value. */
interface Given {
  readonly parameter: Parameter;
  readonly values: (number | string)[];
}

/**
 * Parses a query string. Returns what is wrong with it, for the member `detail` of the answer, if
 * it is invalid.
 * @param query without `?`, '' when absent
 */
export function parseQuery(query: string, parameters: Parameters): CatalogQuery | string {
  const found = new CatalogQuery(parameters.limit);
  if (query === '') return found;
  const given: Given[] = [];
  const problem = eachPair(query, (rawName, value) => {
    const name = decodeText(rawName) ?? rawName;
    const parameter = parameters.byName.get(name);
    if (parameter === undefined) {
      if (name !== '') found.ignored.push(name);
      return '';
    }
    const text = decodeText(value);
    const broken = text === undefined ? DECODABLE : take(given, parameter, text);
    if (broken === DIFFERENT) return differenceOf(query, parameters, parameter);
    return broken === '' ? '' : `${name} must be ${broken}`;
  });
  if (problem !== '') return problem;
  for (const { parameter, values } of given) apply(found, parameter.aim, values);
  return found;
}

const DIFFERENT = 'different';

/** Adds a value of a parameter; returns '' or what is wrong with it. */
function take(given: Given[], parameter: Parameter, text: string): string {
  const { isText, many, read, rule } = parameter;
  let before = given.find((each) => each.parameter === parameter);
  if (before === undefined) {
    before = { parameter, values: [] };
    given.push(before);
  }
  for (const part of many === 'comma' ? text.split(',', VALUES_MAX + 1) : [text]) {
    if (part === '' && isText) continue;
    const value: Value | undefined = read(part);
    if (value === undefined) return rule;
    // A list counts as one value.
    const one = typeof value === 'object' ? value.join() : value;
    if (before.values.includes(one)) continue;
    if (many === 'no' && before.values.length > 0) return DIFFERENT;
    before.values.push(one);
  }
  return before.values.length > VALUES_MAX ? `at most ${VALUES_MAX} values` : '';
}

function apply(query: CatalogQuery, aim: Aim, values: readonly (number | string)[]): void {
  const [value] = values;
  if (value === undefined) return;
  if (aim.by === 'key') {
    query.keys.push({ aim, values });
  } else if (aim.by === 'flag') {
    query.flagsAsked |= aim.bit;
    if (value === 1) query.flagsWanted |= aim.bit;
  } else if (aim.by === 'range') {
    let range = query.ranges.find(({ column }) => column === aim.column);
    if (range === undefined) {
      // An absent value is infinite, so it is outside of all bounds.
      range = { column: aim.column, min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
      query.ranges.push(range);
    }
    range[aim.end] = value as number;
  } else if (aim.by === 'status') {
    if (value === 'all') return;
    query.flagsAsked |=
      value === 'active' ? CatalogFlag.active | CatalogFlag.closed : CatalogFlag.closed;
    query.flagsWanted |= value === 'active' ? CatalogFlag.active : CatalogFlag.closed;
  } else {
    const members: Record<Setting, Value> = query;
    members[aim.member] = aim.member === 'order' ? (value as string).split(',') : value;
  }
}

/** Names every spelling of a parameter that the query uses with different values. */
function differenceOf(query: string, { byName }: Parameters, parameter: Parameter): string {
  const names = query.split('&').map((part) => decodeText(part.split('=', 1)[0] ?? '') ?? '');
  const given = new Set(names.filter((name) => byName.get(name) === parameter));
  const spelled = [...given].join(' and ');
  return given.size === 1
    ? `${spelled} is given more than once, with different values`
    : `${spelled} are one parameter and have different values`;
}

/**
 * Decodes a part of a path, where `+` is a plain character; undefined when it is not
 * percent-encoded UTF-8.
 */
export function decodePath(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
