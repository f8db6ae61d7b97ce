/**
 * Whole nodes whose wall clock jumps while they run (test/torture/fault-preload.ts), and nodes
 * whose log is ahead of the clock.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  get,
  type Settings,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { cli } from '../common/run-cli.ts';
import { bodyOf, Trader } from '../common/traders.ts';

useCompiledNodes();
const DAY = 86_400_000;
const HALF_DAY = DAY / 2;
const LENIENT = { AUTH_SKEW_SECONDS: '86400' };
const UNAVAILABLE = { error: 'journal unavailable', code: 'JOURNAL_UNAVAILABLE' };
const TOKEN = 'an-operator-of-this-node';

interface Status {
  readonly status: string;
  readonly paused: readonly { readonly reason: string; readonly takes_cancels: boolean }[];
  readonly clock: { readonly jump_ms: number; readonly log_ahead_ms: number };
}

async function statusOf(node: TestNode): Promise<Status> {
  return (await get(node, '/status')).json as Status;
}

async function staged(t: TestContext, jumps: readonly number[], more: Settings = {}) {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  const adminPort = await freePort();
  const faults = preloaded({ FAULT_CLOCK_MS: String(jumps) });
  const admin = { ADMIN_PORT: String(adminPort), ADMIN_TOKEN: TOKEN };
  const node = await TestNode.start(dataDir, { ...faults, ...admin, ...more });
  t.after(() => node.end('SIGKILL'));
  const alice = await Trader.join(node, 'alice');
  let jumped = 0;
  return {
    dataDir,
    node,
    alice,
    market: market!,
    admin,
    jump: async () => {
      process.kill(node.pid, 'SIGUSR2');
      jumped += 1;
      await until(() => node.log.split('the clock has jumped').length > jumped);
    },
    ready: () => get({ port: adminPort }, '/ready'),
    metrics: async () => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      return (await get({ port: adminPort }, '/metrics', headers)).text;
    },
    good: (seconds: number, ticks = 10) =>
      alice.sign({
        market: market!,
        side: 'BUY',
        ticks,
        shares: 5,
        type: 'GTD',
        signed: { expiration: String(Math.floor(Date.now() / 1_000) + seconds) },
      }),
  };
}

test('no batch has the time of a clock that jumps ahead and back, and no order expires by it', async (t) => {
  const { alice, good, jump, metrics, node, ready } = await staged(t, [DAY, -DAY]);
  const [resting, other] = await alice.post(node, [good(600), good(600, 11)]);
  assert.deepEqual([resting!.status, other!.status], ['live', 'live']);
  await jump();
  const refused = await alice.postText(node, bodyOf([good(600, 12)]));
  assert.deepEqual([refused.status, refused.json], [503, UNAVAILABLE]);
  const { clock, paused, status } = await statusOf(node);
  assert.equal(status, 'read-only');
  assert.deepEqual(
    paused.map(({ reason, takes_cancels }) => [reason, takes_cancels]),
    [['clock', true]],
  );
  assert(Math.abs(clock.jump_ms - DAY) < 5_000, String(clock.jump_ms));
  await until(() => /warn clock: .* jumped 86400 s ahead/.test(node.log));
  const answer = await ready();
  assert.equal(answer.status, 503);
  assert.match(answer.text, /jumped 86400 s ahead/);
  assert.match(await metrics(), /^exchange_paused\{reason="clock"\} 1$/m);
  // Its callers sign with the time of the world, and are who they say.
  const { canceled } = await alice.cancel(node, '/order', { orderID: other!.orderID });
  assert.deepEqual(canceled, [other!.orderID]);
  await jump();
  await until(() => node.log.includes('the clock is trusted again: orders are taken'));
  const [after] = await alice.post(node, [good(600, 13)]);
  assert.equal(after!.status, 'live');
  const open = (await alice.ask(node, 'GET', '/data/orders')).json as {
    readonly data: readonly { readonly id: string }[];
  };
  const ids = open.data.map(({ id }) => id).sort();
  assert.deepEqual(ids, [resting!.orderID, after!.orderID].sort(), 'the first one has not expired');
  assert.equal((await statusOf(node)).clock.log_ahead_ms, 0);
  assert.equal((await ready()).status, 200);
  await node.stop();
});

test('an operator accepts the new time; a start whose log is ahead of the clock says so', async (t) => {
  const stage = await staged(t, [HALF_DAY], LENIENT);
  const { admin, alice, dataDir, good, jump, market, node, ready } = stage;
  await jump();
  await until(async () => (await ready()).status === 503);
  const accept = () => cli(dataDir, ['clock', 'accept'], { settings: admin });
  assert.match((await accept()).stdout, /^accepted: the clock jumped 43200 s ahead/);
  const again = await accept();
  assert.notEqual(again.code, 0);
  assert(again.stderr.includes('the clock is not in doubt'), again.stderr);
  const [expired] = await alice.post(node, [good(600)]);
  assert.equal(expired!.errorMsg, 'expiration must be in the future');
  const order = alice.sign({ market, side: 'BUY', ticks: 10, shares: 5 });
  assert.equal((await alice.post(node, [order]))[0]!.status, 'live');
  await node.stop();

  const later = await TestNode.start(dataDir, admin);
  t.after(() => later.end('SIGKILL'));
  assert.match(
    later.log,
    /warn the log is 43[12]\d\d s ahead of the clock of this machine: .*set it/,
  );
  const { clock, status } = await statusOf(later);
  assert.equal(status, 'ok');
  assert(clock.log_ahead_ms > HALF_DAY - 120_000, String(clock.log_ahead_ms));
  const told = await ready();
  assert.equal(told.status, 200);
  assert.match(told.text, /"warning":"the log is \d+ s ahead of the clock/);
  await later.stop();
});

test('snapshots are written after the clock was set back', async (t) => {
  const often = { ...LENIENT, IMAGE_SECONDS: '1' };
  const { alice, jump, market, node } = await staged(t, [-HALF_DAY], often);
  await jump();
  await until(async () => (await statusOf(node)).paused.length === 1);
  const port = Number(node.settings.ADMIN_PORT);
  const operator = { Authorization: `Bearer ${TOKEN}` };
  assert.equal((await send({ port }, 'POST', '/clock/accept', operator)).status, 200);
  const snapshots = (): number => node.log.split('image of batch').length;
  const before = snapshots();
  for (let ticks = 10; ticks < 12; ticks++) {
    const order = alice.sign({ market, side: 'BUY', ticks, shares: 5 });
    assert.equal((await alice.post(node, [order]))[0]!.status, 'live');
    await until(() => snapshots() > before + ticks - 10);
  }
  await node.stop();
});
