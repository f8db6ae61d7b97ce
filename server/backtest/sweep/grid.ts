/**
 * Values of a sweep: ranges in exact decimals and lists, and all combinations of them.
 *
 * Pure; any thread.
 */
import { type ParameterValue, type ParameterValues, parsedValue } from '../parameters.ts';

/** Values of each swept parameter, in the order of the text. */
export type SweptValues = ReadonlyMap<string, readonly ParameterValue[]>;

const COMBINATIONS_MAX = 100_000;

const BEGIN = /^([A-Za-z_]\w*)=(.*)$/s;
const RANGE = /^(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/;

/** Parses a sweep such as `spread=0.01..0.05:0.01,size=10,50`. Throws a RangeError that names the wrong part. */
export function sweptValues(declared: ParameterValues, text: string): SweptValues {
  const swept = new Map<string, Set<ParameterValue>>();
  let name = '';
  for (const part of text.split(',')) {
    const begin = BEGIN.exec(part);
    if (begin !== null) {
      name = begin[1]!;
      if (swept.has(name)) throw new RangeError(`the sweep names ${name} twice`);
      swept.set(name, new Set());
    } else if (name === '') {
      throw new RangeError(
        `a sweep is as in spread=0.01..0.05:0.01,size=10,50 and does not begin with "${part}"`,
      );
    }
    const values = swept.get(name)!;
    for (const value of valuesOf(declared, name, begin === null ? part : begin[2]!))
      values.add(value);
  }
  return new Map([...swept].map(([own, values]) => [own, [...values]]));
}

/** Returns all combinations, the last parameter fastest, with the fixed values of the others. */
export function combinationsOf(fixed: ParameterValues, swept: SweptValues): ParameterValues[] {
  const count = [...swept.values()].reduce((product, { length }) => product * length, 1);
  if (count > COMBINATIONS_MAX)
    throw new RangeError(`a sweep has at most ${COMBINATIONS_MAX} combinations, not ${count}`);
  let combinations: ParameterValues[] = [fixed];
  for (const [name, values] of swept) {
    combinations = combinations.flatMap((combination) =>
      values.map((value) => ({ ...combination, [name]: value })),
    );
  }
  return combinations;
}

function valuesOf(declared: ParameterValues, name: string, text: string): ParameterValue[] {
  const range = typeof declared[name] === 'number' ? RANGE.exec(text) : null;
  if (range === null) return [parsedValue(declared, name, text)];
  return rangeTexts(range[1]!, range[2]!, range[3]!, `${name}=${text}`).map(Number);
}

/** Returns the decimals from one to another, both of them if the step reaches it, as exact texts. */
function rangeTexts(from: string, to: string, step: string, shown: string): string[] {
  const places = Math.max(...[from, to, step].map((text) => text.split('.')[1]?.length ?? 0));
  const [first, last, by] = [from, to, step].map((text) => scaled(text, places));
  if (by! <= 0n || last! < first!)
    throw new RangeError(`a range goes upwards by a step above 0, not ${shown}`);
  if ((last! - first!) / by! >= BigInt(COMBINATIONS_MAX))
    throw new RangeError(`a range has at most ${COMBINATIONS_MAX} values, not ${shown}`);
  const texts: string[] = [];
  for (let value = first!; value <= last!; value += by!) texts.push(decimalText(value, places));
  return texts;
}

function scaled(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

function decimalText(value: bigint, places: number): string {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  const at = digits.length - places;
  return `${value < 0n ? '-' : ''}${digits.slice(0, at)}.${digits.slice(at)}0`;
}
