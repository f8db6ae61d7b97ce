/** Sweeps by the command, on threads and with real kills. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { backtest } from '../../server/backtest/backtest.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { fileArgs } from '../common/forms.ts';
import { temporaryDirectory, until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { book, catalog, change, START, trade, YES } from './entries.ts';

const directory = temporaryDirectory();

/** A recording in which each price that is bid gets fills. */
async function recordingOf(name: string, bestBid: number): Promise<string> {
  const path = join(directory, name);
  const start = { venue: 'a test', started: START, markets: ['rain'] };
  const writer = await RecordingWriter.create(path, start);
  const best = bestBid.toFixed(2);
  await writer.write(catalog());
  await writer.write(book(0, { [best]: 10 }, { '0.60': 100 }));
  for (let i = 1; i <= 60; i++) {
    await writer.write(change(i * 60_000, 'BUY', best, 10 + (i % 7)));
    await writer.write(trade(i * 60_000 + 1, 'SELL', best, 5));
  }
  await writer.close(START + 61 * 60_000);
  return path;
}

const [first, second] = [await recordingOf('first.rec', 0.4), await recordingOf('second.rec', 0.3)];

function strategyFile(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** Buys once at a price; the profit is that of the shares at the middle price. */
const BUYER = `
  export const parameters = { price: 0.4, size: 10, note: 'none' };
  export default ({ price, size }) => ({
    onMarket(market, venue) {
      venue.after(1_000, () => venue.place({ token: market.tokens[0], side: 'BUY', price, size }));
    },
  });`;
const buyer = strategyFile('buyer.mjs', BUYER);

const run = (...args: readonly string[]) => cli(directory, ['backtest', ...args, '--threads', '2']);

interface Line {
  readonly parameters: { readonly price: number; readonly size: number };
  readonly figures: { readonly profit: number; readonly fills: number; readonly turnover: number };
  readonly recordings: readonly { readonly recording: string; readonly figures: unknown }[];
}

test('every combination runs over every recording, and its figures are those of a single run', async () => {
  const csv = join(directory, 'csv');
  const sweep = ['--sweep', 'price=0.30..0.50:0.05,size=10,20', '--recording', second, first];
  const { code, stderr, stdout } = await run(first, buyer, ...sweep, '--json', '--csv', csv);
  assert.equal(code, 0, stderr);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  assert.equal(lines.length, 10);
  const profits = lines.map(({ figures }) => figures.profit);
  assert.deepEqual(
    profits,
    profits.toSorted((one, other) => other - one),
  );
  for (const { figures, parameters, recordings } of lines) {
    const { price, size } = parameters;
    assert.deepEqual(
      recordings.map(({ recording }) => recording),
      [first, second],
    );
    const singles = await Promise.all(
      [first, second].map((recording) =>
        backtest(recording, {
          onMarket(_, venue) {
            venue.after(1_000, () => venue.place({ token: YES, side: 'BUY', price, size }));
          },
        }),
      ),
    );
    assert.equal(figures.profit, singles[0]!.figures.profit + singles[1]!.figures.profit);
    assert.equal(figures.fills, singles[0]!.figures.fills + singles[1]!.figures.fills);
  }
  assert(profits[0]! > 0 && profits.at(-1)! < 0, `${profits}`);
  const table = readFileSync(join(csv, 'sweep.csv'), 'utf8').split('\r\n');
  assert.match(
    table[0]!,
    /^recording,price,size,note,from,to,messages,profit,return,equity,drawdown,/,
  );
  assert.equal(table.length, 1 + 20 + 1);
});

test('the table has the swept parameters, the worst recording, and the figure of the rank', async () => {
  const sweep = ['--sweep', 'size=10,20', '--recording', second, '--rank', 'inventoryMax'];
  const { code, stderr, stdout } = await run(first, buyer, '--set', 'price=0.35', ...sweep);
  assert.equal(code, 0, stderr);
  const [head = '', ...lines] = stdout.trimEnd().split('\n');
  assert.match(head, /^size +profit +worst +return +drawdown .* refused +inventoryMax$/);
  // The smaller value of positions is the better one.
  assert.deepEqual(
    lines.map((line) => line.trim().split(/ +/)[0]),
    ['10', '20'],
  );
});

test('the best values of each train span run over the span after it', async () => {
  const args = ['--sweep', 'price=0.35,0.40', '--walk-forward', '20m/15m'];
  const { code, stderr, stdout } = await run(first, buyer, ...args);
  assert.equal(code, 0, stderr);
  const lines = stdout.trimEnd().split('\n');
  assert.match(lines[0]!, /^ *train +test +until +price +profit of train +profit +fills$/);
  const minute = (count: number): string => new Date(START + count * 60_000).toISOString();
  assert.deepEqual(
    lines.slice(1, -1).map((line) => line.trim().split(/ +/).slice(0, 4)),
    [
      [minute(0), minute(20), new Date(START + 35 * 60_000 - 1).toISOString(), '0.4'],
      [minute(15), minute(35), new Date(START + 50 * 60_000 - 1).toISOString(), '0.4'],
      [minute(30), minute(50), new Date(START + 60 * 60_000 + 1).toISOString(), '0.4'],
    ],
  );
  const profits = lines.slice(1, -1).map((line) => Number(line.trim().split(/ +/)[5]));
  assert(profits.every((profit) => profit > 0));
  const sum = profits.reduce((total, profit) => total + profit, 0);
  assert.match(
    lines.at(-1)!,
    new RegExp(`^sum of 3 windows: profit ${sum.toFixed(2)}, fills \\d+$`),
  );
});

test('a TypeScript file without a package of its own runs alone and in a sweep', () => {
  // A folder of no package: there Node takes TypeScript for CommonJS.
  const text = `import { token } from './token.TYPE';
    interface Values { readonly price: number; readonly size: number }
    export const parameters: Values = { price: 0.4, size: 10 };
    export default ({ price, size }: Values) => ({
      onMarket(market, venue) {
        venue.after(1_000, () => venue.place({ token: token(market), side: 'BUY', price, size }));
      },
    });`;
  const loader = ['--import', import.meta.resolve('tsx')];
  const program = fileArgs('server/cli/cli');
  const sweep = ['--sweep', 'size=20,10'];
  for (const [type, more] of [
    ['ts', []],
    ['ts', sweep],
    ['mts', sweep],
  ] as const) {
    strategyFile(
      `token.${type}`,
      'export const token = ({ tokens }: { readonly tokens: readonly string[] }) => tokens[0];',
    );
    const file = strategyFile(`buyer.${type}`, text.replace('TYPE', type));
    const args = [...loader, ...program, 'backtest', first, file, '--json', ...more];
    const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(stderr, '');
    const results = stdout.trim().split('\n');
    assert.deepEqual(
      results.map((line) => (JSON.parse(line) as Line).figures.turnover),
      more.length === 0 ? [4] : [8, 4],
    );
  }
});

test('a parameter that is named as a figure stands beside it', async () => {
  const file = strategyFile(
    'fills.mjs',
    BUYER.replaceAll('size', 'fills').replace('price, fills }))', 'price, size: fills }))'),
  );
  const csv = join(directory, 'csv');
  const args = ['--sweep', 'fills=10,20', '--walk-forward', '25m/40m'];
  const table = await run(first, file, ...args.slice(0, 2));
  assert.match(table.stdout, /^parameter fills +profit .* fills +orders/);
  const { code, stderr, stdout } = await run(first, file, ...args, '--csv', csv, '--json');
  assert.equal(code, 0, stderr);
  const window = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
  assert.deepEqual(window.parameters, { price: 0.4, fills: 20, note: 'none' });
  assert.deepEqual(window.train, { from: START, to: START + 25 * 60_000 - 1 });
  const [head, line, end] = readFileSync(join(csv, 'windows.csv'), 'utf8').split('\r\n');
  assert.match(head!, /^recording,price,fills,note,train_from,test_from,test_to,train_profit,/);
  assert.match(
    line!,
    new RegExp(`,0\\.4,20,none,2026-01-05T00:00:00.000Z,.*,${window.tested!.profit},`),
  );
  assert.equal(end, '');
});

test('a sweep that was killed runs only what is missing, and notices a change', async () => {
  const ran = join(directory, 'ran.txt');
  const out = join(directory, 'out');
  const results = join(out, 'results.jsonl');
  const text = `import { appendFileSync } from 'node:fs';
    export const parameters = { n: 1 };
    export default ({ n }) => ({
      onStart() {
        appendFileSync(${JSON.stringify(ran)}, \`\${n}\\n\`);
        if (n >= 3 && process.env.SWEEP_STOPS === 'yes')
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    });`;
  const file = strategyFile('stops.mjs', text);
  const args = ['backtest', first, file, '--sweep', 'n=1..6:1', '--out', out, '--threads', '2'];
  const env = { ...process.env, SWEEP_STOPS: 'yes' };
  const killed = spawn(process.execPath, [...fileArgs('server/cli/cli'), ...args], { env });
  const rows = () => (existsSync(results) ? readFileSync(results, 'utf8').split('\n') : []);
  await until(() => rows().length === 4 || killed.exitCode !== null, 60_000);
  const closed = once(killed, 'close');
  killed.kill('SIGKILL');
  await closed;
  assert.equal(rows().length, 4, 'a head, two rows, and the end of the last line');
  // A kill within an append leaves a part of a line.
  appendFileSync(results, rows()[1]!.slice(0, 50));
  writeFileSync(ran, '');

  const { code, stderr, stdout } = await run(...args.slice(1, -2));
  assert.equal(code, 0, stderr);
  assert.deepEqual(readFileSync(ran, 'utf8').trim().split('\n').sort(), ['3', '4', '5', '6']);
  assert.equal(stdout.split('\n').length, 1 + 6 + 1);
  assert.equal(rows().length, 1 + 6 + 1);

  const refusedAfter = async (change: () => void, problem: RegExp, ...more: string[]) => {
    change();
    const again = await run(...args.slice(1, -2), ...more);
    assert.deepEqual([again.code, again.stdout], [2, '']);
    assert.match(again.stderr, problem);
  };
  const nothing = () => undefined;
  await refusedAfter(
    nothing,
    /results\.jsonl: its results are of other options; choose/,
    '--fee',
    '5',
  );
  await refusedAfter(() => writeFileSync(file, `${text}\n`), /are of another text of the strategy/);
  writeFileSync(file, text);
  const before = readFileSync(first);
  await refusedAfter(
    () => appendFileSync(first, before.subarray(0, 9)),
    /first\.rec has changed since/,
  );
  writeFileSync(first, before);
});

test('a mistake in a sweep is reported with the combination or the name that is wrong', async () => {
  const broken = strategyFile(
    'broken.mjs',
    `export const parameters = { n: 1 };
    export default ({ n }) => ({ onBook() { if (n === 2) null.size; } });`,
  );
  const object = strategyFile(
    'object.mjs',
    'export const parameters = { n: 1 }; export default {};',
  );
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [
      [first, broken, '--sweep', 'n=1,2'],
      1,
      /TypeError: Cannot[\s\S]*\n\S+broken\.mjs: n=2 over \S+first\.rec: broken: onBook at 2026-.*: Cannot/,
    ],
    [[first, object, '--sweep', 'n=1,2'], 2, /object\.mjs: its default export must be a function/],
    [[first, buyer, '--sweep', 'prize=1'], 2, /no parameter "prize"; it has price, size, note\n$/],
    [
      [first, buyer, '--set', 'prize=1', '--sweep', 'size=1'],
      2,
      /no parameter "prize"; it has price, size, note\n$/,
    ],
    [[first, buyer, '--set', 'price=1', '--sweep', 'price=1,2'], 2, /^price is both in --set and/],
    [[first, buyer, buyer, '--sweep', 'price=1'], 2, /^a sweep is of one strategy\n$/],
    [[first, buyer, '--sweep', 'price=1', '--rank', 'luck'], 2, /^--rank is one of profit, /],
    [[first, buyer, '--sweep', 'price=1', '--cash', '0'], 2, /--cash must be above 0/],
    [[first, buyer], 2, /^--threads is for a sweep\n$/],
    [[first, buyer, '--walk-forward', '6h'], 2, /^--walk-forward must be two times such as 6h\/1h/],
    [[first, buyer, '--walk-forward', '6h/1h'], 2, /^no recording is as long as the train part/],
  ];
  for (const [args, exit, problem] of cases) {
    const { code, stderr, stdout } = await run(...args);
    assert.deepEqual([code, stdout], [exit, ''], stderr);
    assert.match(stderr, problem);
  }
});
