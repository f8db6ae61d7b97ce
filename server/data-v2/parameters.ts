/**
 * Parameters of the routes below /v2: both spellings of a name, lists between commas, ids by their form.
 * Rules: docs/protocol.md#data-api-v2
 *
 * Thread: any; pure. Non-goals: whether the named things exist.
 */
import { conditionKey } from '../../storage/catalog/condition-ids.ts';
import {
  amount,
  choice,
  type DataField,
  flag,
  integer,
  text,
  wallet,
} from '../common/data-query.ts';
import { BROKEN, compileFields, type Field, type QuerySpec } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { dataErrorBody } from './errors.ts';

export interface Parameter<T> extends DataField<T> {
  /** Further names beside the two spellings of the first. */
  readonly aliases?: readonly string[];
}

export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

export type ParametersOf<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Parameter<infer T> ? T : never;
};

const LIST_MAX = 20;
const TITLE_MAX = 200;
const TIME_MAX = 2 ** 53 - 1;

const DECIMAL_ID = /^(?:0|[1-9]\d{0,77})$/;
const HEX_ID = /^0x[0-9a-f]{1,64}$/;
const EVENT_ID = /^\d{1,16}$/;

/** Ids between commas or repeated, at most twenty; null = no filter. */
function ids(description: string, read: (text: string) => string | undefined) {
  return {
    schema: Type.String({ description: `${description}, at most ${LIST_MAX} between commas` }),
    rule: `${description}, at most ${LIST_MAX} between commas`,
    unset: null,
    isList: true,
    read(value: string, before: readonly string[] | null) {
      const named = value.split(',').filter((entry) => entry !== '');
      const all = [...new Set([...(before ?? []), ...named.map(read)])];
      const isWhole = all.length > 0 && all.length <= LIST_MAX && !all.includes(undefined);
      return isWhole ? (all as readonly string[]) : undefined;
    },
  } satisfies Parameter<readonly string[] | null>;
}

/** Words of a table between commas; null = all. */
export function words<Word extends string>(
  table: readonly Word[],
): Parameter<readonly string[] | null> {
  const known = new Set<string>(table);
  return ids(`of ${table.join(', ')}`, (value) => (known.has(value) ? value : undefined));
}

/** Condition ids in lower case, in their form of 32 bytes. */
export function conditions(): Parameter<readonly string[] | null> {
  return {
    ...ids('condition ids, 0x and 62 or 64 hexadecimal digits', (value) => {
      return conditionKey(value);
    }),
    aliases: ['condition_id', 'conditionId'],
  };
}

export function eventIds(): Parameter<readonly string[] | null> {
  return ids('ids of events, decimal digits', (value) =>
    EVENT_ID.test(value) ? value : undefined,
  );
}

/** Id of an outcome token as decimal digits; '' = none given. */
export function tokenId(isRequired: boolean): Parameter<string> {
  return {
    schema: Type.String({ description: 'the id of an outcome token' }),
    rule: 'the id of an outcome token, decimal or 0x and hexadecimal digits',
    unset: '',
    isRequired,
    read(value) {
      if (DECIMAL_ID.test(value)) return value;
      const lower = value.toLowerCase();
      return HEX_ID.test(lower) ? BigInt(lower).toString() : undefined;
    },
  };
}

/** 32 bytes in lower case; '' = none given. */
export function hash(): Parameter<string> {
  return {
    schema: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
    rule: '0x and 64 hexadecimal digits',
    unset: '',
    read(value) {
      const lower = value.toLowerCase();
      return /^0x[0-9a-f]{64}$/.test(lower) ? lower : undefined;
    },
  };
}

/** Unix seconds, both ends inclusive. */
export const period = () => ({ start: integer(TIME_MAX, 0), end: orUnbounded() });

/** Zero is no bound. */
function orUnbounded(): Parameter<number> {
  const field = integer(TIME_MAX, TIME_MAX);
  return {
    ...field,
    read(value, before) {
      const seconds = field.read(value, before);
      return seconds === 0 ? field.unset : seconds;
    },
  };
}

/** Part of a title, in any case; '' = any. */
export const title = () => text(TITLE_MAX);

/** A whole number with a lower bound too. @param unset below it: absent has no number */
export function between(minimum: number, maximum: number, unset: number): Parameter<number> {
  const field = integer(maximum, unset);
  return {
    ...field,
    schema: Type.Integer({ minimum, maximum, ...(unset < minimum ? {} : { default: unset }) }),
    rule: `a whole number from ${minimum} to ${maximum}`,
    read(value, before) {
      const number = field.read(value, before);
      return number === undefined || number < minimum ? undefined : number;
    },
  };
}

export { amount, choice, flag, wallet };

export const required = <T>(parameter: Parameter<T>): Parameter<T> => ({
  ...parameter,
  isRequired: true,
});

const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

interface NamedField extends Field {
  readonly rule: string;
  readonly parameter: Parameter<unknown>;
}

/** The only unknown parameter that is refused: a page has no offset. */
const OFFSET = 'offset';
const NO_OFFSET: NamedField = {
  names: [OFFSET],
  schema: Type.String(),
  rule: 'left out: pages have cursors',
  parameter: text(0),
  take: () => BROKEN,
};

/** Compiles a table. An empty value is as if it was not given. */
export function parametersQuery<Table extends ParameterTable>(
  table: Table,
): QuerySpec<ParametersOf<Table>> {
  const entries = Object.entries(table);
  const spellings = entries.flatMap(([name, parameter]) =>
    namesOf(name, parameter).map((of) => [of, name, parameter] as const),
  );
  const properties = spellings.map(([spelling, name, { isRequired, schema }]) => {
    if (spelling !== name) return [spelling, Type.Optional({ ...schema, spellingOf: name })];
    return [spelling, isRequired === true ? schema : Type.Optional(schema)];
  });
  return compileFields<ParametersOf<Table>, NamedField>({
    schema: Type.Object(Object.fromEntries(properties)),
    fields: [...entries.map(fieldOf), NO_OFFSET],
    refuse: ({ parameter: { isList }, rule }, name) =>
      dataErrorBody(
        'invalid_request',
        `${name} must be ${rule}${isList === true || name === OFFSET ? '' : ', given once'}`,
        name,
      ),
  });
}

function namesOf(name: string, { aliases = [] }: Parameter<unknown>): string[] {
  return [...new Set([name, camel(name), ...aliases])];
}

function fieldOf([name, parameter]: readonly [string, Parameter<unknown>]): NamedField {
  const { isList, isRequired = false, read, rule, schema, unset } = parameter;
  return {
    names: namesOf(name, parameter),
    schema,
    isRequired,
    unset,
    rule,
    parameter,
    take(value, before) {
      if (value === '') return undefined;
      if (value === undefined || (before !== undefined && isList !== true)) return BROKEN;
      return read.call(parameter, value, before ?? unset) ?? BROKEN;
    },
  };
}
