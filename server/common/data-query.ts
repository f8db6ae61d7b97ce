/**
 * Queries of the data API, which refuses what it does not know: kinds of fields, and the compiled query.
 * Rules: docs/protocol.md#data-api-queries
 *
 * A field may stand once, only a list may be repeated; a value that is not percent-encoding is invalid.
 *
 * Thread: any; pure. Non-goals: whether the wallet or the markets exist.
 */
import { parseMicroUp } from './decimal.ts';
import { errorBody } from './error-bodies.ts';
import { BROKEN, compileFields, type QuerySpec, readBoolean } from './query.ts';
import { type TSchema, Type } from './schema.ts';

export interface DataField<T> {
  readonly schema: TSchema;
  /** Completes "must be". */
  readonly rule: string;
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

const INTEGER = /^(?:0|[1-9]\d{0,15})$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

export function integer(maximum: number, unset: number): DataField<number> {
  return {
    schema: Type.Integer({ minimum: 0, maximum, default: unset }),
    rule: `a whole number from 0 to ${maximum}`,
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
    rule: 'a decimal number from 0',
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
    rule: 'true, false, 1 or 0',
    unset,
    read: readBoolean,
  };
}

export function choice<Word extends string, T extends Word | ''>(
  words: readonly Word[],
  unset: T,
): DataField<Word | T> {
  const literals = words.map((word) => Type.Literal(word));
  return {
    schema: Type.Union(literals, unset === '' ? {} : { default: unset }),
    rule: `one of ${words.join(', ')}`,
    unset,
    read: (text) => words.find((word) => word === text),
  };
}

export function text(lengthMax: number): DataField<string> {
  return {
    schema: Type.String({ maxLength: lengthMax }),
    rule: `a text of at most ${lengthMax} characters`,
    unset: '',
    read: (value) => (value.length <= lengthMax ? value : undefined),
  };
}

/** Texts in lower case, comma-separated or repeated; without any there is no filter: null. */
export function list(description: string): DataField<readonly string[] | null> {
  return {
    schema: Type.String({ description }),
    rule: description,
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
    rule: 'an address, 0x and 40 hexadecimal digits',
    unset: '',
    isRequired,
    read(value) {
      const lower = value.toLowerCase();
      return value.startsWith('0x') && ADDRESS.test(lower) ? lower : undefined;
    },
  };
}

export function dataQuery<F extends FieldTable>(table: F): QuerySpec<DataQueryOf<F>> {
  const entries = Object.entries(table);
  const known = `this route takes ${Object.keys(table).join(', ')}`;
  const properties = entries.map(([name, { isRequired, schema }]) => [
    name,
    isRequired === true ? schema : Type.Optional(schema),
  ]);
  return compileFields({
    schema: Type.Object(Object.fromEntries(properties), { additionalProperties: false }),
    fields: entries.map(([name, field]) => ({
      ...field,
      names: [name],
      take(text: string | undefined, before: unknown) {
        if (text === undefined || (before !== undefined && field.isList !== true)) return BROKEN;
        const value = field.read(text, before ?? field.unset);
        return value === undefined ? BROKEN : value;
      },
    })),
    refuse: (field, name) =>
      errorBody('INVALID_FIELD', ruleText(name, field), { text: `invalid_field: ${name}` }),
    refuseUnknown: (name) => errorBody('UNKNOWN_FIELD', known, { text: `unknown_field: ${name}` }),
  });
}

function ruleText(name: string, { isList, isRequired, rule }: DataField<unknown>): string {
  const times = isList === true ? '' : ', given once';
  return `${name} must be ${rule}${times}${isRequired === true ? '; it is needed' : ''}`;
}
