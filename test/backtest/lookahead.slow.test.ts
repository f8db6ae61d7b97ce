/** The look-ahead check, on strategies that know the future and on ones that do not. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { book, catalog, change, START } from './entries.ts';

const directory = temporaryDirectory();
const recording = join(directory, 'day.rec');
const start = { venue: 'a test', started: START, markets: ['rain'] };
const writer = await RecordingWriter.create(recording, start);
await writer.write(catalog());
await writer.write(book(0, { '0.40': 10 }, { '0.60': 100 }));
for (let i = 1; i <= 100; i++)
  await writer.write(change(i * 1_000, 'BUY', i === 70 ? '0.55' : '0.40', 10 + (i % 7)));
await writer.close(START + 101_000);

function strategyFile(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const run = (file: string, ...args: readonly string[]) =>
  cli(directory, ['backtest', recording, file, ...args]);

const time = (second: number): string => new Date(START + second * 1_000).toISOString();

test('a strategy that acts on the past alone passes, with timers, cancels and splits', async () => {
  const file = strategyFile(
    'honest.mjs',
    `export default {
      everyMs: 700,
      onTime(venue) {
        venue.cancelAll();
        const [market] = venue.markets;
        if (venue.now % 5 === 0) venue.merge(market, venue.split(market, 1).state === 'done' ? 1 : 0);
      },
      onBook(book, venue) {
        venue.after(300, () => venue.place({ token: book.token, side: 'BUY', price: book.bid, size: 5 }));
      },
      onEnd(venue) { venue.cash(); },
    };`,
  );
  const drawn = await run(file, '--check-lookahead', '25/3');
  assert.equal(drawn.code, 0, drawn.stderr);
  assert.match(
    drawn.stdout,
    /honest\.mjs: it acts the same with 25 cuts of seed 3 \(actions: [1-9]\d\d\)\n$/,
  );
  const given = await run(file, '--check-lookahead', `${time(2)},${time(99)}`, '--json');
  const { cuts, difference } = JSON.parse(given.stdout) as Record<string, unknown>;
  assert.deepEqual([cuts, difference], [[START + 2_000, START + 99_000], undefined]);
});

test('a strategy that knows from an earlier run what comes is found by its first other action', async () => {
  const file = strategyFile(
    'remembers.mjs',
    `let best;
    export default () => ({
      onStart() { this.known = best; },
      onBook(book, venue) {
        best = Math.max(best ?? 0, book.bid);
        const price = this.known === undefined ? 0.4 : 0.41;
        venue.place({ token: book.token, side: 'BUY', price, size: 5, postOnly: true });
      },
    });`,
  );
  const { code, stdout } = await run(file, '--check-lookahead', time(50));
  assert.equal(code, 4);
  const [head, whole, cut] = stdout.split('\n');
  assert.match(head!, new RegExp(`remembers\\.mjs: it does not act .* is cut at ${time(50)}$`));
  assert.equal(whole, `  whole: ${time(0)}: BUY 5 of 1 at 0.4 GTC postOnly`);
  assert.equal(cut, `  cut:   ${time(0)}: BUY 5 of 1 at 0.41 GTC postOnly`);
});

test('a strategy that reads the recording by a parameter is found', async () => {
  const file = strategyFile(
    'reads.mjs',
    `import { readFileSync } from 'node:fs';
    import { gunzipSync } from 'node:zlib';
    export const parameters = { file: '' };
    export default ({ file }) => {
      const rises = gunzipSync(readFileSync(file)).toString().includes('"0.55"');
      return {
        onBook(book, venue) {
          if (rises && venue.openOrders().length === 0)
            venue.place({ token: book.token, side: 'BUY', price: 0.4, size: 5 });
        },
      };
    };`,
  );
  const args = ['--set', `file=${recording}`, '--check-lookahead'];
  const found = await run(file, ...args, time(50));
  assert.equal(found.code, 4, found.stderr);
  assert.match(
    found.stdout,
    new RegExp(`whole: ${time(0)}: BUY 5 of 1 at 0.4 GTC\\n {2}cut: {3}nothing`),
  );
  // The price of 0.55 is in this part of the recording too.
  const same = await run(file, ...args, time(80));
  assert.equal(same.code, 0, same.stdout);
});

test('a wrong cut is refused', async () => {
  const file = strategyFile('idle.mjs', 'export default {};');
  const cases: readonly (readonly [string, RegExp])[] = [
    ['0', /^--check-lookahead takes 1 to 1000 cuts, not 0\n$/],
    ['soon', /^a time of --check-lookahead must be unix seconds or a time such as /],
    [time(200), /^a cut is from 2026-01-05T00:00:00.000Z to before .*, not 2026-01-05T00:03:20/],
  ];
  for (const [cuts, problem] of cases) {
    const { code, stderr, stdout } = await run(file, '--check-lookahead', cuts);
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, problem);
  }
});
