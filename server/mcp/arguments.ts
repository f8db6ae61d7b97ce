/**
 * Arguments of tools: the shapes that several tools share, and the check of what a model sent.
 *
 * Thread: any; pure. An argument that a tool does not know is ignored, and null counts as absent.
 */
import { compileShape, type Shape, type TObject, Type } from '../common/schema.ts';
import { ROWS_USUAL } from './pages.ts';
import { toolRefusal } from './tool-refusals.ts';

const NAME_MAX = 200;
const NEXT_MAX = 500;
const KEY_MAX = 100;
const DECIMAL = '^\\d{1,10}(?:\\.\\d{1,6})?$';
const IS_DECIMAL = new RegExp(DECIMAL);
const DECIMAL_RULE = 'a decimal with up to 6 decimals';

export const MARKET = Type.String({
  minLength: 1,
  maxLength: NAME_MAX,
  description: 'a market: its number, slug or condition id',
});

export const OUTCOME = Type.String({
  minLength: 1,
  maxLength: NAME_MAX,
  description: 'the name of an outcome of the market, such as Yes or No',
});

export const NAME = (description: string) =>
  Type.String({ minLength: 1, maxLength: NAME_MAX, description });

export const CHOICE = <const Names extends readonly string[]>(names: Names, of = '') =>
  Type.Union(
    names.map((name) => Type.Literal(name as Names[number])),
    { description: `${of === '' ? '' : `${of}: `}one of ${names.join(', ')}` },
  );

/** Decimal text; a number is taken, too, because models send one. */
export const AMOUNT = (of: string) =>
  Type.Union([Type.String({ pattern: DECIMAL }), Type.Number({ minimum: 0, maximum: 1e10 })], {
    description: `${of}, ${DECIMAL_RULE}`,
  });

export const ORDER_ID = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: 'an order_id: 0x and 64 hexadecimal digits',
});

export const KEY = Type.String({
  minLength: 1,
  maxLength: KEY_MAX,
  description:
    'a text of the caller, 1 to 100 characters: the same call with it is carried out once',
});

export const SECONDS = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'unix seconds',
});

/** Arguments of a list. @param rowsMax rows of one answer */
export const LIST = (rowsMax: number) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: rowsMax,
      description: `rows of the answer, 1 to ${rowsMax} (${ROWS_USUAL})`,
    }),
  ),
  next: Type.Optional(
    Type.String({
      maxLength: NEXT_MAX,
      description: 'the next of the last answer, to go on behind it',
    }),
  ),
});

/** Returns the text of an amount. @throws ToolRefusal for a number that is no such decimal, such as 1e-7 */
export function amountText(name: string, amount: string | number): string {
  const text = String(amount);
  if (!IS_DECIMAL.test(text)) {
    throw toolRefusal('INVALID_ARGUMENT', `${name} must be ${DECIMAL_RULE}`);
  }
  return text;
}

const shapes = new WeakMap<TObject, Shape<unknown>>();

/** Returns the known arguments of a call. @throws ToolRefusal that names the argument and its rule */
export function argumentsOf(schema: TObject, sent: Readonly<Record<string, unknown>>): object {
  const given = Object.keys(schema.properties)
    .filter((name) => Object.hasOwn(sent, name) && sent[name] !== null)
    .map((name) => [name, sent[name]]);
  const args: object = Object.fromEntries(given);
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = compileShape(schema);
    shapes.set(schema, shape);
  }
  if (shape.matches(args)) return args;
  const { missing, path } = shape.fault(args);
  const name = path[0] ?? '';
  const rule = String(schema.properties[name]?.description ?? 'as the tool says');
  throw toolRefusal(
    'INVALID_ARGUMENT',
    `${name} ${missing ? 'is missing; it ' : ''}must be ${rule}`,
  );
}
