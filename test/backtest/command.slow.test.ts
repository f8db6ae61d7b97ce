import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import test from 'node:test';
import type { BacktestResult } from '../../server/backtest/backtest.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { fileArgs } from '../common/forms.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { book, catalog, change, START, trade } from './entries.ts';

const directory = temporaryDirectory();
const recording = join(directory, 'day.rec');
/** The example as source, or compiled where this test is compiled. */
const example = join(import.meta.dirname, `../../examples/quotes${extname(import.meta.filename)}`);

function strategyFile(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const buyer = strategyFile(
  'buyer.mjs',
  `export default {
    onBook(book, venue) {
      if (venue.openOrders().length === 0) venue.place({ token: book.token, side: 'BUY', price: 0.4, size: 10 });
    },
  };`,
);

const writer = await RecordingWriter.create(recording, {
  venue: 'a test',
  started: START,
  markets: ['rain'],
});
await writer.write(catalog());
await writer.write(book(0, { '0.40': 100 }, { '0.44': 100 }));
for (let i = 1; i <= 200; i++) {
  await writer.write(change(i * 1_000, 'BUY', '0.40', 100 + (i % 7)));
  await writer.write(
    trade(i * 1_000 + 1, i % 2 === 0 ? 'BUY' : 'SELL', i % 2 === 0 ? '0.44' : '0.40', 60),
  );
}
await writer.close(START + 300_000);

const run = (...args: readonly string[]) => cli(directory, ['backtest', recording, ...args]);

test('the command prints a line for each run, and writes a page and CSV of all', async () => {
  const html = join(directory, 'out.html');
  const csv = join(directory, 'csv');
  const { code, stderr, stdout } = await run(buyer, buyer, '--html', html, '--csv', csv);
  assert.equal(code, 0, stderr);
  const lines = stdout.split('\n');
  assert.match(lines[0]!, /^run +profit +return +drawdown +sharpe +hit rate +turnover/);
  assert.match(lines[1]!, /^buyer 1 +-?\d+\.\d\d /);
  assert.equal(lines[2]!.slice(7), lines[1]!.slice(7), 'the same run twice is the same twice');
  assert.deepEqual(readdirSync(csv).sort(), [
    'buyer-1-days.csv',
    'buyer-1-equity.csv',
    'buyer-1-fills.csv',
    'buyer-1-markets.csv',
    'buyer-2-days.csv',
    'buyer-2-equity.csv',
    'buyer-2-fills.csv',
    'buyer-2-markets.csv',
  ]);
  assert(readFileSync(html, 'utf8').includes('"name":"buyer 2"'));
});

test('the options reach the run; --json has the whole result', async () => {
  const args = ['--cash', '50.5', '--latency', '250', '--fee', '100'];
  const rules = ['--impact', 'restore', '--queue', 'power:3', '--to', '2026-01-05T00:01:00Z'];
  const times = ['--feed-latency', 'lognormal:40,0.5', '--seed', '7', '--taker-delay', '500'];
  const { code, stderr, stdout } = await run(buyer, ...args, ...rules, ...times, '--json');
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout) as BacktestResult;
  assert.deepEqual(result.settings, {
    cash: 50.5,
    feeBps: 100,
    feedLatencyMs: 'lognormal:40,0.5',
    impact: 'restore',
    latencyMs: 250,
    queue: 'power:3',
    seed: 7,
    takerDelayMs: 500,
  });
  assert.equal(result.to, START + 60_000);
  assert(result.figures.fills > 0);
});

test('--compare runs a strategy with each value of a setting, and shares nothing between the runs', async () => {
  const counting = strategyFile(
    'counting.mjs',
    'export default () => { let runs = 0; runs += 1; return { name: "run " + runs }; };',
  );
  const { code, stderr, stdout } = await run(counting, '--compare', 'queue', '--json');
  assert.equal(code, 0, stderr);
  const results = stdout.trim().split('\n');
  assert.deepEqual(
    results
      .map((line) => JSON.parse(line) as BacktestResult)
      .map(({ name, settings }) => [name, settings.queue]),
    ['pessimistic', 'proportional', 'power:2', 'power:3', 'power:4', 'power:5'].map((queue) => [
      `run 1, ${queue}`,
      queue,
    ]),
  );
  const shared = strategyFile('shared.mjs', 'export default { name: "one object" };');
  const refused = await run(shared, '--compare', 'queue');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /its default export must be a function for --compare/);
  const unknown = await run(counting, '--compare', 'fees');
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [2, '--compare must be queue, impact, latency, not fees\n'],
  );
});

test('the strategy of the examples quotes both sides and trades', async () => {
  const { code, stderr, stdout } = await run(example, '--json');
  assert.equal(code, 0, stderr);
  const { fills, figures } = JSON.parse(stdout) as BacktestResult;
  assert(figures.fills > 10 && figures.makerFills === figures.fills && figures.refused === 0);
  assert.deepEqual(new Set(fills.map(({ outcome }) => outcome)), new Set(['Yes', 'No']));
});

test('unreadable messages are reported, and the run continues', async () => {
  const path = join(directory, 'partly.jsonl');
  const level = { price: '0.4', size: '100' };
  const whole = { market: 'rain', asset_id: '1', timestamp: '5', event_type: 'book' };
  const messages = [
    { ...whole, bids: [level], asks: [] },
    { ...whole, bids: [level] },
  ];
  writeFileSync(path, messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  const { code, stderr, stdout } = await cli(directory, ['backtest', path, buyer]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /partly\.jsonl: damaged messages left out: 1\n$/);
  assert.match(stdout, /^buyer /m);
});

test('a begin after the end of the recording is reported', async () => {
  const { code, stderr } = await run(buyer, '--from', '2030-01-01T00:00:00Z');
  assert.equal(code, 0);
  assert.match(stderr, /day\.rec: no message within --from and --to: the strategy never began\n$/);
});

test('a mistake is reported with the exit code of its kind', async () => {
  const broken = strategyFile('broken.mjs', 'export default { onBook() { null.size; } };');
  const none = strategyFile('none.mjs', 'export const strategy = {};');
  const empty = strategyFile('empty.mjs', 'export default undefined;');
  const nothing = strategyFile('nothing.mjs', 'export default () => {};');
  const member = strategyFile('member.mjs', 'export default { onBook: 5 };');
  const throws = strategyFile('throws.mjs', 'throw new Error("no key");');
  const wrong = strategyFile('wrong.mjs', 'export default {');
  const rejects = strategyFile(
    'rejects.mjs',
    'export default { async onTrade() { await null; null.size; } };',
  );
  const damaged = join(directory, 'damaged.rec');
  writeFileSync(damaged, 'no recording\nat all\n');
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [
      [recording, broken],
      1,
      /broken\.mjs[\s\S]*broken: onBook at 2026-01-05T00:00:00\.000Z: Cannot/,
    ],
    [
      [recording, rejects],
      1,
      /TypeError: Cannot[\s\S]*\n\S+rejects\.mjs: rejects: onTrade at 2026-01-05T00:00:01\.001Z: Cannot.*\n$/,
    ],
    [[recording, throws], 1, /throws\.mjs: it cannot be loaded: no key\n$/],
    [[recording, wrong], 1, /wrong\.mjs: it cannot be loaded: Unexpected end of input\n$/],
    [[recording, empty], 2, /^\S+empty\.mjs: its default export must be a strategy/],
    [[recording, nothing], 2, /^\S+nothing\.mjs: what the function that makes .* not undefined\n$/],
    [[recording, member], 2, /^\S+member\.mjs: onBook of a strategy must be a function, not 5\n$/],
    [[recording, none], 2, /its default export must be a strategy, or a function that makes one/],
    [[recording, join(directory, 'missing.mjs')], 2, /missing\.mjs/],
    [[damaged, buyer], 2, /damaged\.rec/],
    [[join(directory, 'missing.rec'), buyer], 1, /missing\.rec/],
    [[recording, buyer, '--cash', 'much'], 2, /^--cash must be a number, not "much"\n$/],
    [[recording, buyer, '--taker-delay', '0.5'], 2, /^--taker-delay must be a whole number from 0/],
    [[recording, buyer, '--fee', '99999999'], 2, /^--fee must be a whole number from 0/],
    [[recording, buyer, '--queue', 'fifo'], 2, /^--queue must be one of pessimistic, proportional/],
    [
      [recording, buyer, '--latency', '-1'],
      2,
      /^--latency must be 0 or more milliseconds, or uniform:/,
    ],
    [
      [recording, buyer, '--compare', 'queue', '--queue', 'power:2'],
      2,
      /^--queue is one value, and --compare queue runs every value\n$/,
    ],
    [
      [recording, buyer, '--compare', 'queue', '--check-lookahead'],
      2,
      /^--compare runs several settings, and --check-lookahead checks one\n$/,
    ],
    [[recording, buyer, '--from', '20', '--to', '10'], 2, /^--from must be at or before --to\n$/],
    [[recording], 2, /missing required argument/],
  ];
  for (const [args, exit, problem] of cases) {
    const { code, stderr, stdout } = await cli(directory, ['backtest', ...args]);
    assert.deepEqual([code, stdout], [exit, ''], stderr);
    assert.match(stderr, problem);
  }
});

test('an unhandled rejection in a strategy is an error with its file', () => {
  const alone = strategyFile(
    'alone.mjs',
    'export default { onStart() { void Promise.reject(new Error("nobody")); } };',
  );
  // In a process of its own: here the rejection would end the test.
  const args = [...fileArgs('server/cli/cli'), 'backtest', recording, alone];
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(
    stderr,
    /^Error: nobody\n.*alone\.mjs[\s\S]*\n\S+alone\.mjs: a promise that nothing waits for: nobody\n$/,
  );
});
