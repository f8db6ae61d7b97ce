import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import test from 'node:test';
import { runCli } from '../../server/cli/program.ts';
import { wholeEnd } from '../../storage/log/readable-end.ts';
import { fileArgs, useCompiledNodes } from '../common/forms.ts';
import {
  books,
  get,
  smallDisk,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { cli, type Ended } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const token = market.tokenIds[0] ?? '';
/** One segment has all batches, however slow a backup is, so each can be replayed. */
const IMAGES = { IMAGE_BATCHES: '4', LOG_SEGMENT_BYTES: '8388608' };
const node = await TestNode.start(dataDir, IMAGES);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

async function trade(ticks: number): Promise<void> {
  await alice.place(node, { market: market!, side: 'SELL', ticks, shares: 10 });
  await bob.place(node, { market: market!, side: 'BUY', ticks, shares: 10 });
  await bob.place(node, { market: market!, side: 'BUY', ticks: ticks - 20, shares: 7 });
}

for (let i = 0; i < 5; i++) await trade(40 + i);

async function view(place: TestNode): Promise<unknown> {
  const trades = await get(place, '/trades?takerOnly=false');
  return { books: await books(place, market!.tokenIds), trades: trades.json };
}

function done(ended: Ended): string {
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(ended.stderr, '');
  return ended.stdout;
}

async function caughtUp(): Promise<void> {
  await until(async () => {
    const { json } = await get(node, '/status');
    return (json as { follower: { behind: number } | null }).follower?.behind === 0;
  });
}

const lastOf = (text: string): string => /^batch (\d+) /.exec(text)?.[1] ?? '';
const stateOf = (text: string): string => /state ([0-9a-f]{16})/.exec(text)?.[1] ?? '';

test('beside a node: keys are listed without their secrets, of one wallet as well', async () => {
  const listed = done(await cli(dataDir, ['keys', 'list', '--json']));
  const rows = listed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { wallet: string });
  assert.equal(rows.length, 2);
  const one = done(await cli(dataDir, ['keys', 'list', '--wallet', rows[0]!.wallet]));
  assert.match(one, /^key +wallet +kind +nonce +state\n[0-9a-f-]{36} +0x\w{40} +api +0 +active\n$/);
  assert(!one.includes('\x1b'), 'no colours where nobody looks');
});

test('beside a node: a book is drawn, best prices in the middle', async () => {
  const url = `http://127.0.0.1:${node.port}`;
  const drawn = done(await cli(dataDir, ['book', token, '--url', url, '--levels', '2']));
  assert.match(drawn, /no asks\nspread - {2}last 0\.44 {2}tick 0\.01\n +0\.24 +7 +█+\n +0\.23/);
  assert.equal(drawn.match(/█+$/gm)?.length, 2);
  const unknown = await cli(dataDir, ['book', '7'.repeat(20), '--url', url]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /No orderbook exists/i);
  const gone = await cli(dataDir, ['book', '7'.repeat(20), '--url', 'http://127.0.0.1:1']);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /^no answer from http:\/\/127\.0\.0\.1:1: /);
  for (const wrong of ['nonsense', 'ftp://127.0.0.1']) {
    const { code, stderr } = await cli(dataDir, ['book', token, '--url', wrong]);
    assert.equal(code, 2);
    assert.match(stderr, /^--url must be an http or https URL, not /);
  }
});

test('beside a node: a watched book is drawn again when it changes', async () => {
  const end = new AbortController();
  const url = `http://127.0.0.1:${node.port}`;
  let drawings = 0;
  const watching = cli(dataDir, ['book', token, '--url', url, '--watch'], {
    signal: end.signal,
    onOutput: (text) => {
      drawings += 1;
      if (drawings === 1) void trade(50);
      if (text.includes('last 0.5 ')) end.abort();
    },
  });
  assert.equal((await watching).code, 0);

  // Whoever reads may go away.
  const stdout = new PassThrough();
  stdout.destroy();
  const late = AbortSignal.timeout(60_000);
  const args = ['book', token, '--url', url, '--watch'];
  await runCli(args, {}, { stdin: process.stdin, stdout, stderr: new PassThrough() }, late);
  assert(!late.aborted);
});

test('beside a node: trades are exported as CSV and JSON lines, filtered', async () => {
  await caughtUp();
  const csv = done(await cli(dataDir, ['trades', 'export']))
    .trim()
    .split('\n');
  assert.match(csv[0]!, /^sequence,trade_id,time,kind,market,size,taker_side,/);
  assert.equal(csv.length, 7);
  const lines = done(await cli(dataDir, ['trades', 'export', '--format', 'jsonl']));
  const rows = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    rows.map(({ maker_side, size, taker_price, taker_token }) => [
      maker_side,
      size,
      taker_price,
      taker_token,
    ]),
    [0.4, 0.41, 0.42, 0.43, 0.44, 0.5].map((price) => ['SELL', '10', String(price), token]),
  );
  assert.deepEqual(csv[1]!.split(','), Object.values(rows[0]).map(String));
  const count = async (...flags: string[]): Promise<number> => {
    const text = done(await cli(dataDir, ['trades', 'export', '--format', 'jsonl', ...flags]));
    return text.split('\n').length - 1;
  };
  assert.equal(await count('--limit', '2'), 2);
  assert.equal(await count('--side', 'sell'), 0);
  assert.equal(await count('--wallet', rows[0].maker, '--token', token), 6);
  assert.equal(await count('--market', rows[0].market, '--until', '2001-01-01T00:00:00Z'), 0);
  assert.equal(await count('--since', String(rows[5].time / 1_000)), 1);
  for (const wrong of [
    ['--market', '0x12'],
    ['--token', 'x'],
    ['--wallet', '0x12'],
    ['--side', 'x'],
  ]) {
    const { code, stdout } = await cli(dataDir, ['trades', 'export', ...wrong]);
    assert.deepEqual([code, stdout], [2, ''], wrong.join(' '));
  }
  const file = join(temporaryDirectory(), 'trades.csv');
  done(await cli(dataDir, ['trades', 'export', file]));
  assert.equal(readFileSync(file, 'utf8').trim(), csv.join('\n'));
});

test('an export that finds no room leaves the file that was there', async (t) => {
  const disk = smallDisk('4k');
  if (disk === undefined) return t.skip('mounting is not allowed');
  const file = join(disk, 'trades');
  writeFileSync(file, 'of yesterday');
  const failed = await cli(dataDir, ['trades', 'export', '--format', 'jsonl', file]);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^ENOSPC/);
  assert.equal(readFileSync(file, 'utf8'), 'of yesterday');
  assert.deepEqual(readdirSync(disk), ['trades']);
});

test('a command that needs a stopped node names the running process, and ends with 3', async () => {
  for (const args of [['verify'], ['log', 'cut', '1'], ['restore', 'x']]) {
    const { code, stderr } = await cli(dataDir, args);
    assert.equal(code, 3, args.join(' '));
    assert.equal(stderr, `DATA_DIR ${dataDir} is in use by process ${node.pid}\n`);
  }
});

test('a backup beside a node that trades begins another one with the same state', async () => {
  const place = temporaryDirectory();
  const [small, full] = [join(place, 'small'), join(place, 'full')];
  let isOver = false;
  const trading = (async () => {
    for (let i = 0; !isOver; i++) await trade(30 + (i % 30));
  })();
  done(await cli(dataDir, ['backup', small, '--no-derived']));
  const said = done(await cli(dataDir, ['backup', full]));
  isOver = true;
  await trading;
  const sequence = /up to batch (\d+), /.exec(said)?.[1] ?? '';
  assert(Number(sequence) > 18);
  assert.deepEqual(readdirSync(place).sort(), ['full', 'small']);
  assert.match((await cli(dataDir, ['backup', full])).stderr, /full is there already\n$/);

  const expected = stateOf(done(await cli(dataDir, ['replay', sequence])));
  for (const backup of [small, full]) {
    const restored = temporaryDirectory();
    done(await cli(restored, ['restore', backup]));
    const rebuilt = done(await cli(restored, ['replay']));
    if (backup === full) assert.equal(stateOf(rebuilt), expected);
    const verified = await cli(restored, ['verify']);
    assert.equal(verified.code, 0, verified.stdout);
    const twice = await cli(restored, ['restore', backup]);
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /is not empty: it holds /);
    if (backup === small && SHORT) continue;
    const again = await TestNode.start(restored);
    const shown = (await view(again)) as { trades: unknown[] };
    assert(shown.trades.length > 6);
    await alice.place(again, { market: market!, side: 'SELL', ticks: 90, shares: 10 });
    await again.stop();
  }
});

test('a backup that was changed is not restored, and no node begins with a part of it', async () => {
  const place = temporaryDirectory();
  const backup = join(place, 'backup');
  done(await cli(dataDir, ['backup', backup, '--no-key']));
  const keyless = temporaryDirectory();
  const { stderr: advice } = await cli(keyless, ['restore', backup]);
  assert.match(advice, /^node\.key is not in it: put yours into /);
  assert(!existsSync(join(keyless, 'node.key')));
  const [segment = ''] = readdirSync(join(backup, 'log'));
  const path = join(backup, 'log', segment);
  const bytes = readFileSync(path);
  bytes[100]! ^= 1;
  writeFileSync(path, bytes);
  const restored = temporaryDirectory();
  const { code, stderr } = await cli(restored, ['restore', backup]);
  assert.equal(code, 1);
  assert.match(stderr, /segment is not what was backed up: its checksum is another\n$/);
  const refused = await TestNode.refuse(restored);
  assert.equal(refused.code, 1);
  const none = await cli(temporaryDirectory(), ['restore', place]);
  assert.match(none.stderr, /holds no backup: ENOENT/);
});

test('replay goes to any retained batch, and prints the differences between two', async () => {
  const now = done(await cli(dataDir, ['replay', '--token', token]));
  const last = Number(lastOf(now));
  const levels = now.trim().split('\n').slice(1);
  const [shown] = await books(node, [token]);
  assert.equal(levels.length, shown!.bids.length + shown!.asks.length);
  const best = shown!.bids.at(-1)!;
  assert.equal(levels[0], `${token} bid ${best.price} ${best.size} Yes`);
  await bob.place(node, { market: market!, side: 'BUY', ticks: 1, shares: 5 });
  const differs = await cli(dataDir, ['replay', String(last), '--diff', String(last + 1)]);
  assert.equal(differs.code, 4);
  assert.match(differs.stdout, new RegExp(`^\\+ ${token} bid 0\\.01 5 Yes$`, 'm'));
  const same = await cli(dataDir, ['replay', String(last), '--diff', String(last)]);
  assert.equal(same.code, 0);
  const ahead = await cli(dataDir, ['replay', String(last + 100)]);
  assert.equal(ahead.stderr, `the log ends with batch ${last + 1}\n`);
  assert.equal(ahead.code, 1);
});

test('everything agrees in the directory of a killed node, and of a stopped one', async () => {
  await node.end('SIGKILL');
  const killed = await cli(dataDir, ['verify']);
  assert.equal(killed.code, 0, killed.stdout);
  const again = await TestNode.start(dataDir, IMAGES);
  await again.stop();
  const { code, stdout } = await cli(dataDir, ['verify']);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^ok +derived +up to batch (\d+) of \1: (\d+) of \2 fills, /m);
  assert.match(stdout, /^ok +image \d+ +state [0-9a-f]{16}, as the log leads to$/m);
  assert.match(stdout, /^ok +keys +2 API keys, up to batch (\d+) of \1$/m);
  assert.equal(
    done(await cli(dataDir, ['catalog', 'export', join(temporaryDirectory(), 'c')])),
    '',
  );
});

test('while no node runs a key is issued as the node would, and revoked', async () => {
  const wallet = '0x00000000000000000000000000000000000000aa';
  const issued = JSON.parse(done(await cli(dataDir, ['keys', 'issue', wallet, '--nonce', '3'])));
  assert.deepEqual(Object.keys(issued), ['wallet', 'nonce', 'apiKey', 'secret', 'passphrase']);
  assert.deepEqual(
    JSON.parse(done(await cli(dataDir, ['keys', 'issue', wallet, '--nonce', '3']))),
    issued,
  );
  assert.match(done(await cli(dataDir, ['keys', 'revoke', issued.apiKey])), / is revoked\n$/);
  assert.match(done(await cli(dataDir, ['keys', 'list', '--wallet', wallet])), / 3 +revoked\n$/);
  assert.equal((await cli(dataDir, ['keys', 'revoke', 'x'])).code, 1);
  assert.equal((await cli(dataDir, ['keys', 'issue', '0x1'])).code, 2);
  const nobody = await cli(dataDir, ['keys', 'issue', 'x']);
  assert.deepEqual([nobody.code, /no wallet has this name/.test(nobody.stderr)], [1, true]);
  const [nodeKey, elsewhere] = [join(dataDir, 'node.key'), join(temporaryDirectory(), 'node.key')];
  renameSync(nodeKey, elsewhere);
  assert.match((await cli(dataDir, ['keys', 'issue', wallet])).stderr, /not the node\.key/);
  assert(!existsSync(nodeKey), 'no other one is made in its place');
  renameSync(elsewhere, nodeKey);
  assert.equal((await cli(join(dataDir, 'none'), ['keys', 'issue', wallet])).code, 1);
  assert(!existsSync(join(dataDir, 'none')), 'a wrong DATA_DIR is not made');
});

test('an undamaged log is cut with --force only', async () => {
  const segments = (): unknown =>
    readdirSync(join(dataDir, 'log')).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(dataDir, 'log', name)))
        .digest('hex'),
    ]);
  const before = segments();
  const { last, first } = wholeEnd(join(dataDir, 'log'))!;
  for (const sequence of [first, last, last + 1]) {
    const { code, stderr } = await cli(dataDir, ['log', 'cut', String(sequence)]);
    assert.equal(code, 1, String(sequence));
    assert.match(stderr, /is not damaged.*; --force cuts it all the same\n$/);
    assert.deepEqual(segments(), before);
  }
  const place = temporaryDirectory();
  cpSync(dataDir, place, { recursive: true });
  const forced = await cli(place, ['log', 'cut', String(last), '--force']);
  assert.equal(forced.code, 0, forced.stderr);
  assert.match(forced.stderr, /^set aside: .*\.segment\.cut$/m);
  assert.equal(wholeEnd(join(place, 'log'))!.last, last - 1);
});

test('verify names damage, and ends with 4', async () => {
  const [image = ''] = readdirSync(join(dataDir, 'images')).sort().reverse();
  const path = join(dataDir, 'images', image);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(path, bytes);
  const { code, stdout } = await cli(dataDir, ['verify']);
  assert.equal(code, 4);
  assert.match(stdout, /^damaged image \d+ +the checksum of its table \w+ is wrong$/m);
  assert.match(stdout, /^ok +derived/m, 'the rest is looked at, too');
});

test('doctor checks everything, also in an empty directory', async () => {
  const { code, stdout } = await cli(join(dataDir, 'not', 'yet'), ['doctor']);
  const states = stdout
    .trim()
    .split('\n')
    .map((line) => line.slice(0, 4).trim());
  assert.equal(code, states.includes('bad') ? 4 : 0);
  assert.equal(states.length, 11);
  assert.match(stdout, /^ok +directory +.*yet is not there yet, and can be made$/m);
});

test('an empty --data-dir is not the current directory', async () => {
  for (const command of [['verify'], ['keys', 'list'], ['replay']]) {
    const { code, stderr } = await cli(dataDir, [...command, '--data-dir', '']);
    assert.deepEqual([code, stderr], [2, '--data-dir must name a directory\n']);
  }
});

test('the process ends with the code of its command', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...fileArgs('server/cli/cli'), ...args], { encoding: 'utf8' });
  const version = run('--version');
  assert.deepEqual([version.status, version.stderr], [0, '']);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  const wrong = run('replya');
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /Did you mean replay\?/);
});
