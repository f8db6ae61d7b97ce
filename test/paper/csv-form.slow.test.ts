import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { backtest } from '../../server/backtest/backtest.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { CSV_COLUMNS } from '../../storage/recordings/csv-columns.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { understoodEvents } from '../../storage/recordings/source-message.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';

const directory = temporaryDirectory();
let files = 0;

function fileOf(text: string | Buffer, name = 'rain.csv'): string {
  files += 1;
  const path = join(directory, `${files}-${name}`);
  writeFileSync(path, text);
  return path;
}

interface Read {
  readonly messages: readonly JsonObject[];
  readonly market: Readonly<Record<string, unknown>> | undefined;
  readonly inferred: readonly string[];
}

async function read(path: string): Promise<Read> {
  const recording = await openRecording(path);
  const messages: JsonObject[] = [];
  for await (const entry of recording) if (entry.kind === 'message') messages.push(entry.message);
  const [event] = recording.catalog.events as { markets: Record<string, unknown>[] }[];
  return { messages, market: event?.markets[0], inferred: recording.header.inferred };
}

async function importFiles(...paths: readonly string[]) {
  files += 1;
  const out = join(directory, `${files}.rec`);
  const { code, stderr, stdout } = await cli(directory, ['record', 'import', ...paths, '-o', out]);
  return { code, stderr, stdout, out };
}

const AT = Date.UTC(2026, 0, 5, 12);
const ISO = '2026-01-05T12:00:00Z';

test('rows of one time make a book, changes of a market one message, and each trade is one', async () => {
  const text = `\uFEFFsize,"price",Side,token,time,type,outcome,comment\r
10, 0.40 ,bid,11,${ISO},book,Yes,"a, ""quoted"" one"\r
20,0.41,BUY,11,${ISO},book,Yes,\r
0,0.44,ask,11,${ISO},book,Yes,\r
7,0.56,ask,12,${ISO},book,No,\r
\r
3,0.42,buy,11,${AT / 1_000 + 1},change,Yes,\r
3,0.58,sell,12,${AT / 1_000 + 1},change,No,\r
4,0.42,SELL,11,${AT / 1_000 + 1.5},TRADE,Yes,\r
5,0.42,sell,11,${AT + 1_500},trade,Yes,\r
`;
  for (const path of [fileOf(text), fileOf(gzipSync(text), 'rain.csv.gz')]) {
    const { inferred, market, messages } = await read(path);
    const name = path.replace(/^.*\//, '').replace(/\.csv.*$/, '');
    const of = (ms: number) => ({ market: name, timestamp: String(AT + ms) });
    const yes = { asset_id: '11', outcome: 'Yes' };
    const no = { asset_id: '12', outcome: 'No' };
    const trade = {
      event_type: 'last_trade_price',
      ...of(1_500),
      ...yes,
      price: '0.42',
      side: 'SELL',
    };
    assert.deepEqual(messages, [
      {
        event_type: 'book',
        ...of(0),
        ...yes,
        asks: [],
        bids: [
          { price: '0.40', size: '10' },
          { price: '0.41', size: '20' },
        ],
      },
      { event_type: 'book', ...of(0), ...no, bids: [], asks: [{ price: '0.56', size: '7' }] },
      {
        event_type: 'price_change',
        ...of(1_000),
        price_changes: [
          { ...yes, price: '0.42', size: '3', side: 'BUY' },
          { ...no, price: '0.58', size: '3', side: 'SELL' },
        ],
      },
      { ...trade, size: '4' },
      { ...trade, size: '5' },
    ]);
    assert.deepEqual(market?.outcomes, ['Yes', 'No']);
    assert.deepEqual(market?.clobTokenIds, ['11', '12']);
    assert.deepEqual(inferred, []);
  }
});

test('a token that is no number is the name of an outcome, and equal names give equal ids', async () => {
  const trades = 'timestamp,market,asset,taker_side,taker_price,size\n';
  const one = await read(fileOf(`${trades}5,game,Lions,BUY,0.4,1\n6,game,Bears,BUY,0.4,1\n`));
  const other = await read(fileOf(`${trades}7,game,Bears,BUY,0.4,1\n`));
  assert.deepEqual(one.market?.outcomes, ['Lions', 'Bears']);
  const [, bears] = one.market!.clobTokenIds as string[];
  assert.match(bears!, /^\d{70,78}$/);
  assert.equal(other.messages[0]?.asset_id, bears);
  assert.deepEqual(other.market?.outcomes, ['Bears', 'Second']);
  // Without the column all rows are trades, and the time is in seconds.
  assert.deepEqual(
    one.messages.map(({ event_type, timestamp }) => [event_type, timestamp]),
    [
      ['last_trade_price', '5000'],
      ['last_trade_price', '6000'],
    ],
  );
});

test('an error names line and column, and leaves no file', async () => {
  const head = 'time,type,market,token,outcome,side,price,size';
  const good = '5,book,rain,11,Yes,bid,0.4,10';
  const cases: readonly (readonly [line: string, problem: string])[] = [
    ['x,book,rain,11,Yes,bid,0.4,10', 'column time: it must be unix seconds, .*, not "x"'],
    ['-5,book,rain,11,Yes,bid,0.4,10', 'column time: it must be'],
    ['9007199254740991,book,rain,11,Yes,bid,0.4,10', 'column time: it must be'],
    ['2026-01-05T12:00:00,book,rain,11,Yes,bid,0.4,10', 'column time: it must be'],
    [
      '4.9,book,rain,11,Yes,bid,0.4,10',
      'column time: it is before that of the row above: sort the rows',
    ],
    [
      '5,quote,rain,11,Yes,bid,0.4,10',
      'column type: it must be book, change or trade, not "quote"',
    ],
    [`5,book,${'x'.repeat(201)},11,Yes,bid,0.4,10`, 'column market: it must be a name'],
    ['5,book,rain,,Yes,bid,0.4,10', 'column token: it must be a name of 1 to 200'],
    ['5,book,rain,11,Y\u0007s,bid,0.4,10', 'column outcome: it must be a name'],
    ['5,book,rain,11,Yes,hold,0.4,10', 'column side: it must be BUY or SELL, or bid or ask'],
    ['5,trade,rain,11,Yes,bid,0.4,10', 'column side: it must be BUY or SELL'],
    ...['', '1', '0', '1.2', '0.00005', '0.99995', '.', '1e-1', '-0.4', 'NaN'].map(
      (price) =>
        [
          `5,book,rain,11,Yes,bid,${price},10`,
          `column price: it must be .*, not "${price}"`,
        ] as const,
    ),
    ...['', '-1', '1e3', 'x', '1234567890'].map(
      (size) =>
        [`5,book,rain,11,Yes,bid,0.3,${size}`, 'column size: it must be a decimal'] as const,
    ),
    [
      '5,trade,rain,11,Yes,buy,0.4,0.0',
      'column size: it must be a decimal .*, above 0 for a trade',
    ],
    ['5,book,rain,11,Yes,bid,0.40,10', 'column price: it is there twice in this book'],
    ['5,book,rain,11,Yes,bid,0.4', ': it has 7 columns, and the header 8'],
    ['5,book,"rain,11,Yes,bid,0.4,10', 'cell 3: its quotes are not closed'],
  ];
  for (const [line, problem] of cases) {
    const path = fileOf(`${head}\n${good}\n\n${line}\n`);
    const { code, out, stderr } = await importFiles(path);
    assert.equal(code, 1, line);
    assert.match(stderr, new RegExp(`^\\S+-rain\\.csv: line 4,? ?${problem}`), line);
    assert.equal(existsSync(out), false);
  }
  for (const [header, problem] of [
    ['type,token,side,price,size', 'lacks the column time \\(or timestamp\\)'],
    ['time;token;side;price;size', 'lacks the column time .*separated by commas'],
    ['time,token,side,price,size,price', 'column price: price is there twice'],
    ['time,token,asset_id,side,price,size', 'column asset_id: token is there twice'],
  ] as const) {
    const { code, stderr } = await importFiles(fileOf(`${header}\n${good}\n`));
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`-rain\\.csv: line 1.*${problem}`));
  }
});

/** Rows of a random market in the order of their times, as CSV and as their messages. */
function randomRows(random: Random, count: number): { csv: string[]; messages: JsonObject[] } {
  const csv = ['time,type,market,token,side,price,size'];
  const messages: JsonObject[] = [];
  let time = AT;
  for (let i = 0; i < count; i++) {
    time += random.between(1, 5_000);
    const token = random.pick(['11', '12']);
    const of = { market: 'm', timestamp: String(time) };
    const level = (side: string, ticks: number) => ({
      side,
      price: (ticks / 100).toFixed(2),
      size: String(random.between(1, 500)),
    });
    const row = (type: string, each: ReturnType<typeof level>, of = token): void =>
      void csv.push([time, type, 'm', of, each.side, each.price, each.size].join(','));
    const drawn = random.below(10);
    if (i < 2 || drawn === 0) {
      const of11 = i < 2 ? ['11', '12'][i]! : token;
      const bids = [1, 2, 3].map((away) => level('BUY', 45 - away));
      const asks = [1, 2].map((away) => level('SELL', 45 + away));
      for (const each of [...bids, ...asks]) row('book', each, of11);
      const plain = (levels: typeof bids) => levels.map(({ price, size }) => ({ price, size }));
      const book = { event_type: 'book', ...of, asset_id: of11 };
      messages.push({ ...book, bids: plain(bids), asks: plain(asks) });
    } else if (drawn < 6) {
      const changes = [level('BUY', 42 + random.below(3)), level('SELL', 46 + random.below(3))];
      for (const each of changes) row('change', each);
      const price_changes = changes.map((each) => ({ ...each, asset_id: token }));
      messages.push({ event_type: 'price_change', ...of, price_changes });
    } else {
      const trade = level(random.pick(['BUY', 'SELL']), 44 + random.below(3));
      row('trade', trade);
      messages.push({ event_type: 'last_trade_price', ...of, asset_id: token, ...trade });
    }
  }
  return { csv, messages };
}

test('CSV and JSON of equal rows give equal runs, also when books and trades are in two files', async (t) => {
  const seed = freshSeed();
  t.diagnostic(`replay with: SEED=${seed} npm test`);
  const random = new Random(seed);
  for (let i = 0; i < 5; i++) {
    const { csv, messages } = randomRows(random, 200);
    const [header = '', ...rows] = csv;
    const isTrade = (row: string): boolean => row.includes(',trade,');
    const json = fileOf(messages.map((message) => JSON.stringify(message)).join('\n'), 'm.jsonl');
    const whole = fileOf(csv.join('\n'), 'm.csv');
    const trades = [header, ...rows.filter(isTrade)].map((row) =>
      row.replace(',type,', ',').replace(',trade,', ','),
    );
    const books = fileOf([header, ...rows.filter((row) => !isTrade(row))].join('\n'), 'b.csv');
    const apart = await importFiles(books, fileOf(trades.join('\n'), 't.csv'));
    assert.deepEqual([apart.code, apart.stderr], [0, '']);
    const quotes = {
      onBook: (book, venue) => {
        if (book.ask !== undefined)
          venue.place({ token: book.token, side: 'BUY', price: book.ask, size: 5 });
      },
    } satisfies Parameters<typeof backtest>[1];
    const [expected, ...others] = await Promise.all(
      [json, whole, apart.out].map(async (path) => {
        const { messages: _, markets, ...result } = await backtest(path, quotes);
        return { ...result, profits: markets.map(({ profit }) => profit) };
      }),
    );
    assert(expected!.figures.fills > 5);
    for (const other of others) assert.deepEqual(other, expected);
  }
});

test('files of one market are joined with the outcome with books first, and a repeated file is refused', async () => {
  const trades = fileOf('time,market,token,side,price,size\n9,rain,No,BUY,0.6,1\n', 't.csv');
  const book = 'time,type,market,token,side,price,size\n';
  const early = fileOf(`${book}5,book,rain,Yes,bid,0.4,10\n8,change,rain,Yes,bid,0.4,1\n`, 'a.csv');
  const late = fileOf(`${book}9,book,rain,Yes,bid,0.405,10\n`, 'b.csv');
  const { out, stderr, stdout } = await importFiles(trades, early, late);
  assert.deepEqual([stderr, stdout], ['', `${out}: 4 messages of 3 files\n`]);
  const { inferred, market, messages } = await read(out);
  assert.deepEqual(market?.outcomes, ['Yes', 'No']);
  assert.equal(market?.orderPriceMinTickSize, '0.001');
  assert.deepEqual(inferred, []);
  assert.deepEqual(
    messages.map(({ event_type }) => event_type),
    ['book', 'price_change', 'last_trade_price', 'book'],
  );
  const again = await importFiles(early, trades, early);
  assert.equal(again.code, 1);
  assert.match(
    again.stderr,
    /-a\.csv: another file has books of the market rain at the same time\n$/,
  );
});

test('a market of three tokens is left out with a message, and trades without books are reported', async () => {
  const head = 'time,market,token,side,price,size\n';
  const path = fileOf(
    `${head}5,cup,Home,BUY,0.4,1\n5,cup,Draw,BUY,0.3,1\n6,cup,Away,BUY,0.3,1\n7,rain,Yes,BUY,0.4,1\n`,
  );
  const { code, out, stderr } = await importFiles(path);
  assert.equal(code, 0);
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    `${out}: 1 markets have more than two tokens, and are left out by whoever reads it: cup`,
    `${out}: 1 markets have no books: orders there meet nobody: rain`,
  ]);
  const info = await cli(directory, ['record', 'info', path, '--json']);
  const { markets, marketsLeftOut, marketsWithoutBooks } = JSON.parse(info.stdout);
  assert.deepEqual([markets, marketsLeftOut, marketsWithoutBooks], [1, 1, 1]);
  const shown = await cli(directory, ['record', 'info', path]);
  assert.match(shown.stdout, /^left out +1, because/m);
});

test('the examples of the documents are valid, and their table of columns is that of the reader', async () => {
  const books = join(ROOT, 'docs/recording-books.example.csv');
  const trades = join(ROOT, 'docs/recording-trades.example.csv');
  const { code, out, stderr } = await importFiles(books, trades);
  assert.deepEqual([code, stderr], [0, '']);
  const { market, messages } = await read(out);
  assert.deepEqual(market?.outcomes, ['Yes', 'No']);
  for (const message of messages) understoodEvents(message, assert.fail);
  const rows = CSV_COLUMNS.map(({ aliases, isRequired, means, name, rule }) => {
    const names = [name, ...aliases].map((each) => `\`${each}\``).join(', ');
    return `| ${names} | ${isRequired ? 'yes' : 'no'} | ${rule} | ${means} |`;
  });
  const page = readFileSync(join(ROOT, 'docs/guides/data.md'), 'utf8');
  const missing = rows.filter((row) => !page.includes(`\n${row}\n`));
  assert.deepEqual(missing, []);
});

const recorded = join(process.env.SHARED_DATA ?? join(ROOT, '../shared/data'), 'trades-shared.csv');

test('trades recorded by other tools are read unchanged', {
  skip: existsSync(recorded) ? false : 'no ../shared/data here',
}, async () => {
  const { stderr, stdout } = await cli(directory, ['record', 'info', recorded, '--json']);
  assert.equal(stderr, '');
  const { markets, messages, messagesDamaged, timesDecreasing } = JSON.parse(stdout);
  const lines = readFileSync(recorded, 'utf8').trimEnd().split('\n').length - 1;
  assert.deepEqual(messages, { last_trade_price: lines });
  assert.deepEqual([messagesDamaged, timesDecreasing], [0, 0]);
  assert(markets > 90);
});
