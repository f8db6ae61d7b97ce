/** Books and trades of archives, as rows of Parquet and of CSV, with the columns that a mapping names. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { type ColumnType, parquetChunks } from '../../storage/columns/parquet-writer.ts';
import { writeWhole } from '../../storage/files/whole-file.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { readMapping } from '../../storage/recordings/row-columns.ts';
import { csvOf, textColumn } from '../../storage/texts/csv.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';

type Row = Readonly<Record<string, string | number | undefined>>;

const directory = temporaryDirectory();
const AT = Date.UTC(2026, 1, 21, 16);
const [YES, NO] = ['71', '72'];
let files = 0;

function newPath(end: string): string {
  files += 1;
  return join(directory, `${files}${end}`);
}

/** Writes rows as Parquet, and as CSV with the same texts. */
async function bothFiles(rows: readonly Row[], types: Readonly<Record<string, ColumnType>>) {
  const names = Object.keys(rows[0]!);
  const parquet = newPath('.parquet');
  const columns = Object.fromEntries(
    names.map((name) => [name, { type: types[name] ?? 'text', read: (row: Row) => row[name] }]),
  );
  await writeWhole(parquet, parquetChunks(columns, rows));
  const csv = newPath('.csv');
  const cells = names.map((name) => {
    const isTime = types[name] === 'time';
    const text = (row: Row) => (isTime ? new Date(row[name]!).toISOString() : row[name]);
    return [name, textColumn(text)] as const;
  });
  writeFileSync(csv, csvOf(Object.fromEntries(cells), rows));
  return [parquet, csv];
}

async function messagesOf(path: string, mapping?: object) {
  const read = mapping && readMapping(JSON.stringify(mapping), 'mapping.json');
  const recording = await openRecording(path, undefined, read);
  const messages: (readonly [at: number, message: JsonObject])[] = [];
  for await (const entry of recording)
    if (entry.kind === 'message') messages.push([entry.at, entry.message]);
  return messages;
}

/** Updates of the archive of pmxt, each a row with its members as JSON. */
const UPDATES = [
  {
    update_type: 'book_snapshot',
    data: {
      token_id: YES,
      side: 'YES',
      bids: [
        ['0.40', '100'],
        ['0.39', '5.5'],
      ],
      asks: [['0.44', '7']],
    },
  },
  { update_type: 'book_snapshot', data: { token_id: NO, side: 'NO', bids: [], asks: [] } },
  {
    update_type: 'price_change',
    data: { token_id: YES, side: 'YES', change_price: 0.41, change_size: 20, change_side: 'BUY' },
  },
  {
    update_type: 'price_change',
    data: { token_id: NO, side: 'NO', change_price: 0.59, change_size: 20, change_side: 'SELL' },
  },
  {
    update_type: 'fill',
    data: {
      token_id: YES,
      side: 'YES',
      change_price: '0.41',
      change_size: '3',
      change_side: 'SELL',
    },
  },
];
const OF_UPDATES = {
  columns: {
    at: 'timestamp_received',
    time: 'timestamp_created_at',
    type: 'update_type',
    market: 'market_id',
    token: 'data.token_id',
    outcome: 'data.side',
    side: 'data.change_side',
    price: 'data.change_price',
    size: 'data.change_size',
    bids: 'data.bids',
    asks: 'data.asks',
  },
  values: { type: { book_snapshot: 'book', price_change: 'change', fill: 'trade' } },
};

test('an archive with JSON in a column gives messages with both times, the same from Parquet and from CSV', async () => {
  const rows = UPDATES.map(({ data, update_type }, i) => ({
    timestamp_received: AT + 10 + Math.floor(i / 2),
    timestamp_created_at: AT,
    market_id: '0xab',
    update_type,
    data: JSON.stringify(data),
  }));
  const types = { timestamp_received: 'time', timestamp_created_at: 'time' } as const;
  const of = { market: '0xab', timestamp: String(AT) };
  const [yes, no] = [
    { asset_id: YES, outcome: 'YES' },
    { asset_id: NO, outcome: 'NO' },
  ];
  const bids = [
    { price: '0.40', size: '100' },
    { price: '0.39', size: '5.5' },
  ];
  const asks = [{ price: '0.44', size: '7' }];
  const changes = [
    { ...yes, price: '0.41', size: '20', side: 'BUY' },
    { ...no, price: '0.59', size: '20', side: 'SELL' },
  ];
  const trade = { ...yes, price: '0.41', size: '3', side: 'SELL' };
  for (const path of await bothFiles(rows, types)) {
    assert.deepEqual(await messagesOf(path, OF_UPDATES), [
      [AT + 10, { event_type: 'book', ...of, ...yes, bids, asks }],
      [AT + 10, { event_type: 'book', ...of, ...no, bids: [], asks: [] }],
      [AT + 11, { event_type: 'price_change', ...of, price_changes: changes }],
      [AT + 12, { event_type: 'last_trade_price', ...of, ...trade }],
    ]);
  }
});

test('rows with the names of the table need no mapping, and numbers of any unit are times', async () => {
  const types = { price: 'number', size: 'number', time: 'integer' } as const;
  for (const digits of ['', '000', '000000']) {
    const rows = [0.07, 0.57].map((price) => ({
      time: `${AT}${digits}`,
      market: 'rain',
      token: YES,
      side: 'BUY',
      price,
      size: 0.1 + 0.2,
    }));
    for (const path of await bothFiles(rows, types)) {
      const messages = await messagesOf(path);
      assert.deepEqual(
        messages.map(([at, { price }]) => [at, price]),
        [
          [AT, '0.07'],
          [AT, '0.57'],
        ],
      );
    }
  }
});

test('a mapping says the unit of a time, texts for all rows, and columns with lists of prices and of sizes', async () => {
  const rows = [
    { when: 1_000_000_000, b: '[0.4, 0.39]', bs: '[1, 2.25]', a: '[]', as: '[]' },
    {
      when: 2_000_000_000,
      b: undefined,
      bs: undefined,
      a: '[{"price":0.5,"size":3}]',
      as: undefined,
    },
  ];
  const mapping = {
    columns: { time: 'when', bids: 'b', bid_sizes: 'bs', asks: 'a', ask_sizes: 'as' },
    unit: 'ns',
    constants: { token: YES, market: 'rain' },
  };
  const of = { event_type: 'book', market: 'rain', asset_id: YES };
  for (const path of await bothFiles(rows, { when: 'integer' })) {
    const [first, second] = await messagesOf(path, mapping);
    const bids = [
      { price: '0.4', size: '1' },
      { price: '0.39', size: '2.25' },
    ];
    assert.deepEqual(first, [1_000, { ...of, timestamp: '1000', bids, asks: [] }]);
    const asks = [{ price: '0.5', size: '3' }];
    assert.deepEqual(second, [2_000, { ...of, timestamp: '2000', bids: [], asks }]);
  }
  for (const [unit, when] of [
    ['s', 1_700_000_000],
    ['ms', 1_700_000_000_000],
    ['us', 1_700_000_000_000_000],
    ['ns', 5_000_000],
  ] as const) {
    const [path = ''] = await bothFiles([{ ...rows[0]!, when }], { when: 'integer' });
    const [first] = await messagesOf(path, { ...mapping, unit });
    assert.equal(first![0], unit === 'ns' ? 5 : 1_700_000_000_000);
  }
});

test('a wrong mapping, a missing column and a wrong cell are named', async () => {
  const good = { time: AT, market: 'rain', token: YES, side: 'BUY', price: '0.5', size: '1' };
  const paths = await bothFiles([good, { ...good, price: '1.5' }], { time: 'time' });
  for (const path of paths) {
    const place = path.endsWith('.csv') ? 'line 3' : 'row 2';
    await assert.rejects(
      messagesOf(path),
      new RegExp(
        `${place}, column price: it must be a decimal from 0\\.0001 to 0\\.9999, not "1\\.5"`,
      ),
    );
    const mapping = { columns: { time: 'time', token: 'asset' } };
    await assert.rejects(messagesOf(path, mapping), /it has no column asset of the mapping/);
    const short = { columns: { time: 'time', token: 'token', side: 'side', price: 'price' } };
    await assert.rejects(
      messagesOf(path, short),
      /the mapping lacks size, in columns or in constants/,
    );
  }
  const [books = ''] = await bothFiles([{ time: AT, token: YES, b: 'none' }], { time: 'time' });
  await assert.rejects(
    messagesOf(books, { columns: { time: 'time', token: 'token', bids: 'b' } }),
    /row 1, column price: it must be a decimal .*, not "none"/,
  );
  const [parquet = ''] = await bothFiles([{ time: AT, side: 'BUY' }], { time: 'time' });
  await assert.rejects(
    messagesOf(parquet),
    /it lacks the column token \(or asset_id, asset, taker_token\)/,
  );
  const file = newPath('.json');
  const cases: readonly (readonly [mapping: unknown, message: RegExp])[] = [
    [[], /a mapping is a JSON object/],
    [{ colums: {} }, /colums is none of columns, unit, values, constants/],
    [{ columns: { tokn: 'a' } }, /columns has tokn, not one of time, at, type/],
    [{ columns: { token: 5 } }, /columns\.token must be a text/],
    [{ unit: 'h' }, /unit must be one of s, ms, us, ns/],
    [{ values: { side: { B: 1 } } }, /values\.side must be an object of texts/],
    [{ constants: { bids: '1' } }, /constants has bids, not one of/],
    [{ columns: { size: 'a' }, constants: { size: '1' } }, /size is in columns and in constants/],
  ];
  for (const [mapping, message] of cases) {
    writeFileSync(file, JSON.stringify(mapping));
    const args = ['record', 'convert', parquet, newPath('.rec'), '--mapping', file];
    const { code, stderr } = await cli(directory, args);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
  writeFileSync(file, '{}');
  const lines = newPath('.jsonl');
  writeFileSync(lines, '{"event_type":"book"}\n');
  const { code, stderr } = await cli(directory, [
    'record',
    'import',
    lines,
    '-o',
    newPath('.rec'),
    '--mapping',
    file,
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /a mapping names columns, and this file has none/);
});
