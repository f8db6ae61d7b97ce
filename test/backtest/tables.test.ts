import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { backtest, type Strategy, tablesOf } from '../../server/backtest/backtest.ts';
import { openParquet } from '../../storage/columns/parquet-reader.ts';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { csvCells } from '../../storage/texts/csv.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { book, catalog, change, START, trade, YES } from './entries.ts';

const directory = temporaryDirectory();
const ENTRIES = [
  catalog(),
  book(0, { '0.40': 100 }, { '0.44': 100 }),
  trade(2_000, 'SELL', '0.41', 4),
  change(90_000_000, 'BUY', '0.42', 50),
];
const buyer: Strategy = {
  onStart(venue) {
    venue.place({ token: YES, side: 'BUY', price: 0.44, size: 10 });
    venue.place({ token: YES, side: 'BUY', price: 0.41, size: 10 });
  },
};
/** Columns of texts; of all others Parquet has numbers. */
const TEXTS = new Set(['market', 'outcome', 'token', 'side', 'role', 'question', 'day']);

test('each table of a result has the same cells as CSV and as Parquet, and numbers are numbers', async () => {
  const result = await backtest(ENTRIES, buyer);
  const tables = Object.entries(tablesOf(result));
  assert.deepEqual(
    tables.map(([name]) => name),
    ['fills', 'equity', 'days', 'markets'],
  );
  for (const [name, table] of tables) {
    const path = join(directory, `${name}.parquet`);
    await writeWhole(path, table.parquet());
    const file = await openParquet(path);
    const [head = '', ...lines] = table.csv().trimEnd().split('\r\n');
    const names = csvCells(head) as string[];
    assert.equal(file.rows, lines.length, name);
    assert(lines.length > 0, name);
    for await (const { columns } of file.groups(file.columns)) {
      for (const [row, line] of lines.entries()) {
        for (const [i, cell] of (csvCells(line) as string[]).entries()) {
          const column = names[i]!;
          const value = columns.get(column)?.[row];
          const what = `${name}, ${column}`;
          if (cell === '') assert.equal(value ?? undefined, undefined, what);
          else if (column === 'time')
            assert.equal((value as Date).getTime(), Date.parse(cell), what);
          // CSV has six decimals.
          else if (typeof value === 'number') assert(Math.abs(value - Number(cell)) <= 5e-7, what);
          else assert.equal(String(value), cell, what);
          if (TEXTS.has(column) || column === 'time' || cell === '') continue;
          const micros = columns.get(`${column}_micros`)?.[row];
          if (micros !== undefined)
            assert.equal(micros, BigInt(Math.round(1e6 * Number(cell))), what);
          else assert.notEqual(typeof value, 'string', what);
        }
      }
    }
  }
  assert.deepEqual(
    result.fills.map(({ price, size, time }) => [price, size, time - START]),
    [
      [0.44, 10, 0],
      [0.41, 4, 2_000],
    ],
  );
});
