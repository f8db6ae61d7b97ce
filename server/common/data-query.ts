/**
 * Query strings of the data API, which refuses what it does not know: a table of fields by
 * name to a checked value of all of them, and the schema that documents it.
 * Rules: docs/protocol.md#data-api-queries
 *
 * A field may stand once, only a list may be repeated; `+` is a space; a name that is not valid
 * percent-encoding is an unknown field, such a value an invalid one. An unknown name is told before any
 * bad value.
 *
 * Thread: any; pure. Non-goals: whether the wallet or the markets exist.
 */

import { parseMicroUp } from './decimal.ts';
import { errorBody } from './error-bodies.ts';
import { decodeText, eachPair, type QuerySpec } from './query.ts';
import { type TObject, type TSchema, Type } from './schema.ts';

/** One parameter: what it may be, what it is when it is absent. */
export interface DataField<T> {
  readonly schema: TSchema;
  readonly unset: T;
  readonly isRequired?: boolean;
  readonly isList?: boolean;
  /** Undefined = not a valid value. @param before what a list has already */
  read(text: string, before: T): T | undefined;
}

type FieldTable = Readonly<Record<string, DataField<unknown>>>;

export type DataQueryOf<F extends FieldTable> = {
  readonly [Name in keyof F]: F[Name] extends DataField<infer T> ? T : never;
};

export type ParsedQuery<Query> =
  | { readonly ok: true; readonly query: Query }
  /** Text for the member `error` of a 400: `unknown_field: <name>` or `invalid_field: <name>`. */
  | { readonly ok: false; readonly error: string };

export interface DataQuery<Query> {
  /** For the API document. */
  readonly schema: TObject;
  /**
   * @param text the raw query string, without its `?`
   * @param ignored takes the names that are unknown; without it they are refused
   */
  readonly parse: (text: string, ignored?: string[]) => ParsedQuery<Query>;
}

const INTEGER = /^(?:0|[1-9]\d{0,15})$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** A whole number from 0 to `maximum`. */
export function integer(maximum: number, unset: number): DataField<number> {
  return {
    schema: Type.Integer({ minimum: 0, maximum, default: unset }),
    unset,
    read(text) {
      const number = INTEGER.test(text) ? Number(text) : Number.NaN;
      return number <= maximum ? number : undefined;
    },
  };
}

/** A number of shares or of collateral as micro-units, rounded up: 2^53 for all from there on. */
export function amount(unset: number): DataField<number> {
  return {
    schema: Type.Number({ minimum: 0 }),
    unset,
    read(text) {
      const micro = parseMicroUp(text);
      return micro < 0 ? undefined : micro;
    },
  };
}

export function flag<T extends boolean | undefined>(unset: T): DataField<boolean | T> {
  return {
    schema: Type.Boolean(unset === undefined ? {} : { default: unset }),
    unset,
    read: (text) => {
      if (text === 'true' || text === '1') return true;
      return text === 'false' || text === '0' ? false : undefined;
    },
  };
}

/** One of a few words, exactly. */
export function choice<Word extends string, T extends Word | ''>(
  words: readonly Word[],
  unset: T,
): DataField<Word | T> {
  const literals = words.map((word) => Type.Literal(word));
  return {
    schema: Type.Union(literals, unset === '' ? {} : { default: unset }),
    unset,
    read: (text) => words.find((word) => word === text),
  };
}

export function text(lengthMax: number): DataField<string> {
  return {
    schema: Type.String({ maxLength: lengthMax }),
    unset: '',
    read: (value) => (value.length <= lengthMax ? value : undefined),
  };
}

/** Texts in lower case, comma-separated or repeated; without any there is no filter: null. */
export function list(description: string): DataField<readonly string[] | null> {
  return {
    schema: Type.String({ description }),
    unset: null,
    isList: true,
    read(value, before) {
      const named = value
        .toLowerCase()
        .split(',')
        .filter((entry) => entry !== '');
      return named.length === 0 ? before : [...(before ?? []), ...named];
    },
  };
}

/** `0x` + 40 hex digits, in lower case when it is read; '' = any. */
export function wallet(isRequired: boolean): DataField<string> {
  return {
    schema: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
    unset: '',
    isRequired,
    read(value) {
      const lower = value.toLowerCase();
      return value.startsWith('0x') && ADDRESS.test(lower) ? lower : undefined;
    },
  };
}

export function dataQuery<F extends FieldTable>(fields: F): DataQuery<DataQueryOf<F>> {
  const byName = new Map(Object.entries(fields));
  const names = [...byName.keys()];
  const unset = Object.fromEntries(names.map((name) => [name, fields[name]!.unset]));
  const required = names.filter((name) => fields[name]!.isRequired === true);
  const properties = Object.fromEntries(
    names.map((name) => {
      const { isRequired, schema } = fields[name]!;
      return [name, isRequired === true ? schema : Type.Optional(schema)];
    }),
  );
  return {
    schema: Type.Object(properties, { additionalProperties: false }),
    parse(query, ignored) {
      const found: Record<string, unknown> = { ...unset };
      const fault = readPairs(query, byName, found, required, ignored);
      if (fault !== '') return { ok: false, error: fault };
      return { ok: true, query: found as DataQueryOf<F> };
    },
  };
}

/** As rows of the route table have it: a fault is the body of a 400. */
export function specOf<Query>({ parse, schema }: DataQuery<Query>): QuerySpec<Query> {
  return {
    schema,
    parse(query) {
      const parsed = parse(query);
      return parsed.ok ? parsed.query : errorBody(parsed.error);
    },
  };
}

/** Reads every pair into `found`; what is wrong, or ''. */
function readPairs(
  query: string,
  fields: ReadonlyMap<string, DataField<unknown>>,
  found: Record<string, unknown>,
  required: readonly string[],
  ignored: string[] | undefined,
): string {
  const seen: string[] = [];
  let invalid = '';
  const unknown = eachPair(query, (rawName, rawValue) => {
    const name = decodeText(rawName) ?? rawName;
    const field = fields.get(name);
    if (field === undefined) {
      ignored?.push(name);
      return ignored === undefined ? `unknown_field: ${name}` : '';
    }
    if (invalid !== '') return '';
    const isRepeated = field.isList !== true && seen.includes(name);
    seen.push(name);
    const value = decodeText(rawValue);
    const read = value === undefined ? undefined : field.read(value, found[name]);
    if (isRepeated || read === undefined) invalid = `invalid_field: ${name}`;
    else found[name] = read;
    return '';
  });
  if (unknown !== '' || invalid !== '') return unknown || invalid;
  const missing = required.find((name) => !seen.includes(name));
  return missing === undefined ? '' : `invalid_field: ${missing}`;
}
