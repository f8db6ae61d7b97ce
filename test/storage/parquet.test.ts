import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { openParquet } from '../../storage/columns/parquet-reader.ts';
import {
  type ParquetColumns,
  type ParquetOptions,
  parquetChunks,
  parquetColumns,
} from '../../storage/columns/parquet-writer.ts';
import { optionalPackage } from '../../storage/files/optional-package.ts';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { plainColumn, textColumn } from '../../storage/texts/csv.ts';
import { temporaryDirectory } from '../common/node-harness.ts';

const directory = temporaryDirectory();
let files = 0;

async function written<Row>(
  columns: ParquetColumns<Row>,
  rows: Iterable<Row> | AsyncIterable<readonly Row[]>,
  options?: ParquetOptions,
) {
  files += 1;
  const path = join(directory, `${files}.parquet`);
  await writeWhole(path, parquetChunks(columns, rows, options));
  return openParquet(path);
}

async function readAll({ columns, groups }: Awaited<ReturnType<typeof openParquet>>) {
  const rows: Record<string, unknown>[] = [];
  const lengths: number[] = [];
  for await (const group of groups(columns)) {
    lengths.push(group.length);
    for (let i = 0; i < group.length; i++) {
      rows.push(Object.fromEntries(columns.map((name) => [name, group.columns.get(name)![i]])));
    }
  }
  return { rows, lengths };
}

interface Fill {
  readonly at: string | number;
  readonly name: string | undefined;
  readonly price: string;
  readonly count: number;
  readonly share: number;
}

const COLUMNS = parquetColumns(
  {
    at: plainColumn(({ at }: Fill) => at),
    name: textColumn(({ name }: Fill) => name),
    price: plainColumn(({ price }: Fill) => price),
    count: plainColumn(({ count }: Fill) => count),
    share: plainColumn(({ share }: Fill) => share),
  },
  { at: 'time', price: 'decimal', count: 'integer', share: 'number' },
);
const AT = Date.UTC(2026, 0, 5, 12, 0, 0, 7);

test('rows of a table read back with their types, and a decimal has its text and its millionths', async () => {
  const fills: Fill[] = [
    { at: AT, name: '=Yes, "no"\n\u00e9', price: '0.4801', count: 7, share: 0.1 },
    { at: '2026-01-05T12:00:00.007Z', name: undefined, price: '-12.3456789', count: -1, share: 2 },
    { at: 0, name: '', price: 'none', count: Number.MAX_SAFE_INTEGER, share: -1e-9 },
    { at: 1, name: 'x', price: '.5', count: 0, share: 0 },
    { at: 1, name: 'x', price: '9'.repeat(19), count: 0, share: 0 },
  ];
  const file = await written(COLUMNS, fills, { metadata: { made: 'here' } });
  assert.equal(file.metadata.get('made'), 'here');
  const { rows } = await readAll(file);
  const empty = undefined;
  assert.deepEqual(
    rows.map(({ price_micros }) => price_micros ?? empty),
    [480_100n, -12_345_678n, empty, 500_000n, empty],
  );
  for (const [i, { at, count, name, price, share }] of fills.entries()) {
    const { price_micros: _, name: readName, ...others } = rows[i]!;
    assert.equal(readName ?? undefined, name);
    assert.deepEqual(others, { at: new Date(at), price, count: BigInt(count), share });
  }
});

test('rows without end take the memory of a row group, and a group is written once it is full', async () => {
  const ROWS = 10_000;
  const GROUP = 256;
  let made = 0;
  async function* batches() {
    for (let i = 0; i < ROWS / 100; i++) {
      yield Array.from({ length: 100 }, (): Fill => {
        made += 1;
        return { at: made, name: `name ${made}`, price: '0.5', count: made, share: made / 2 };
      });
    }
  }
  let ahead = 0;
  let chunks = 0;
  let bytesMax = 0;
  for await (const chunk of parquetChunks(COLUMNS, batches(), { groupRows: GROUP })) {
    chunks += 1;
    ahead = Math.max(ahead, made - chunks * GROUP);
    bytesMax = Math.max(bytesMax, chunk.length);
  }
  assert.equal(chunks, Math.ceil(ROWS / GROUP) + 1, 'each group is a chunk, and the footer');
  assert(ahead <= 100, `${ahead} rows were made before they were wanted`);
  const file = await written(COLUMNS, batches(), { groupRows: GROUP });
  const { lengths, rows } = await readAll(file);
  assert.equal(Math.max(...lengths), GROUP);
  assert.equal(rows.length, ROWS);
  assert.equal(file.rows, ROWS);
});

test('a file that another program has compressed is read', async () => {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'price', type: 'DOUBLE', repetition_type: 'REQUIRED' },
    ],
    codec: 'GZIP',
    compressors: { GZIP: gzipSync },
  });
  const data = Array.from({ length: 100 }, (_, i) => i / 7);
  await file.write({ columnData: [{ name: 'price', data }] });
  await file.finish();
  const path = join(directory, 'gzip.parquet');
  writeFileSync(path, bytes.getBytes());
  const { rows } = await readAll(await openParquet(path));
  assert.deepEqual(
    rows.map(({ price }) => price),
    data,
  );
});

test('a table without rows is a file with its columns', async () => {
  const file = await written(COLUMNS, []);
  assert.deepEqual(file.columns, ['at', 'name', 'price', 'price_micros', 'count', 'share']);
  assert.equal(file.rows, 0);
  assert.deepEqual((await readAll(file)).rows, []);
});

test('a file that is no Parquet, or was cut, is refused', async () => {
  const path = join(directory, 'cut.parquet');
  await writeWhole(path, parquetChunks(COLUMNS, []));
  const whole = Buffer.alloc(statSync(path).size - 1);
  writeFileSync(path, whole);
  await assert.rejects(openParquet(path), /parquet/);
});

test('an optional package that is not installed is named with the command that installs it', async () => {
  const missing = 'prediction-market-missing-package';
  await assert.rejects(
    optionalPackage(missing, () => import(missing)),
    /the package prediction-market-missing-package is not installed: npm install /,
  );
  await assert.rejects(
    optionalPackage('any', () => Promise.reject(new Error('another'))),
    /^Error: another$/,
  );
});
