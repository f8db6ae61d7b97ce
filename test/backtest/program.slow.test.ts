/** Strategies that are programs: what is said in lines, and what a program may get wrong. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { BacktestResult } from '../../server/backtest/backtest.ts';
import { ACTIONS, EVENTS } from '../../server/backtest/command/messages.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';
import { book, catalog, change, message, NO, START, trade, YES } from './entries.ts';

const skip = spawnSync('python3', ['-c', '']).status !== 0 && 'no python3';
const directory = temporaryDirectory();
const recording = join(directory, 'day.rec');
const start = { venue: 'a test', started: START, markets: ['rain'] };
const writer = await RecordingWriter.create(recording, start);
await writer.write(catalog());
await writer.write(book(0, { '0.40': 10 }, { '0.60': 100 }));
for (let i = 1; i <= 40; i++) {
  await writer.write(change(i * 1_000, 'BUY', '0.40', 10 + (i % 7)));
  await writer.write(trade(i * 1_000 + 1, 'SELL', '0.40', 5));
}
const won = { event_type: 'market_resolved', assets_ids: [YES, NO], winning_asset_id: YES };
await writer.write(message(60_000, won));
await writer.close(START + 61_000);

const MARKET = `0x${'1'.padStart(64, '0')}`;

function program(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return `python3 ${path}`;
}

const run = (command: string, ...args: readonly string[]) =>
  cli(directory, ['backtest', recording, '--command', command, ...args]);

const recipe = join(ROOT, 'docs/recipes/backtest_strategy.py');

test('the recipe gives the same result as the same strategy in JavaScript, with each size', {
  skip,
}, async () => {
  const own = join(directory, 'joiner.mjs');
  writeFileSync(
    own,
    `export const parameters = { size: 10 };
    export default ({ size }) => {
      const placed = new Set();
      return {
        name: 'joiner',
        onBook(book, venue) {
          if (book.bid === undefined || placed.has(book.token)) return;
          placed.add(book.token);
          venue.place({ token: book.token, side: 'BUY', price: book.bid, size });
        },
      };
    };`,
  );
  const results: BacktestResult[] = [];
  for (const size of [10, 25]) {
    const args = ['--latency', '50', '--set', `size=${size}`, '--json'];
    const python = await run(`python3 ${recipe}`, ...args);
    const script = await cli(directory, ['backtest', recording, own, ...args]);
    assert.equal(python.code, 0, python.stderr);
    assert.equal(python.stdout, script.stdout);
    results.push(JSON.parse(python.stdout) as BacktestResult);
  }
  assert.deepEqual(
    results.map(({ figures }) => figures.turnover),
    [4, 10],
  );
});

test('a program is swept and checked as a file is', { skip }, async () => {
  const sweep = ['--sweep', 'size=10,20', '--threads', '2'];
  const { code, stderr, stdout } = await run(`python3 ${recipe}`, ...sweep);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    stdout
      .split('\n')
      .slice(1, -1)
      .map((line) => line.trim().split(/ +/).slice(0, 2)),
    [
      ['20', '12.00'],
      ['10', '6.00'],
    ],
  );
  const checked = await run(`python3 ${recipe}`, '--check-lookahead', '2');
  assert.match(checked.stdout, /it acts the same with 2 cuts of seed 1 \(actions: 1\)\n$/);
});

/** Says what it hears, and does every action once. */
const TALKER = `
import json, sys
def say(**line): print(json.dumps(line), flush=True)
def ask(**line):
    say(**line)
    return json.loads(sys.stdin.readline())
say(type="strategy", events=["market", "book", "trade", "order", "fill", "time", "resolved", "end"], everyMs=15000)
seen = {}
for line in sys.stdin:
    event = json.loads(line)
    kind = event["type"]
    seen.setdefault(kind, event)
    if kind == "book" and event["time"] == ${START}:
        say(type="split", market=event["market"], size=20)
        say(type="place", token="1", side="BUY", price=0.4, size=10, probability=0.9)
        say(type="place", token="1", side="BUY", price=0.3, size=10, orderType="GTD", expiration=${START / 1_000 + 3_600})
        say(type="place", token="2", side="SELL", price=0.7, size=5, postOnly=True)
        say(type="cancel", order=2)
        say(type="cancelAll", token="2")
        say(type="merge", market=event["market"], size=5)
        say(type="after", ms=2500, id="later")
        seen["answers"] = [ask(type="cash"), ask(type="position", token="2"), ask(type="openOrders"), ask(type="levels", token="1")]
    if kind == "end":
        with open(sys.argv[1], "w") as file: json.dump(seen, file)
    say(type="done")
`;

test('a program hears every event, does every action and gets answers', { skip }, async () => {
  const out = join(directory, 'seen.json');
  const { code, stderr, stdout } = await run(`${program('talker.py', TALKER)} ${out}`, '--json');
  assert.equal(code, 0, stderr);
  // The first outcome won, and the program gave it 0.9.
  assert.equal((JSON.parse(stdout) as BacktestResult).figures.brier?.toFixed(4), '0.0100');
  const seen = JSON.parse(readFileSync(out, 'utf8')) as Record<string, Record<string, unknown>>;
  const { answers, start: started, timer, ...events } = seen;
  assert.deepEqual(started, { time: START, type: 'start', parameters: {} });
  assert.deepEqual(timer, { time: START + 2_500, type: 'timer', id: 'later' });
  assert.deepEqual(Object.keys(events).sort(), Object.keys(EVENTS).sort());
  for (const [name, { members }] of Object.entries(EVENTS))
    assert.deepEqual(Object.keys(events[name]!), ['time', 'type', ...members], name);
  assert.deepEqual(events.time, { time: START + 15_000, type: 'time' });
  const { fill, resolved } = events;
  assert.deepEqual([fill?.order, fill?.price, fill?.role], [1, 0.4, 'maker']);
  assert.deepEqual([resolved?.market, resolved?.payout], [MARKET, [1, 0]]);
  assert.deepEqual(answers, [
    { type: 'cash', total: 985, reserved: 4, free: 981 },
    { type: 'position', total: 15, reserved: 0, free: 15 },
    {
      type: 'openOrders',
      orders: [
        {
          order: 1,
          token: '1',
          side: 'BUY',
          price: 0.4,
          size: 10,
          filled: 0,
          state: 'open',
          reason: '',
        },
      ],
    },
    {
      type: 'levels',
      bids: [{ price: 0.4, size: 20 }],
      asks: [{ price: 0.6, size: 100 }],
    },
  ]);
});

const HELLO = `print('{"type": "strategy", "events": ["book"]}', flush=True)`;

test('a mistake of a program ends the run with its line and its standard error', {
  skip,
}, async () => {
  const says = (line: string): string =>
    `import sys\n${HELLO}\nfor line in sys.stdin:\n  print('''${line}''', flush=True)`;
  const at = 'command: onStart at 2026-01-05T00:00:00.000Z';
  const cases: readonly (readonly [string, RegExp])[] = [
    ['print("ready", flush=True)', /: line 1 of the program: it is no JSON object: ready\n$/],
    [
      'print("{}", flush=True)',
      /line 1 of the program: the first line has the type strategy: \{\}\n$/,
    ],
    [
      `print('{"type": "strategy", "events": ["books"]}', flush=True)`,
      /line 1 of the program: events are market, book, .* not books: /,
    ],
    [
      'import nothing_of_this_name',
      /Traceback[\s\S]*ModuleNotFoundError[\s\S]*\n\S.*: the program ended \(exit code 1\) after 0 lines\n$/,
    ],
    [
      `${HELLO}\nraise SystemExit(3)`,
      new RegExp(`${at}: the program ended \\(exit code 3\\) after 1 lines`),
    ],
    [
      says('nonsense'),
      new RegExp(`${at}: line 2 of the program: it is no JSON object: nonsense\\n$`),
    ],
    [
      says('{"type": "buy"}'),
      /line 2 of the program: type is done, place, cancel, .*, not "buy": /,
    ],
    [says('{"type": "place", "token": "1"}'), /: place needs side: /],
    [says('{"type": "cancelAll", "tokens": "1"}'), /: cancelAll has no member tokens: /],
    [says('{"type": "after", "ms": "1", "id": "a"}'), /: ms of after is a number, not "1": /],
    [says('{"type": "cancel", "order": 9}'), /: there is no order 9: /],
    [says('{"type": "merge", "market": "9", "size": 1}'), /: the recording has no market 9: /],
    [
      says('{"type": "place", "token": "1", "side": "HOLD", "price": 0.5, "size": 5}'),
      /: a side is BUY or SELL, not HOLD: /,
    ],
  ];
  for (const [text, problem] of cases) {
    const { code, stderr, stdout } = await run(program('wrong.py', text));
    assert.deepEqual([code, stdout], [1, ''], stderr);
    assert.match(stderr, problem);
  }
});

test('parameters that a program does not declare are refused', { skip }, async () => {
  const { code, stderr } = await run(`python3 ${recipe}`, '--set', 'price=1');
  assert.deepEqual([code, stderr], [2, 'the strategy has no parameter "price"; it has size\n']);
});

test('a program that does not end with its input is ended by force', { skip }, async () => {
  const stubborn = `import json, sys, time
${HELLO}
for line in sys.stdin: print('{"type": "done"}', flush=True)
open(sys.argv[1], "w").write("waits")
while True: time.sleep(1)`;
  const mark = join(directory, 'waits');
  const { code, stderr } = await run(`${program('stubborn.py', stubborn)} ${mark}`);
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(mark, 'utf8'), 'waits');
});

test('the guide has every event and action with its members', () => {
  const guide = readFileSync(join(ROOT, 'docs/guides/sweeps.md'), 'utf8');
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  for (const [name, { members }] of Object.entries(EVENTS))
    assert(guide.includes(`| \`${name}\` | ${code(members) || 'none'} |`), name);
  for (const [name, { answer, needs, takes = {} }] of Object.entries(ACTIONS)) {
    const members = [code(Object.keys(needs)), code(Object.keys(takes))];
    const shown = `${members[0] || 'none'} | ${members[1] || 'none'} | ${code(answer ?? []) || 'none'}`;
    assert(guide.includes(`| \`${name}\` | ${shown} |`), name);
  }
});
