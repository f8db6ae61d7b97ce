/**
 * Reads a Parquet file, a row group at a time. Single entry point to the packages hyparquet and hyparquet-compressors,
 * which are optional; the second one only for files that are compressed by another codec than Snappy.
 *
 * Thread: any. Memory: the wanted columns of one row group.
 */
import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { FileMetaData } from 'hyparquet';
import { optionalPackage } from '../files/optional-package.ts';
import { ColumnsDamaged } from './columns-damaged.ts';
import { CHECKSUM_KEY } from './parquet-writer.ts';

/**
 * A value as the file has it: text, number, bigint (INT64), boolean, Date (a TIMESTAMP or DATE, to the millisecond), or
 * null or undefined.
 */
export type ParquetColumnValues = ArrayLike<unknown>;

export interface ParquetGroup {
  readonly length: number;
  /** Values by the name of their column. A name that the file does not have is absent. */
  readonly columns: ReadonlyMap<string, ParquetColumnValues>;
}

export interface ParquetFile {
  readonly columns: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
  readonly rows: number;
  /** Yields the row groups in their order. @param wanted columns that are read */
  readonly groups: (wanted: readonly string[]) => AsyncGenerator<ParquetGroup>;
}

const PIECE_BYTES = 2 ** 18;
const MAGIC = 'PAR1';
/** Codecs that hyparquet has itself. */
const OWN_CODECS: readonly string[] = ['UNCOMPRESSED', 'SNAPPY'];

export function beginsParquet(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC;
}

/** Rejects with a ColumnsDamaged for a file that is no Parquet. */
export async function openParquet(path: string): Promise<ParquetFile> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetScan, parquetSchema } =
    await optionalPackage('hyparquet', () => import('hyparquet'));
  const file = await asyncBufferFromFile(path);
  const metadata = await undamaged(parquetMetadataAsync(file));
  const texts = new Map(
    (metadata.key_value_metadata ?? []).map(({ key, value = '' }) => [key, value]),
  );
  await checkSum(path, texts.get(CHECKSUM_KEY));
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const compressors = await compressorsOf(metadata);
  const options = { file, metadata, compressors, useOffsetIndex: false };
  return {
    columns,
    metadata: texts,
    rows: Number(metadata.num_rows),
    async *groups(wanted) {
      const names = wanted.filter((name) => columns.includes(name));
      // A scan retains what it has read last: hence one for each group.
      let rowStart = 0;
      for (const { num_rows } of metadata.row_groups) {
        const rowEnd = rowStart + Number(num_rows);
        const scan = await undamaged(parquetScan({ ...options, columns: names }));
        const read = new Map<string, ParquetColumnValues>();
        for (const column of names) {
          const values = await undamaged(scan.readColumn({ column, rowStart, rowEnd }));
          if (values.length !== rowEnd - rowStart)
            throw new ColumnsDamaged(`the column ${column} has not the rows of its group`);
          read.set(column, values);
        }
        yield { length: rowEnd - rowStart, columns: read };
        rowStart = rowEnd;
      }
    },
  };
}

/** Compares the row groups with their checksum, which files of other programs do not have. */
async function checkSum(path: string, text: string | undefined): Promise<void> {
  const [bytes = 0, wanted] = (text ?? '').split(' ').map(Number);
  if (bytes === 0) return;
  let sum = 0;
  const stream = createReadStream(path, { end: bytes - 1, highWaterMark: PIECE_BYTES });
  for await (const piece of stream) sum = crc32(piece as Buffer, sum);
  if (sum !== wanted) throw new ColumnsDamaged('its checksum is not that of its row groups');
}

/** Rejects with a ColumnsDamaged, because whatever the package rejects with is about the file. */
async function undamaged<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw new ColumnsDamaged(`it is no whole Parquet file: ${(error as Error).message}`);
  }
}

async function compressorsOf({ row_groups }: FileMetaData) {
  const codecs = row_groups.flatMap(({ columns }) =>
    columns.map(({ meta_data }) => meta_data?.codec ?? 'UNCOMPRESSED'),
  );
  if (codecs.every((codec) => OWN_CODECS.includes(codec))) return {};
  const { compressors } = await optionalPackage(
    'hyparquet-compressors',
    () => import('hyparquet-compressors'),
  );
  return compressors;
}
