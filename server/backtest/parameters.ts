/**
 * Parameters of a strategy: names with defaults, whose types the values of a run have.
 *
 * Pure; any thread.
 */
import { NoStrategy } from './strategy-error.ts';

export type ParameterValue = number | string | boolean;
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

const NAME = /^[A-Za-z_]\w*$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Checks declared parameters: an object of numbers, texts and booleans. None are declared by `undefined`. */
export function declaredParameters(declared: unknown): ParameterValues {
  if (declared === undefined) return {};
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared))
    throw new NoStrategy('parameters of a strategy must be an object of defaults');
  for (const [name, value] of Object.entries(declared)) {
    if (!NAME.test(name))
      throw new NoStrategy(`a parameter has a name such as "spread_2", not "${name}"`);
    const isValue =
      typeof value === 'number'
        ? Number.isFinite(value)
        : typeof value === 'string' || typeof value === 'boolean';
    if (!isValue)
      throw new NoStrategy(`the default of ${name} must be a number, a text, true or false`);
  }
  return declared as ParameterValues;
}

/** Returns all values of a run: the given ones, and the defaults of the others. Throws a RangeError for a wrong one. */
export function completeValues(declared: ParameterValues, given: ParameterValues): ParameterValues {
  for (const [name, value] of Object.entries(given)) {
    const wanted = typeof defaultOf(declared, name);
    if (typeof value !== wanted)
      throw new RangeError(`parameter ${name} is a ${wanted}, not "${value}"`);
  }
  return { ...declared, ...given };
}

/** Parses the text of one value by the type of its default. */
export function parsedValue(declared: ParameterValues, name: string, text: string): ParameterValue {
  const initial = defaultOf(declared, name);
  if (typeof initial === 'string') return text;
  if (typeof initial === 'number') {
    const number = NUMBER.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(number))
      throw new RangeError(`parameter ${name} is a number, not "${text}"`);
    return number;
  }
  if (text !== 'true' && text !== 'false')
    throw new RangeError(`parameter ${name} is true or false, not "${text}"`);
  return text === 'true';
}

/** Parses assignments such as `spread=0.03`. A later one of the same name counts. */
export function parsedAssignments(
  declared: ParameterValues,
  assignments: readonly string[],
): ParameterValues {
  return Object.fromEntries(
    assignments.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new RangeError(`a parameter is set as in spread=0.03, not "${text}"`);
      const name = text.slice(0, at);
      return [name, parsedValue(declared, name, text.slice(at + 1))];
    }),
  );
}

/** Values as one text, as in `spread=0.03 size=10`. */
export function valuesText(values: ParameterValues): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function defaultOf(declared: ParameterValues, name: string): ParameterValue {
  const value = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (value !== undefined) return value;
  const names = Object.keys(declared);
  const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  throw new RangeError(`the strategy has no parameter "${name}"; ${known}`);
}
