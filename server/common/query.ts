/**
 * Query strings to checked values: the one compiler, from fields that are also what the API document shows.
 * The three APIs differ in their fields (how a value is taken, what a refusal says) and in what they do with a
 * name that they do not know: refuse it, ignore it, or ignore it and name it in a header.
 *
 * `+` is a space. The answer is the first problem; where unknown names are refused, the first of these
 * comes before any bad value.
 *
 * Thread: any; pure. Non-goals: whether the named things exist.
 */
import { errorBodyOf } from './error-bodies.ts';
import { RecentTexts } from './recent-texts.ts';
import { compileShape, type Static, type TObject, type TSchema } from './schema.ts';

export interface QuerySpec<Query> {
  readonly schema: TObject;
  /**
   * Callers share the checked values.
   * @param query without `?`, '' when absent
   * @param fromPath values of the path's parameters, still percent-encoded
   * @param ignored takes unknown names, which are then not refused
   * @returns the checked values, or the JSON body of a 400
   */
  readonly parse: (
    query: string,
    fromPath?: readonly string[],
    ignored?: string[],
  ) => Query | string;
}

export class Broken {
  readonly rule: string;

  constructor(rule: string) {
    this.rule = rule;
  }
}
export const BROKEN = new Broken('');

export interface Field {
  /** Spellings; values are found under the first. */
  readonly names: readonly string[];
  readonly schema: TSchema;
  readonly isRequired?: boolean;
  /** Undefined: it is absent from the values. */
  readonly unset?: unknown;
  /**
   * @param text undefined for what is not percent-encoded UTF-8
   * @param before what was taken of the same field, undefined at first
   * @returns what is found from now on; undefined: as if it was not given
   */
  take(text: string | undefined, before: unknown): unknown;
}

type Found = Record<string, unknown>;

export interface QueryParts<Query, F extends Field> {
  readonly schema: TObject;
  readonly fields: readonly F[];
  /** Fields that the path gives, in the order of its parts; a path wins over the query string. */
  readonly pathNames?: readonly string[];
  /** The body for a bad or missing value. @param name as it was sent */
  readonly refuse: (field: F, name: string, rule: string, query: string) => string;
  /** The body for an unknown name; without it, such names are ignored. */
  readonly refuseUnknown?: (name: string) => string;
  /** Makes the query of the values; without it, they are it. */
  readonly finish?: (found: Found) => Query;
}

/** Longest text of a query whose checked values are retained: clients repeat few and short ones. */
const QUERY_UNITS_MAX = 160;

export function compileFields<Query extends object, F extends Field>(
  parts: QueryParts<Query, F>,
): QuerySpec<Query> {
  const parse = parserOf(parts);
  const known = new RecentTexts<Query>();
  return {
    schema: parts.schema,
    parse(query, fromPath = [], ignored) {
      const isPlain = fromPath.length === 0 && query.length <= QUERY_UNITS_MAX;
      const retained = isPlain ? known.find(query) : undefined;
      if (retained !== undefined) return retained;
      const before = ignored?.length;
      const parsed = parse(query, fromPath, ignored);
      // What is refused, or has names to be shown, is read again.
      if (isPlain && typeof parsed !== 'string' && ignored?.length === before) {
        known.add(query, Object.freeze(parsed));
      }
      return parsed;
    },
  };
}

function parserOf<Query, F extends Field>(parts: QueryParts<Query, F>): QuerySpec<Query>['parse'] {
  const { fields, finish, pathNames = [], refuse, refuseUnknown } = parts;
  const byName = new Map(fields.flatMap((field) => field.names.map((name) => [name, field])));
  const ofPath = pathNames.map((name) => byName.get(name)!);
  for (const name of pathNames) byName.delete(name);
  const completed = fields.filter(({ isRequired, unset }) => isRequired || unset !== undefined);
  return (query, fromPath = [], ignored) => {
    const found: Found = {};
    let problem = '';
    const take = (field: F, name: string, sent: string): void => {
      const usual = field.names[0]!;
      const value = field.take(decodeText(sent), found[usual]);
      if (value instanceof Broken) problem = refuse(field, name, value.rule, query);
      else if (value !== undefined) found[usual] = value;
    };
    for (let i = 0; i < ofPath.length && problem === ''; i++) {
      take(ofPath[i]!, pathNames[i]!, fromPath[i] ?? '');
    }
    if (problem !== '') return problem;
    const isStrict = refuseUnknown !== undefined && ignored === undefined;
    const unknown = eachPair(query, (sentName, sentValue) => {
      const name = decodeText(sentName) ?? sentName;
      const field = byName.get(name);
      if (field === undefined) {
        if (isStrict) return refuseUnknown(name);
        ignored?.push(name);
      } else if (problem === '') take(field, name, sentValue);
      return isStrict ? '' : problem;
    });
    if (unknown !== '' || problem !== '') return unknown || problem;
    for (const field of completed) {
      const usual = field.names[0]!;
      if (found[usual] !== undefined) continue;
      if (field.isRequired === true) return refuse(field, usual, '', query);
      found[usual] = field.unset;
    }
    return finish === undefined ? (found as Query) : finish(found);
  };
}

export const NO_QUERY: QuerySpec<Record<string, never>> = {
  schema: { type: 'object', properties: {}, required: [] } as unknown as TObject,
  parse: () => NOTHING,
};
const NOTHING: Record<string, never> = {};

interface ParameterOptions {
  readonly type?: string;
  readonly default?: unknown;
  /** The text of the member `error` when it is missing or breaks its rule. */
  readonly error?: string;
  readonly description?: string;
}

interface Parameter extends Field {
  readonly refusal: string;
}

/**
 * The queries of the trading API, from a schema. A parameter is an integer, a number, a boolean or a text. An
 * empty value counts as absent, because some clients send names without values. A parameter that is repeated
 * has to have one value. Unknown names are ignored.
 *
 * @param refusal makes the body of a 400 in the shape of the route's API
 */
export function compileQuery<S extends TObject>(
  schema: S,
  pathNames: readonly string[] = [],
  refusal: Refusal = errorBodyOf,
): QuerySpec<Static<S>> {
  const required = (schema.required as string[] | undefined) ?? [];
  const fields = Object.entries(schema.properties as Record<string, TSchema>).map(
    ([name, property]) => parameterOf(name, property, required.includes(name), refusal),
  );
  return compileFields({ schema, fields, pathNames, refuse: ({ refusal }) => refusal });
}

type Refusal = (error: string, detail: string) => string;

function parameterOf(
  name: string,
  schema: TSchema,
  isRequired: boolean,
  refusal: Refusal,
): Parameter {
  const {
    default: unset,
    description,
    error = `invalid ${name}`,
    type,
  } = schema as ParameterOptions;
  const shape = compileShape(schema);
  const read = READERS[type ?? ''] ?? ((text: string) => text);
  return {
    names: [name],
    schema,
    isRequired,
    unset,
    refusal: refusal(error, description === undefined ? '' : `${name} must be ${description}`),
    take(text, before) {
      if (text === '') return undefined;
      const value = text === undefined ? undefined : read(text);
      if (value === undefined || !shape.matches(value)) return BROKEN;
      return before === undefined || before === value ? value : BROKEN;
    },
  };
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (INTEGER.test(text) ? Number(text) : undefined),
  number: (text) => (NUMBER.test(text) ? Number(text) : undefined),
  boolean: readBoolean,
};

export function readBoolean(text: string): boolean | undefined {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/**
 * Passes every pair of a query string to `see`, both parts as sent, '' where one is absent; returns
 * the first problem, or ''.
 */
export function eachPair(query: string, see: (name: string, value: string) => string): string {
  for (let start = 0, end = 0; start < query.length; start = end + 1) {
    end = query.indexOf('&', start);
    if (end === -1) end = query.length;
    if (end === start) continue;
    const equals = query.indexOf('=', start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const problem = see(query.slice(start, nameEnd), query.slice(nameEnd + 1, end));
    if (problem !== '') return problem;
  }
  return '';
}

/** Undefined for what is not percent-encoded UTF-8; `+` is a space. */
export function decodeText(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
