/**
 * Finds the columns of rows of books and trades in a file: by the names of csv-columns.ts, or by a mapping file, which is
 * JSON:
 *
 *   columns   name in csv-columns.ts -> column of the file, or `COLUMN.member` of one with JSON objects. `bids` and `asks`
 *             are columns with the levels of a whole book: lists of [price, size] or {price, size}, or of prices, with
 *             `bid_sizes` and `ask_sizes`
 *   unit      of numbers in `time` and `at`: s, ms, us or ns; without it the number of digits tells it
 *   values    name in csv-columns.ts -> text of the file -> text that it stands for
 *   constants name in csv-columns.ts -> text for all rows
 *
 * Pure; any thread.
 */
import { isObject } from '../catalog/catalog-json.ts';
import { type Cells, CSV_COLUMNS, type CsvRow } from './csv-columns.ts';
import { RecordingDamaged } from './entries.ts';
import type { Level, Levels, RowSource } from './row-reader.ts';

type Name = keyof CsvRow;
type LevelName = (typeof LEVEL_NAMES)[number];

export interface Mapping {
  readonly columns: Readonly<Partial<Record<Name | LevelName, string>>>;
  readonly unit: keyof typeof UNITS | undefined;
  readonly values: Readonly<Partial<Record<Name, Readonly<Record<string, string>>>>>;
  readonly constants: Readonly<Partial<Record<Name, string>>>;
}

/** Returns a value of the row by the name of its column. */
export type ReadColumn = (column: string) => unknown;

export interface RowColumns extends Pick<RowSource, 'nameOf'> {
  /** Columns of the file that are read. */
  readonly wanted: readonly string[];
  readonly cells: (read: ReadColumn) => Cells;
  /** Levels of a row that is a whole book; `undefined` for a row with one level, or a trade. */
  readonly levels: (read: ReadColumn) => Levels | undefined;
}

const NAMES = CSV_COLUMNS.map(({ name }) => name);
const LEVEL_NAMES = ['bids', 'asks', 'bid_sizes', 'ask_sizes'] as const;
/** Cells that a row with a whole book does not need. */
const LEVEL_CELLS: readonly Name[] = ['side', 'price', 'size'];
/** Milliseconds of a unit. */
const UNITS = { s: 1_000, ms: 1, us: 1 / 1_000, ns: 1 / 1_000_000 };
const MEMBERS = ['columns', 'unit', 'values', 'constants'];

/** @throws RecordingDamaged that names what is wrong */
export function readMapping(text: string, path: string): Mapping {
  const wrong = (what: string): RecordingDamaged => new RecordingDamaged(`${path}: ${what}`);
  const json = parsedJson(text);
  if (!isObject(json)) throw wrong('a mapping is a JSON object');
  const unknown = Object.keys(json).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) throw wrong(`${unknown} is none of ${MEMBERS.join(', ')}`);
  const { unit } = json;
  if (unit !== undefined && !Object.hasOwn(UNITS, String(unit)))
    throw wrong(`unit must be one of ${Object.keys(UNITS).join(', ')}`);
  const texts = <Of extends string>(value: unknown, member: string, of: readonly Of[]) => {
    const object = value ?? {};
    if (!isObject(object)) throw wrong(`${member} must be an object`);
    for (const [name, each] of Object.entries(object)) {
      if (!of.includes(name as Of))
        throw wrong(`${member} has ${name}, not one of ${of.join(', ')}`);
      if (typeof each !== 'string') throw wrong(`${member}.${name} must be a text`);
    }
    return object as Readonly<Partial<Record<Of, string>>>;
  };
  const values = json.values ?? {};
  if (!isObject(values)) throw wrong('values must be an object');
  for (const [name, of] of Object.entries(values)) {
    if (!NAMES.includes(name as Name))
      throw wrong(`values has ${name}, not one of ${NAMES.join(', ')}`);
    const isTexts = isObject(of) && Object.values(of).every((each) => typeof each === 'string');
    if (!isTexts) throw wrong(`values.${name} must be an object of texts`);
  }
  const columns = texts(json.columns, 'columns', [...NAMES, ...LEVEL_NAMES]);
  const constants = texts(json.constants, 'constants', NAMES);
  const twice = Object.keys(constants).find((name) => Object.hasOwn(columns, name));
  if (twice !== undefined) throw wrong(`${twice} is in columns and in constants`);
  return {
    columns,
    unit: unit as Mapping['unit'],
    values: values as Mapping['values'],
    constants,
  };
}

/**
 * Columns of a file with these names.
 * @param lacks text that names a column that the file lacks
 * @throws RecordingDamaged for a column that is needed and missing, or is there twice
 */
export function namedColumns(
  names: readonly string[],
  where: string,
  lacks: (column: string) => string,
): RowColumns {
  const lower = names.map((name) => name.toLowerCase());
  const columns: Partial<Record<Name, string>> = {};
  for (const { aliases, isRequired, name } of CSV_COLUMNS) {
    const found = [name, ...aliases].filter((each) => lower.includes(each));
    const [own] = found;
    const isTwice = found.length > 1 || lower.indexOf(own ?? '') !== lower.lastIndexOf(own ?? '');
    if (own !== undefined && isTwice)
      throw new RecordingDamaged(`${where}, column ${found.at(-1)}: ${name} is there twice`);
    if (own !== undefined) columns[name] = names[lower.indexOf(own)]!;
    else if (isRequired) {
      const others = aliases.length === 0 ? '' : ` (or ${aliases.join(', ')})`;
      throw new RecordingDamaged(`${where}: ${lacks(`the column ${name}${others}`)}`);
    }
  }
  return columnsOf({ columns, unit: undefined, values: {}, constants: {} }, (name) => [name]);
}

/**
 * Columns of a mapping.
 * @throws RecordingDamaged for a column that the file does not have, or that the mapping lacks
 */
export function mappedColumns(
  mapping: Mapping,
  names: readonly string[],
  where: string,
): RowColumns {
  const found = columnsOf(mapping, (path) => {
    if (names.includes(path)) return [path];
    const [column = '', ...members] = path.split('.');
    if (names.includes(column) && members.length > 0) return [column, ...members];
    throw new RecordingDamaged(`${where}: it has no column ${path} of the mapping`);
  });
  const named = { ...mapping.columns, ...mapping.constants };
  const hasBooks = mapping.columns.bids !== undefined || mapping.columns.asks !== undefined;
  const lacking = CSV_COLUMNS.find(({ isRequired, name }) => {
    const isNeeded = isRequired && !(hasBooks && LEVEL_CELLS.includes(name));
    return isNeeded && named[name] === undefined;
  });
  if (lacking === undefined) return found;
  throw new RecordingDamaged(
    `${where}: the mapping lacks ${lacking.name}, in columns or in constants`,
  );
}

function columnsOf(
  { columns, constants, unit, values }: Mapping,
  pathOf: (text: string) => readonly string[],
): RowColumns {
  const paths = new Map(
    Object.entries(columns).map(([name, text]) => [name as Name | LevelName, pathOf(text)]),
  );
  const parsed = jsonParser();
  const valueAt = ([column = '', ...members]: readonly string[], read: ReadColumn): unknown => {
    let value = read(column);
    for (const member of members) {
      const object = parsed(value);
      if (!isObject(object)) return undefined;
      value = object[member];
    }
    return value;
  };
  const cell = (name: Name, read: ReadColumn): string => {
    const path = paths.get(name);
    if (path === undefined) return constants[name] ?? '';
    const value = valueAt(path, read);
    const text = cellText(value);
    if (unit !== undefined && (name === 'time' || name === 'at'))
      return timeText(value, text, unit);
    const of = values[name];
    return of !== undefined && Object.hasOwn(of, text) ? of[text]! : text;
  };
  return {
    wanted: [...new Set([...paths.values()].map(([column]) => column!))],
    nameOf: (name) => columns[name] ?? name,
    cells: (read) =>
      Object.fromEntries(NAMES.map((name) => [name, cell(name, read)])) as unknown as Cells,
    levels(read) {
      const of = (name: LevelName): unknown => {
        const path = paths.get(name);
        return path === undefined ? undefined : valueAt(path, read);
      };
      const [bids, asks] = [of('bids'), of('asks')];
      if (isNone(bids) && isNone(asks)) return undefined;
      return { bids: levelsOf(bids, of('bid_sizes')), asks: levelsOf(asks, of('ask_sizes')) };
    },
  };
}

/** Returns a function that makes values of texts with JSON. It retains the last text, of which a row has many cells. */
function jsonParser(): (value: unknown) => unknown {
  let last: string | undefined;
  let json: unknown;
  return (value) => {
    if (typeof value !== 'string') return value;
    if (value !== last) {
      last = value;
      json = parsedJson(value);
    }
    return json;
  };
}

/** Returns undefined for a text that is no JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isNone(value: unknown): boolean {
  return value == null || value === '';
}

/** Levels of a list of them, or of prices beside a list of sizes. */
function levelsOf(list: unknown, sizes: unknown): Level[] {
  if (isNone(list)) return [];
  const [levels, beside] = [list, sizes].map((value) =>
    typeof value === 'string' ? parsedJson(value) : value,
  );
  // The reader refuses it as a price.
  if (!Array.isArray(levels)) return [{ price: cellText(list), size: '' }];
  return levels.map((level: unknown, i) => {
    const [price, size] = Array.isArray(level)
      ? level
      : isObject(level)
        ? [level.price, level.size]
        : [level, Array.isArray(beside) ? beside[i] : undefined];
    return { price: cellText(price), size: cellText(size) };
  });
}

function timeText(value: unknown, text: string, unit: keyof typeof UNITS): string {
  if (value instanceof Date || text === '' || Number.isNaN(Number(text))) return text;
  // Nanoseconds have more digits than a number has.
  const ms = unit === 'ns' ? Number(text.slice(0, -6)) : Math.floor(Number(text) * UNITS[unit]);
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}

/** Text of a value of any type: numbers without an exponent and with nine decimals at most. */
function cellText(value: unknown): string {
  if (value == null) return '';
  if (typeof value === 'string') return value.trim();
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return value.toFixed(9).replace(/\.?0+$/, '');
}
