import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { checksumAddress } from '../../server/auth/checksum.ts';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { scriptArgs } from '../common/forms.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const port = await freePort();
const SETTINGS = { ADMIN_PORT: String(port), RATE_LIMITS: 'on' };
let node = await TestNode.start(dataDir, SETTINGS);
const alice = await Trader.join(node, 'alice');
const wallet = alice.address;

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { code, stderr, stdout } = await cli(dataDir, args, { settings: SETTINGS });
  return { code, out: stdout.trimEnd(), err: stderr.trimEnd() };
}

async function done(...args: string[]): Promise<string> {
  const { code, err, out } = await run(...args);
  assert.deepEqual([code, err], [0, ''], out);
  return out;
}

test('commands on a running node go through its admin listener, and are in its audit log', async () => {
  const { orderID } = await alice.place(node, { market, side: 'BUY', ticks: 10, shares: 10 });
  await alice.place(node, { market, side: 'BUY', ticks: 11, shares: 10 });
  assert.match(
    await done('orders', 'list', wallet),
    /^id +side +price .*\n0x[0-9a-f]{64} +BUY +0\.11/,
  );
  assert.equal((await done('orders', 'list', wallet, '--json')).split('\n').length, 2);
  assert.equal(await done('orders', 'cancel', wallet, orderID), '1 orders are canceled');
  const none = await run('orders', 'cancel', wallet, orderID);
  assert.equal(none.code, 1);
  assert.match(none.err, /order not found: the wallet has no open order of that id$/);

  const key = JSON.parse(await done('keys', 'issue', wallet, '--nonce', '7')) as { apiKey: string };
  assert.match(await done('keys', 'list', '--wallet', wallet), new RegExp(`${key.apiKey}.*active`));
  assert.match(await done('keys', 'revoke', key.apiKey), / is revoked$/);
  assert.match(await done('keys', 'revoke', key.apiKey), / was revoked already$/);

  assert.match(
    await done('wallet', 'ban', wallet, '--reason', 'test'),
    /is banned; 1 of its orders/,
  );
  assert.equal((await alice.ask(node, 'GET', '/data/orders')).status, 403);
  assert.match(await done('wallet', 'bans'), new RegExp(`${wallet} +20.* +test$`));
  assert.match(await done('keys', 'list', '--wallet', wallet), / banned$/m);
  assert.match(await done('wallet', 'unban', wallet), / is not banned any more$/);
  assert.equal((await alice.ask(node, 'GET', '/data/orders')).status, 200);

  assert.match(await done('venue', 'pause'), /^the venue is paused/);
  assert.deepEqual(JSON.parse(await done('venue', 'resume', '--json')), {
    paused: false,
    changed: true,
  });
  assert.match(await done('limits', 'set', 'book', '7/10'), /RATE_LIMITS_OVERRIDES=book=7\/10$/);
  assert.match(await done('limits', 'list'), /^book +7\/10 /m);
  const wrong = await run('limits', 'set', 'book', 'x');
  assert.match(wrong.err, /invalid limit: "book=x" is not off or requests\/seconds/);

  const unknown = await run('limits', 'set', 'bok', '7/10');
  assert.match(unknown.err, /"bok=7\/10" names no rate limit; there are .*, book, /);
  const [newest] = await auditEntries(dataDir, 1);
  assert.deepEqual([newest?.route, newest?.status], ['POST /admin/rate-limits', 400]);
  assert.match(newest?.actor ?? '', /^\S+, 127\.0\.0\.1$/);
  assert.match(await done('audit', '--limit', '2'), /POST \/admin\/rate-limits +400 invalid limit/);
});

test('without a ledger a wallet of the list has no cash', async () => {
  const bob = `0x${'b0'.repeat(20)}`;
  await done('wallet', 'name', bob, 'Bob');
  assert.deepEqual(JSON.parse(await done('wallet', 'list', '--search', 'Bob', '--json')), {
    wallet: checksumAddress(Buffer.from('b0'.repeat(20), 'hex')),
    name: 'Bob',
    banned: false,
    open_orders: 0,
  });
});

test('a command without the token or the admin listener says what to do', async () => {
  const env = { ...SETTINGS, ADMIN_TOKEN: 'not-the-token-of-it' };
  const wrong = await cli(dataDir, ['venue', 'pause'], { settings: env });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /unauthorized: Authorization: Bearer and ADMIN_TOKEN/);
  const off = await cli(dataDir, ['venue', 'pause'], { settings: { ADMIN_PORT: '0' } });
  assert.equal(off.code, 3);
  assert.match(off.stderr, /ADMIN_PORT is 0/);
  await node.stop();
});

test('a command on a stopped directory changes stored state, which holds after the start', async () => {
  const issued = JSON.parse(await done('keys', 'issue', wallet, '--nonce', '8')) as {
    apiKey: string;
  };
  assert.match(await done('keys', 'revoke', issued.apiKey), / is revoked$/);
  await done('wallet', 'ban', wallet);
  const states = (await done('keys', 'list', '--wallet', wallet, '--json')).split('\n');
  assert(states.length > 1 && states.every((line) => !line.includes('"active"')), String(states));
  await done('venue', 'pause', '--reason', 'over night');
  const [newest] = await auditEntries(dataDir, 1);
  assert.equal(newest?.route, 'POST /admin/pause');
  assert.match(newest?.actor ?? '', /, command line$/);
  for (const args of [
    ['orders', 'list', wallet],
    ['limits', 'list'],
  ]) {
    const { code, err } = await run(...args);
    assert.equal(code, 1);
    assert.match(err, /^no node runs on DATA_DIR .*: this needs one$/);
  }
  node = await TestNode.start(dataDir, SETTINGS);
  assert.equal((await alice.ask(node, 'GET', '/data/orders')).status, 403);
  const ready = await fetch(`http://127.0.0.1:${port}/ready`);
  assert.deepEqual(await ready.json(), { status: 'read-only', reason: 'operator: over night' });
  await node.stop();
  assert.equal(await done('venue', 'resume'), 'the venue is resumed');
});

test('a backup has the audit log, and a restored directory its entries, bans and keys', async () => {
  const backup = join(temporaryDirectory(), 'backup');
  await done('backup', backup);
  const restored = temporaryDirectory();
  assert.equal((await cli(restored, ['restore', backup])).code, 0);
  assert.deepEqual(await auditEntries(restored, 1_000), await auditEntries(dataDir, 1_000));
  assert.match((await cli(restored, ['wallet', 'bans'])).stdout, new RegExp(wallet));
});

test('a command creates no directory', async () => {
  const { code, stderr } = await cli('/nowhere', ['wallet', 'ban', wallet]);
  assert.equal(code, 1);
  assert.match(stderr, /^DATA_DIR \/nowhere is not there, or cannot be written/);
});

test('a user without a name in the system is in the audit log by its number', {
  skip: process.getuid?.() !== 0 && 'only root can become another user',
}, () => {
  const { args, cwd } = scriptArgs(`
    import { operatorName } from './server/cli/operator-name.ts';
    process.setuid(54321);
    console.log(operatorName());
  `);
  const { stderr, stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  assert.equal(stdout, 'uid 54321\n', stderr);
});
