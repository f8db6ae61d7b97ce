/** Times that a recording cannot have, or that go back: they are counted, and cost neither time nor memory. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { type BacktestResult, backtest, type Strategy } from '../../server/backtest/backtest.ts';
import { encodeMember } from '../../storage/recordings/members.ts';
import { fileArgs } from '../common/forms.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { book, catalog, change, START, trade, YES } from './entries.ts';

const directory = temporaryDirectory();
/** Heap of a backtest of a few messages, MiB: a few times its need. */
const HEAP_MIB = 64;
const DAY = 86_400_000;

const strategy = join(directory, 'timers.mjs');
writeFileSync(
  strategy,
  `export default {
    everyMs: 1,
    onStart: (venue) => venue.place({ token: venue.markets[0].tokens[0], side: 'BUY', price: 0.44, size: 20 }),
    onTime: () => {},
  };`,
);

const NO_TIMES = [
  ...['"9007199254740991"', '"4102444800000"', '1e300', '-1', '"-1"', '5.5', '"5.5"', '"NaN"'],
  ...['null', '""', '"1e3"', '{}', '[5]', 'true', '" 5"'],
];

const SOUND = [
  book(0, { '0.40': 100 }, { '0.44': 100 }),
  change(1_000, 'BUY', '0.41', 10),
  trade(3_000, 'BUY', '0.44', 5),
  change(2 * DAY, 'SELL', '0.45', 10),
];

function lines(entries: readonly object[]): string[] {
  return entries.map((entry) => JSON.stringify(entry));
}

/** Valid messages, with messages without a valid time between them. */
function publicFile(name: string, times: readonly string[]): string {
  const sound = lines(SOUND.map((entry) => (entry.kind === 'message' ? entry.message : {})));
  const wrong = times.map((time) => sound[0]!.replace(`"${START}"`, time));
  const path = join(directory, name);
  const text = [wrong[0], ...sound.slice(0, 2), ...wrong.slice(1), ...sound.slice(2)];
  writeFileSync(path, gzipSync(text.filter((line) => line !== undefined).join('\n')));
  return path;
}

async function ownFile(name: string, between: readonly string[]): Promise<string> {
  const head = { format: 'prediction-market-recording', version: 1, venue: 'a test' };
  const header = { ...head, started: START, markets: ['rain'], inferred: [] };
  const [first, second, ...rest] = lines(SOUND);
  const text = [...lines([header, catalog()]), first, second, ...between, ...rest];
  const path = join(directory, name);
  writeFileSync(path, await encodeMember(`${text.join('\n')}\n`));
  return path;
}

function runSmall(path: string): BacktestResult {
  const args = ['backtest', path, strategy, '--json'];
  const { signal, status, stderr, stdout } = spawnSync(
    process.execPath,
    [`--max-old-space-size=${HEAP_MIB}`, ...fileArgs('server/cli/cli'), ...args],
    { encoding: 'utf8', timeout: 120_000 },
  );
  assert.deepEqual([signal, status], [null, 0], stderr);
  return JSON.parse(stdout) as BacktestResult;
}

test('a message with an impossible time counts as damaged, and the run equals one without it', async () => {
  const ats = NO_TIMES.map((time) => lines([SOUND[2]!])[0]!.replace(/"at":\d+/, `"at":${time}`));
  const stamps = NO_TIMES.map((time) => lines([SOUND[2]!])[0]!.replace(`"${START + 3_000}"`, time));
  const gap = `{"at":${START + 2_000},"kind":"gap","from":-1,"to":1e300}`;
  for (const [sound, wrong, damaged] of [
    [publicFile('sound.gz', []), publicFile('wrong.gz', NO_TIMES), NO_TIMES.length],
    [
      await ownFile('sound.rec', []),
      await ownFile('wrong.rec', [...ats, ...stamps, gap]),
      2 * NO_TIMES.length + 1,
    ],
  ] as const) {
    const own = await cli(directory, ['backtest', sound, strategy, '--json']);
    const { messages: _, ...expected } = JSON.parse(own.stdout) as BacktestResult;
    const { messages: __, ...found } = runSmall(wrong);
    assert.equal(expected.to, START + 2 * DAY);
    assert(expected.figures.fills > 0 && expected.messagesDamaged === 0);
    assert.deepEqual(found, { ...expected, messagesDamaged: damaged });
    const info = await cli(directory, ['record', 'info', wrong, '--json']);
    assert.equal(info.code, 0, info.stderr);
    const { messagesDamaged, timesDecreasing, to } = JSON.parse(info.stdout);
    const iso = new Date(START + 2 * DAY).toISOString();
    assert.deepEqual([messagesDamaged, timesDecreasing, to], [damaged, 0, iso]);
  }
});

test('entries of a program with an impossible time count as damaged', async () => {
  const wrong = [1e300, -1, 5.5, Number.NaN, '5', undefined].map(
    (at) => ({ ...SOUND[1], at }) as never,
  );
  const result = await backtest([catalog(), SOUND[0]!, ...wrong, ...SOUND.slice(1)], {});
  assert.deepEqual([result.messagesDamaged, result.to], [wrong.length, START + 2 * DAY]);
});

test('a pause of decades is skipped: timers end in it, and days without an entry have no rows', async () => {
  const calls: number[] = [];
  const timers: Strategy = {
    everyMs: 150,
    onStart(venue) {
      venue.place({ token: YES, side: 'BUY', price: 0.44, size: 20 });
      const again = (): void => venue.after(300, again);
      again();
    },
    onTime: (venue) => void calls.push(venue.now),
  };
  const end = Date.UTC(2099, 11, 31);
  const next = change(DAY + DAY / 24, 'BUY', '0.42', 3);
  const late = [change(end - START, 'BUY', '0.42', 1), change(end - START + 700, 'BUY', '0.42', 2)];
  const result = await backtest([catalog(), ...SOUND.slice(0, 3), next, ...late], timers);
  assert.equal(result.pausesCut, 1);
  assert(calls.length > 1_000_000 && calls.length < 1_500_000, `${calls.length} calls`);
  assert(calls.every((time, i) => i === 0 || time > calls[i - 1]!));
  // They go on after the pause.
  assert.deepEqual(
    calls.slice(-4),
    [150, 300, 450, 600].map((ms) => end + ms),
  );
  assert.deepEqual(
    result.days.map(({ day }) => day),
    ['2026-01-05', '2026-01-06', '2099-12-31'],
  );
  // A day without an entry has a return of 0.
  const returns = [result.days[0]!.return, result.days[1]!.return, result.days[2]!.return];
  const count = (end - START) / DAY + 1;
  const mean = returns.reduce((sum, each) => sum + each, 0) / count;
  const squares = returns.reduce((sum, each) => sum + (each - mean) ** 2, (count - 3) * mean ** 2);
  const sharpe = (mean / Math.sqrt(squares / (count - 1))) * Math.sqrt(365);
  assert(Math.abs(result.figures.sharpe! - sharpe) < 1e-9);
});

test('a strategy that calls itself again at the same time is an error, not a standstill', async () => {
  const endless: Strategy = {
    onStart(venue) {
      const again = (): void => venue.after(0, again);
      again();
    },
  };
  await assert.rejects(
    backtest([catalog(), ...SOUND], endless),
    /after at .*: the strategy calls itself/,
  );
});

test('a time that goes back counts as the earlier one, and every command reports it', async () => {
  const back = [
    change(1_500, 'BUY', '0.41', 20),
    change(500, 'BUY', '0.41', 30),
    change(900, 'BUY', '0.41', 40),
  ];
  const times: number[] = [];
  const watch: Strategy = { onBook: (_, venue) => void times.push(venue.now - START) };
  const entries = [catalog(), SOUND[0]!, ...back, SOUND[2]!];
  const result = await backtest(entries, watch);
  assert.deepEqual([result.timesDecreasing, times], [2, [0, 1_500, 1_500, 1_500]]);

  const own = await ownFile('back.rec', lines(back));
  const path = join(directory, 'back.jsonl');
  const messages = entries.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  writeFileSync(path, lines(messages).join('\n'));
  for (const file of [own, path]) {
    const run = await cli(directory, ['backtest', file, strategy]);
    assert.match(run.stderr, /: entries with a time before that of an earlier one.*: 2\n/);
    const info = await cli(directory, ['record', 'info', file]);
    assert.match(info.stdout, /^earlier times +2, by up to 1000 ms$/m);
  }
  const out = join(directory, 'back-imported.rec');
  const imported = await cli(directory, ['record', 'import', path, '-o', out]);
  assert.match(imported.stderr, /back\.jsonl: entries with a time before .*: 2, by up to 1000 ms/);
  const again = await cli(directory, ['record', 'info', out]);
  assert.match(again.stdout, /^earlier times +0$/m);
});

test('a header without a possible time is refused', async () => {
  const head = { format: 'prediction-market-recording', version: 1, venue: 'a test' };
  for (const started of ['1e300', '-1', 'null', '"5"']) {
    const path = join(directory, 'header.rec');
    const text = JSON.stringify({ ...head, started: 7, markets: [], inferred: [] });
    writeFileSync(path, await encodeMember(`${text.replace(':7', `:${started}`)}\n`));
    const info = await cli(directory, ['record', 'info', path]);
    assert.equal(info.code, 1);
    assert.match(info.stderr, /header\.rec: a member of its header is missing, or wrong/);
  }
});
