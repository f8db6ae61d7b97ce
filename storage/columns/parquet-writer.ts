/**
 * Writes rows as a Parquet file, a row group at a time. Memory: the rows of one group. Single entry point to the package
 * hyparquet-writer, which is optional.
 *
 *   const columns = parquetColumns(CSV_COLUMNS, { time: 'time', price: 'decimal', count: 'integer' });
 *   await writeWhole('fills.parquet', parquetChunks(columns, rows));
 *
 * Thread: any. Non-goals: nested columns.
 */
import { crc32 } from 'node:zlib';
import type * as Writer from 'hyparquet-writer';
import { optionalPackage } from '../files/optional-package.ts';
import type { CsvColumns } from '../texts/csv.ts';

/**
 * text: UTF-8.
 * integer: INT64.
 * number: DOUBLE.
 * boolean: BOOLEAN.
 * time: TIMESTAMP in nanoseconds and UTC; values are unix milliseconds, or texts in ISO 8601.
 * decimal: two columns, the text unchanged and, with `_micros` behind the name, its whole millionths as INT64. A negative
 *   one begins with `-`. Digits beyond the sixth after the point are cut off.
 */
export type ColumnType = 'text' | 'integer' | 'number' | 'boolean' | 'time' | 'decimal';

export interface ParquetColumn<Row> {
  readonly type: ColumnType;
  /** Value of a row; `undefined` is a null. */
  readonly read: (row: Row) => string | number | boolean | undefined;
}

export type ParquetColumns<Row> = Readonly<Record<string, ParquetColumn<Row>>>;

export interface ParquetOptions {
  /** Texts of the file by their keys, for readers of its metadata. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Rows of a group; all of them are in memory. */
  readonly groupRows?: number;
}

type Value = string | number | bigint | boolean | undefined;

/** A column of the file: `element` describes it, `value` makes a value of a row. */
interface StoredColumn<Row> {
  readonly element: Writer.SchemaElement;
  readonly value: (row: Row) => Value;
}

const GROUP_ROWS = 2 ** 15;
const MICRO_DIGITS = 6;
const NS_PER_MS = 1_000_000n;
const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?$/;

/** Makes columns of those of a CSV file. @param types of columns that are not texts */
export function parquetColumns<Row>(
  columns: CsvColumns<Row>,
  types: Readonly<Record<string, ColumnType>>,
): ParquetColumns<Row> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, { read }]) => [
      name,
      { type: types[name] ?? 'text', read },
    ]),
  );
}

/** Key of a text of the file: bytes of its row groups, and their crc32, with a blank between. */
export const CHECKSUM_KEY = 'row_groups_crc32';

/**
 * Yields the bytes of a file. The checksum of its row groups is in its metadata.
 * @param rows one at a time, or batches of them where they come asynchronously
 */
export async function* parquetChunks<Row>(
  columns: ParquetColumns<Row>,
  rows: Iterable<Row> | AsyncIterable<readonly Row[]>,
  { groupRows = GROUP_ROWS, metadata = {} }: ParquetOptions = {},
): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await optionalPackage(
    'hyparquet-writer',
    () => import('hyparquet-writer'),
  );
  const stored = Object.entries(columns).flatMap(([name, column]) => storedColumns(name, column));
  const bytes = new ByteWriter();
  const texts = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: stored.length },
      ...stored.map(({ element }) => element),
    ],
    kvMetadata: texts,
  });
  let checksum = 0;
  const taken = (): Uint8Array => {
    const chunk = bytes.getBytes().slice();
    bytes.index = 0;
    checksum = crc32(chunk, checksum);
    return chunk;
  };
  let group: Value[][] = stored.map(() => []);
  const writeGroup = (): Uint8Array => {
    const columnData = stored.map(({ element }, i) => ({ name: element.name, data: group[i]! }));
    file.write({ columnData, rowGroupSize: groupRows });
    group = stored.map(() => []);
    return taken();
  };
  const batches = Symbol.asyncIterator in rows ? rows : [rows];
  for await (const batch of batches) {
    for (const row of batch) {
      for (let i = 0; i < stored.length; i++) group[i]!.push(stored[i]!.value(row));
      if (group[0]!.length === groupRows) yield writeGroup();
    }
  }
  if (group[0]!.length > 0) yield writeGroup();
  else yield taken();
  texts.push({ key: CHECKSUM_KEY, value: `${bytes.offset} ${checksum}` });
  file.finish();
  yield taken();
}

function storedColumns<Row>(
  name: string,
  { read, type }: ParquetColumn<Row>,
): readonly StoredColumn<Row>[] {
  const element = (described: Omit<Writer.SchemaElement, 'name'>, of = name) =>
    ({ name: of, repetition_type: 'OPTIONAL', ...described }) as const;
  const text = {
    element: element({
      type: 'BYTE_ARRAY',
      converted_type: 'UTF8',
      logical_type: { type: 'STRING' },
    }),
    value: (row: Row) => textOf(read(row)),
  };
  switch (type) {
    case 'text':
      return [text];
    case 'integer':
      return [{ element: element({ type: 'INT64' }), value: (row) => integerOf(read(row)) }];
    case 'number':
      return [{ element: element({ type: 'DOUBLE' }), value: read }];
    case 'boolean':
      return [{ element: element({ type: 'BOOLEAN' }), value: read }];
    case 'time': {
      const logical = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' } as const;
      return [
        {
          element: element({ type: 'INT64', logical_type: logical }),
          value: (row) => nanosecondsOf(read(row)),
        },
      ];
    }
    case 'decimal':
      return [
        text,
        {
          element: element({ type: 'INT64' }, `${name}_micros`),
          value: (row) => microsOf(text.value(row)),
        },
      ];
  }
}

function textOf(value: string | number | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function integerOf(value: string | number | boolean | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}

function nanosecondsOf(value: string | number | boolean | undefined): bigint | undefined {
  if (value === undefined) return undefined;
  return BigInt(typeof value === 'string' ? Date.parse(value) : value) * NS_PER_MS;
}

/** Whole millionths of a decimal text; `undefined` where the text is none, or has too many digits. */
function microsOf(text: string | undefined): bigint | undefined {
  const [, sign, whole = '', fraction = ''] = DECIMAL.exec(text ?? '') ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  const micros = BigInt(whole + fraction.slice(0, MICRO_DIGITS).padEnd(MICRO_DIGITS, '0'));
  if (BigInt.asIntN(64, micros) !== micros) return undefined;
  return sign === '-' ? -micros : micros;
}
