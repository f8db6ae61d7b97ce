import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { fileArgs, useCompiledNodes } from '../common/forms.ts';
import { SMALL_NODE, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const ids = [1, 2, 3, 4, 5, 6];
await withMarkets(
  dataDir,
  ids.map((id) => ({ id })),
);
const SETTINGS = {
  ADMIN_PORT: String(await freePort()),
  PORT: String(await freePort()),
  LEDGER: 'on',
};
const node = await TestNode.start(dataDir, SETTINGS);
test.after(() => node.stop());

const run = (args: readonly string[], more = {}) =>
  cli(dataDir, args, { settings: SETTINGS, ...more });
async function done(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await run(args);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout.trimEnd();
}
const stateOf = async (id: string): Promise<string> => {
  const rows = await done('market', 'list', '--json');
  const market = rows
    .split('\n')
    .map((row) => JSON.parse(row) as { id: string; state: string })
    .find((row) => row.id === id);
  return market!.state;
};

test('a dry run shows the payout, and a person at a terminal sees it and is asked', async () => {
  const dry = await done('market', 'resolve', '1', '--winner', 'Yes', '--dry-run');
  assert.deepEqual(dry.split('\n'), [
    'outcome  weight  wallets  shares  paid  to the venue',
    'Yes           1        0       0     0             0',
    'No            0        0       0     0             0',
    'all                    0             0             0',
    'rounding leaves 0 to the venue; 0 open orders end, which reserve 0',
  ]);
  const json = JSON.parse(await done('market', 'void', '1', '--dry-run', '--json'));
  assert.deepEqual([json.void, json.payout, json.wallets], [true, [1, 1], 0]);
  const args = ['market', 'resolve', '1', '--winner', 'Yes'];
  for (const typed of ['no\n', 'y\n', '\n', '']) {
    const { code, stderr, stdout } = await run(args, { isTerminal: true, typed });
    assert.deepEqual([code, stdout], [1, ''], typed);
    assert.match(stderr, /^outcome +weight/);
    assert.match(stderr, /1 is paid at once, and this cannot be taken back\./);
    assert.match(stderr, /it was not confirmed: nothing has changed\n$/);
  }
  assert.equal(await stateOf('1'), 'open');
  const { code, stdout } = await run(args, { isTerminal: true, typed: 'yes\n' });
  assert.equal(code, 0);
  assert.match(stdout, /pays 1,0 \(Yes 1, No 0\) and is resolv/);
});

test('a command without a terminal asks nobody, and needs --yes with RESOLVE_CONFIRM=always', async () => {
  const settings = { ...SETTINGS, RESOLVE_CONFIRM: 'always' };
  const args = ['market', 'void', '2'];
  const { code, stderr } = await run(args, { settings });
  assert.deepEqual(
    [code, stderr],
    [2, 'RESOLVE_CONFIRM=always: --yes says that the payout is meant\n'],
  );
  const isTerminal = true;
  const asked = await run(args, { settings, isTerminal, typed: 'yes\n' });
  assert.equal(asked.code, 0, asked.stderr);
  const yes = await run(['market', 'void', '3', '--yes'], { settings, isTerminal, typed: '' });
  assert.deepEqual([yes.code, yes.stderr], [0, '']);
  assert.match(await done('market', 'resolve', '4', '--payout', '0,1'), /pays 0,1/);
});

test('a review time makes a proposal, which lists show and a command withdraws', async () => {
  const args = ['market', 'resolve', '5', '--winner', 'No', '--review'];
  for (const review of ['0h', '24', 'day', '1.5h', '']) {
    const { code, stderr } = await run([...args, review]);
    assert.deepEqual([code, /^--review must be a time such as/.test(stderr)], [2, true], review);
  }
  const long = await run([...args, '366d']);
  assert.deepEqual([long.code, /invalid_field: review: /.test(long.stderr)], [1, true]);
  const id = ['--id', 'the referee, 5'];
  const text = await done(...args, '24h', ...id);
  const [, deadline] =
    /is proposed to pay 0,1 \(Yes 0, No 1\) from (\S+Z) on and is proposed$/.exec(text) ?? [];
  assert(Math.abs(Date.parse(deadline!) - Date.now() - 86_400_000) < 60_000);
  assert.equal(await stateOf('5'), `proposed: No from ${deadline}`);
  assert.match(await done(...args, '24h', ...id), /\(it was done before\)$/);
  const other = await run([...args, '24h']);
  assert.equal(other.code, 1);
  assert.match(other.stderr, new RegExp(`a payout of the market is proposed: .*${deadline}`));
  const listed = await done('market', 'proposals');
  assert.match(listed, new RegExp(`^\\S+ +0,1 \\(Yes 0, No 1\\) +${deadline}$`, 'm'));
  assert.equal((await done('market', 'list', '--state', 'halted')).split('\n').length, 2);
  const { code, stderr } = await run(['market', 'withdraw-proposal', '6']);
  assert.deepEqual([code, /no payout of the market is proposed/.test(stderr)], [1, true]);
  assert.match(await done('market', 'withdraw-proposal', '5'), /is withdrawn$/);
  assert.equal(await stateOf('5'), 'open');
});

const hasScript = spawnSync('script', ['--version']).status === 0;
const NEEDS_SCRIPT = hasScript ? {} : { skip: 'there is no command script' };

test('the compiled command asks at a real terminal', NEEDS_SCRIPT, async () => {
  const program = [process.execPath, ...fileArgs('server/cli/cli'), 'market', 'void', '6'];
  const onTerminal = async (typed: string): Promise<string> => {
    const child = spawn(
      'script',
      ['-qec', program.map((arg) => `'${arg}'`).join(' '), '/dev/null'],
      {
        cwd: ROOT,
        env: { ...process.env, ...SMALL_NODE, ...SETTINGS, DATA_DIR: dataDir },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    let written = '';
    child.stdout.on('data', (bytes: Buffer) => {
      const wasAsked = written.includes('Type yes');
      written += bytes.toString();
      if (!wasAsked && written.includes('Type yes')) child.stdin.write(typed);
    });
    await text(child.stdout);
    child.stdin.end();
    return written;
  };
  assert.match(await onTerminal('no\n'), /nothing has changed/);
  assert.equal(await stateOf('6'), 'open');
  assert.match(await onTerminal('yes\n'), /pays void and is resolv/);
  assert.match(await stateOf('6'), /^resolved: /);
});
