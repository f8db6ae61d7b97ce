/**
 * Reads a Parquet file, a row group at a time. Single entry point to the packages hyparquet and hyparquet-compressors,
 * which are optional; the second one only for files that are compressed by another codec than Snappy.
 *
 * Thread: any. Memory: the wanted columns of one row group.
 */
import type { FileMetaData } from 'hyparquet';
import { optionalPackage } from '../files/optional-package.ts';

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

const MAGIC = 'PAR1';
/** Codecs that hyparquet has itself. */
const OWN_CODECS: readonly string[] = ['UNCOMPRESSED', 'SNAPPY'];

export function beginsParquet(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC;
}

export async function openParquet(path: string): Promise<ParquetFile> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetScan, parquetSchema } =
    await optionalPackage('hyparquet', () => import('hyparquet'));
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const compressors = await compressorsOf(metadata);
  return {
    columns,
    metadata: new Map(
      (metadata.key_value_metadata ?? []).map(({ key, value = '' }) => [key, value]),
    ),
    rows: Number(metadata.num_rows),
    async *groups(wanted) {
      const names = wanted.filter((name) => columns.includes(name));
      // A scan retains what it has read last: hence one for each group.
      let rowStart = 0;
      for (const { num_rows } of metadata.row_groups) {
        const rowEnd = rowStart + Number(num_rows);
        const scan = await parquetScan({ file, metadata, columns: names, compressors });
        const read = new Map<string, ParquetColumnValues>();
        for (const column of names) {
          read.set(column, await scan.readColumn({ column, rowStart, rowEnd }));
        }
        yield { length: rowEnd - rowStart, columns: read };
        rowStart = rowEnd;
      }
    },
  };
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
