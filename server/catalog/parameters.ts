/**
 * Every parameter of the catalog routes, one row each: its spellings, its values, and what it
 * selects. Most rows follow from the columns (shape.ts). The parser, the selection (select.ts), the API
 * document, docs/reference/api.md and the random tests are all driven by these rows.
 *
 * Pure data, any thread. Non-goals: whether the requested object exists.
 */

import { normaliseSite } from '../../storage/catalog/catalog-sites.ts';
import { INVALID_CURSOR } from '../common/cursor.ts';
import { typedErrorBody } from '../common/error-bodies.ts';
import { Broken, compileFields, decodeText, type Field, type QuerySpec } from '../common/query.ts';
import { type TObject, type TSchema, Type } from '../common/schema.ts';
import { type Aim, apply, CatalogQuery, type Setting, type Value } from './query.ts';
import {
  allColumns,
  dateOf,
  flagColumns,
  instantOf,
  KEY_COLUMNS,
  type Kind,
  rulesOf,
} from './shape.ts';
import { keyOf } from './text-index.ts';

const VALUES_MAX = 100;
const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 100;
const LIMIT_PER_TYPE_DEFAULT = 25;
/** Ids are whole numbers below 10^15 (storage/catalog/catalog-fields.ts). */
const ID_MAX = 1e15 - 1;
/** Columns of one sort; a changed column takes two or three milliseconds of the I/O thread. */
const ORDER_COLUMNS_MAX = 3;
/** A creator of no catalog: a site id contains no `/`. */
const UNKNOWN_CREATOR = '/';

const DECODABLE = 'percent-encoded UTF-8';
const DIFFERENT = 'different';

interface Form {
  readonly read: (text: string) => Value | undefined;
  readonly rule: string;
  readonly schema: TSchema;
  /** True: an empty text means no value; for a number or a boolean it is invalid. */
  readonly isText: boolean;
}

export interface Parameter extends Form, Field {
  readonly aim: Aim;
  readonly many: 'no' | 'repeat' | 'comma';
  /** Text in docs/reference/api.md; rows with the same text are grouped there. */
  readonly does: string;
}

export interface Parameters extends QuerySpec<CatalogQuery> {
  readonly rows: readonly Parameter[];
}

const truth: Form = {
  read: (text) => TRUTHS.get(text),
  rule: 'true, false, 1 or 0',
  schema: Type.Boolean(),
  isText: false,
};
const TRUTHS = new Map(Object.entries({ true: 1, 1: 1, false: 0, 0: 0 }));

const decimal: Form = {
  read: (text) => (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined),
  rule: 'a number',
  schema: Type.Number(),
  isText: false,
};

const instant: Form = {
  read: (text) => {
    const date = dateOf(text);
    return date === null ? undefined : instantOf(date);
  },
  rule: 'a date or a date-time of ISO 8601',
  schema: Type.String(),
  isText: false,
};

function whole(min: number, max: number): Form {
  return {
    read: (text) => {
      const number = /^\d+$/.test(text) ? Number(text) : -1;
      return number >= min && number <= max ? number : undefined;
    },
    rule: `a whole number from ${min} to ${max}`,
    schema: Type.Integer({ minimum: min, maximum: max }),
    isText: false,
  };
}

function words(normalise = (text: string) => text): Form {
  return { read: normalise, rule: DECODABLE, schema: Type.String(), isText: true };
}

function named(pairs: readonly (readonly [string, string])[], max = 1): Form {
  const names = new Map(pairs);
  const rule = `${max === 1 ? 'one' : `up to ${max}`} of ${[...new Set(names.values())].join(', ')}`;
  const read = (text: string): string[] | undefined => {
    const found = text.split(',', max + 1).map((name) => names.get(name.trim()) ?? '');
    return found.length > max || found.includes('') ? undefined : found;
  };
  return { read, rule, schema: Type.String({ description: rule }), isText: true };
}

const anId = whole(0, ID_MAX);

function row(
  names: string,
  form: Form,
  aim: Aim | Setting,
  does: string,
  many: Parameter['many'] = 'no',
): Parameter {
  const spelled = names.split(' ');
  return {
    ...form,
    // Some clients write lists as `name[]`.
    names: many === 'no' ? spelled : [...spelled, ...spelled.map((name) => `${name}[]`)],
    aim: typeof aim === 'string' ? { by: 'setting', member: aim } : aim,
    many,
    does,
    take: (text, before) => taken(form, many, text, (before as Values | undefined) ?? []),
  };
}

type Values = (number | string)[];

/**
 * Adds one more text to the values of a parameter. Values are compared as understood, so `1` and
 * `true` are one. An empty text is no value; an empty number or boolean is invalid.
 */
function taken(
  { isText, read, rule }: Form,
  many: Parameter['many'],
  text: string | undefined,
  values: Values,
): Values | Broken {
  if (text === undefined) return new Broken(DECODABLE);
  for (const part of many === 'comma' ? text.split(',', VALUES_MAX + 1) : [text]) {
    if (part === '' && isText) continue;
    const value = read(part);
    if (value === undefined) return new Broken(rule);
    // A list is one value, too.
    const one = typeof value === 'object' ? value.join() : value;
    if (values.includes(one)) continue;
    if (many === 'no' && values.length > 0) return new Broken(DIFFERENT);
    values.push(one);
  }
  return values.length > VALUES_MAX ? new Broken(`at most ${VALUES_MAX} values`) : values;
}

type KeyColumn = (Aim & { by: 'key' })['column'];

function key(
  names: string,
  of: Kind,
  column: KeyColumn,
  does: string,
  many: Parameter['many'] = 'no',
  excludes = false,
): Parameter {
  const form = column === 'id' ? anId : words((text) => keyOf(KEY_COLUMNS[column], text));
  return row(names, form, { by: 'key', of, column, excludes }, does, many);
}

/** Spellings of a column: in snake_case, as objects show it, and with its number apart. */
function spellings(column: string): string[] {
  const snake = column.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return [...new Set([snake, column, snake.replace(/([a-z])(\d)/g, '$1_$2')])];
}

const LIMITS = [row('limit', whole(1, LIMIT_MAX), 'limit', `1 to ${LIMIT_MAX} (${LIMIT_DEFAULT})`)];
const OFFSET = row('offset', whole(0, Number.MAX_SAFE_INTEGER), 'offset', '0 and up (0)');
const AFTER = row('after_cursor', words(), 'cursor', 'the `next_cursor` of the page before');
const CREATOR = row(
  'creator',
  words((value) => normaliseSite(value) || UNKNOWN_CREATOR),
  'creator',
  'a wallet, or a site of the catalog file: only what it has made',
);
const INCLUDE_TAG = row('include_tag', truth, 'includeTag', '`true`: markets with their `tags`');
const ASCENDING = row('ascending', truth, 'ascending', '`true` turns the order round');
const EXCLUDED = key('exclude_tag_id', 'tags', 'id', 'without all of the tags', 'repeat', true);
const RELATED = [
  key('tag_id', 'tags', 'id', 'with any of the tags', 'repeat'),
  key('tag tag_slug', 'tags', 'slug', 'a market has the tags of its event'),
  EXCLUDED,
  key('series_id', 'series', 'id', 'of any of the series', 'repeat'),
  key('series_slug', 'series', 'slug', 'of the series'),
  row('related_tags', truth, 'relatedTags', '`true`: the tags and those related to them'),
];

function orderBy(name: string, kind: Kind): Parameter {
  const columns = allColumns(kind).flatMap(({ name: column }) =>
    spellings(column).map((spelled) => [spelled, column] as const),
  );
  return row(name, named(columns, ORDER_COLUMNS_MAX), 'order', ORDER);
}

/** Bounds of the columns that have some: of the dates first, as the document lists them. */
function ranges(kind: Kind): Parameter[] {
  return Object.entries({ instant, decimal }).flatMap(([bounds, form]) =>
    allColumns(kind)
      .filter((column) => rulesOf(column).bounds === bounds)
      .flatMap(({ name: column }) =>
        (['min', 'max'] as const).map((end) => {
          const names = spellings(column).map((spelled) => `${spelled}_${end}`);
          return row(names.join(' '), form, { by: 'range', column, end }, RANGE);
        }),
      ),
  );
}

function listed(kind: 'markets' | 'events', keys: readonly Parameter[]): readonly Parameter[] {
  return [
    key('id', kind, 'id', ANY_OF, 'comma'),
    key('slug', kind, 'slug', 'any of them, exact, case counts', 'repeat'),
    ...keys,
    ...RELATED,
    ...flagColumns(kind).map((column, bit) =>
      row(spellings(column).join(' '), truth, { by: 'flag', column, bit: 1 << bit }, FLAG),
    ),
    ...ranges(kind),
    orderBy('order', kind),
    ASCENDING,
    CREATOR,
  ];
}

const ANY_OF = 'any of them, also between commas';
const IN_ANY_CASE = `${ANY_OF}, in any case`;
const FLAG = '`true`, `false`, `1`, `0`';
const ORDER = `up to ${ORDER_COLUMNS_MAX} columns between commas, as in the objects or in snake_case`;
const RANGE = 'from or to a date, a date-time of ISO 8601, or a number, and itself';

const MARKET_ROWS = [
  ...listed('markets', [
    key('event_id', 'events', 'id', 'of the event'),
    key('event_slug eventSlug', 'events', 'slug', 'of the event'),
    key('conditionId condition_id', 'markets', 'conditionId', 'in any case'),
    key('condition_ids', 'markets', 'conditionId', IN_ANY_CASE, 'comma'),
    key('question_ids', 'markets', 'questionID', IN_ANY_CASE, 'comma'),
    key('clob_token_ids', 'markets', 'clobTokenIds', IN_ANY_CASE, 'comma'),
  ]),
  INCLUDE_TAG,
];
const EVENT_ROWS = listed('events', []);

const STATUS = named(['active', 'closed', 'all'].map((name) => [name, name]));
const SEARCH_ROWS = [
  row('q', words(), 'q', 'all words, the last one as a beginning'),
  row('limit_per_type', whole(1, LIMIT_MAX), 'limit', `1 to ${LIMIT_MAX} (25)`),
  row('page', whole(1, Number.MAX_SAFE_INTEGER), 'page', 'from 1 (1)'),
  row('search_tags', truth, 'searchTags', '`false`: no tags'),
  row('search_profiles', truth, 'searchProfiles', 'there are no profiles'),
  row('events_status', STATUS, { by: 'status' }, '`active`, `closed`, `all` (`all`)'),
  key('events_tag', 'tags', 'slug', 'slugs: with any of the tags', 'repeat'),
  EXCLUDED,
  row('keep_closed_markets', truth, 'keepClosed', '`0`: nested markets without the closed ones'),
  orderBy('sort', 'events'),
  ASCENDING,
  CREATOR,
];

/** `error` of a 400: the published literal, or the rule that was broken. */
export type CatalogErrors = 'literal' | 'rule';

const LITERAL = 'q is required';

/** Body of a 400 of the catalog API. @param detail names the parameter and the rule it broke */
export function badRequest(detail: string, errors: CatalogErrors = 'literal'): string {
  const body = typedErrorBody('bad request', 'BAD_REQUEST', detail, LITERAL);
  return errors === 'literal' ? body : ruleFirst(body);
}

/**
 * Returns a body of badRequest with its detail in place of the literal; any other body unchanged.
 */
export function ruleFirst(body: string): string {
  const { error, ...others } = JSON.parse(body) as {
    readonly error: string;
    readonly detail: string;
  };
  if (error !== LITERAL) return body;
  const { type, ...more } = { type: '', ...others };
  return JSON.stringify({ type, error: others.detail, ...more });
}

type Refuse = (detail: string) => string;

function parametersOf(
  rows: readonly Parameter[],
  limit = LIMIT_DEFAULT,
  refuse: Refuse = badRequest,
): Parameters {
  const aims = new Map(rows.map(({ aim, names }) => [names[0]!, aim]));
  const spec = compileFields({
    schema: schemaOf(rows),
    fields: rows,
    refuse: (parameter, name, rule, query) =>
      refuse(rule === DIFFERENT ? differenceOf(query, parameter) : `${name} must be ${rule}`),
    finish(found) {
      const query = new CatalogQuery(limit);
      for (const name of Object.keys(found)) apply(query, aims.get(name)!, found[name] as Values);
      return query;
    },
  });
  return { ...spec, rows };
}

function schemaOf(rows: readonly Parameter[]): TObject {
  const properties: Record<string, TSchema> = {};
  for (const { does, many, names, schema } of rows) {
    const [usual, ...others] = names;
    const several = many === 'no' ? {} : { many: VALUES_MAX };
    properties[usual!] = Type.Optional({ ...schema, ...several, description: does });
    for (const name of others) properties[name] = Type.Optional({ ...schema, spellingOf: usual });
  }
  return Type.Object(properties);
}

function differenceOf(query: string, { names }: Parameter): string {
  const sent = query.split('&').map((part) => decodeText(part.split('=', 1)[0] ?? '') ?? '');
  const given = new Set(sent.filter((name) => names.includes(name)));
  const spelled = [...given].join(' and ');
  return given.size === 1
    ? `${spelled} is given more than once, with different values`
    : `${spelled} are one parameter and have different values`;
}

export const PARAMETERS = {
  markets: parametersOf([...LIMITS, OFFSET, ...MARKET_ROWS]),
  events: parametersOf([...LIMITS, OFFSET, ...EVENT_ROWS]),
  marketsKeyset: parametersOf([...LIMITS, AFTER, ...MARKET_ROWS]),
  eventsKeyset: parametersOf([...LIMITS, AFTER, ...EVENT_ROWS]),
  paged: parametersOf([...LIMITS, OFFSET, CREATOR]),
  market: parametersOf([CREATOR, INCLUDE_TAG]),
  single: parametersOf([CREATOR]),
  search: parametersOf(SEARCH_ROWS, LIMIT_PER_TYPE_DEFAULT),
  sampling: parametersOf(
    [row('next_cursor', words(), 'cursor', AFTER.does)],
    LIMIT_DEFAULT,
    () => INVALID_CURSOR,
  ),
} as const;
