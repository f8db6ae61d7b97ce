import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { level1 } from '../../client/credentials.ts';
import { Wallet } from '../../client/wallet.ts';
import { send, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { CHAIN_ID, seconds, Trader } from '../common/traders.ts';
import { OperatorNode } from './operator-node.ts';

const SETTINGS = { LEDGER: 'on' };
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market !== undefined);
const condition = market.conditionId;
let operator = await OperatorNode.start(dataDir, SETTINGS);
after(() => operator.node.stop());
const alice = await Trader.join(operator.node, 'alice');
const bob = await Trader.join(operator.node, 'bob');
const carol = await Trader.join(operator.node, 'carol');

async function restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  await operator.node.end(signal);
  operator = await OperatorNode.start(dataDir, SETTINGS);
}
async function run(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await cli(dataDir, [...args, '--url', operator.base]);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout.trimEnd();
}
const cashOf = async (trader: Trader): Promise<unknown> => {
  const { json } = await trader.ask(operator.node, 'GET', '/ledger/balance');
  return (json as { cash: { total: string } }).cash.total;
};
const statementOf = async (trader: Trader): Promise<readonly Record<string, string>[]> => {
  const { json } = await trader.ask(operator.node, 'GET', '/ledger/statement');
  return (json as { data: Record<string, string>[] }).data;
};
const feesPage = () => operator.done('GET /admin/ledger/fees');

test('any printable text is valid as the id of a command once, also after a kill', async () => {
  const wallet = alice.address;
  const ids = ['x', 'invoice 17/2026 – Äpfel 🍎', '12', '1'.repeat(128), '🍎'.repeat(128)];
  const answers: Record<string, unknown>[] = [];
  for (const [i, id] of ids.entries()) {
    answers.push(await operator.done('POST /admin/ledger/deposit', { wallet, amount: '10', id }));
    assert.deepEqual([answers[i]!.id, answers[i]!.repeated], [id, false]);
  }
  const again = async (): Promise<void> => {
    for (const [i, id] of ids.entries()) {
      const answer = await operator.done('POST /admin/ledger/deposit', {
        wallet,
        amount: '10',
        id,
      });
      assert.deepEqual(answer, { ...answers[i], repeated: true });
    }
  };
  await again();
  await restart('SIGKILL');
  await again();
  await restart('SIGTERM');
  await again();
  assert.equal(await cashOf(alice), '50000000');
  const out = await operator.call('POST /admin/ledger/withdraw', { wallet, amount: '10', id: 'x' });
  const time = new Date(answers[0]!.time as number).toISOString();
  assert.deepEqual(
    [out.status, out.json.code, out.json.detail],
    [409, 'ID_CONFLICT', `it was used for a deposit of 10 at ${time}`],
  );
  const text = await run('ledger', 'deposit', wallet, '10', '--id', ids[1]!);
  assert.match(text, /^invoice 17\/2026 – Äpfel 🍎: 10 is paid in .* \(it was done before\)$/);
});

test('ids with milliseconds keep their rules: ahead of the node they are refused', async () => {
  const wallet = alice.address;
  const id = `${Date.now() + 3_600_000}-x`;
  const early = await operator.call('POST /admin/ledger/deposit', { wallet, amount: '1', id });
  assert.deepEqual([early.status, early.json.code], [400, 'ID_INVALID']);
  assert.match(String(early.json.detail), /13 digits at its beginning are unix milliseconds/);
  const set = { conditionId: condition, amount: '1', id: 'mine' };
  const { json, status } = await alice.ask(operator.node, 'POST', '/split', JSON.stringify(set));
  assert.deepEqual([status, (json as { error: string }).error], [400, 'invalid_field: id']);
});

test('a full table of texts refuses by name, and takes ids with milliseconds', async () => {
  const small = temporaryDirectory();
  const node = await OperatorNode.start(small, { ...SETTINGS, OPERATOR_IDS_MAX: '16' });
  const deposit = (id?: string) =>
    node.call('POST /admin/ledger/deposit', {
      wallet: alice.address,
      amount: '1',
      ...(id === undefined ? {} : { id }),
    });
  for (let n = 1; n <= 16; n++) assert.equal((await deposit(`line ${n}`)).status, 200);
  const { json, status } = await deposit('line 17');
  assert.deepEqual([status, json.code], [503, 'IDS_FULL']);
  assert.match(String(json.detail), /OPERATOR_IDS_MAX may grow/);
  assert.equal((await deposit()).status, 200, 'one that is made for it');
  assert.equal((await deposit('line 1')).json.repeated, true, 'the oldest is kept');
  await node.node.stop();
  const larger = await OperatorNode.start(small, { ...SETTINGS, OPERATOR_IDS_MAX: '17' });
  const body = { wallet: alice.address, amount: '1', id: 'line 17' };
  assert.equal((await larger.call('POST /admin/ledger/deposit', body)).status, 200);
  await larger.node.stop();
});

test('fees are paid to a wallet and drawn, and each payment is in audit log and statements', async () => {
  await operator.done('POST /admin/markets/edit', { condition, fee: 200 });
  await operator.done('POST /admin/ledger/deposit', { wallet: bob.address, amount: '100' });
  const set = { conditionId: condition, amount: '20000000', id: `${Date.now()}-sets` };
  assert.equal((await alice.ask(operator.node, 'POST', '/split', JSON.stringify(set))).status, 200);
  const terms = { market: market!, ticks: 50, shares: 10, signed: { feeRateBps: '200' } };
  await bob.place(operator.node, { ...terms, side: 'BUY' });
  await alice.order(operator.node, { ...terms, side: 'SELL' });
  assert.equal((await operator.done('GET /admin/ledger')).fees, '0.1');
  assert.equal(await run('ledger', 'fees'), 'fees 0.1');
  const wallet = carol.address;
  const pay = { wallet, amount: '0.06', id: 'to Carol' };
  const paid = await operator.done('POST /admin/ledger/fees/pay', pay);
  assert.deepEqual([paid.amount, paid.cash, paid.repeated], ['0.06', '0.06', false]);
  const again = await run('ledger', 'pay-fees', wallet, '0.06', '--id', 'to Carol');
  assert.equal(
    again,
    `to Carol: 0.06 of the fees is paid to ${wallet}, which has 0.06 (it was done before)`,
  );
  const drawn = await run('ledger', 'draw-fees', '0.03', '--id', 'drawn');
  assert.equal(drawn, 'drawn: 0.03 of the fees is drawn, 0.01 is left');
  const more = await operator.call('POST /admin/ledger/fees/draw', { amount: '0.02' });
  assert.deepEqual([more.status, more.json.code], [400, 'NOT_ENOUGH_BALANCE']);
  await until(async () => ((await feesPage()).entries as unknown[]).length === 2);
  const { entries, fees, more: hasMore } = await feesPage();
  const shown = (entries as Record<string, string>[]).map((row) => [
    row.wallet,
    row.amount,
    row.fees_after,
  ]);
  assert.deepEqual(
    [fees, hasMore, shown],
    [
      '0.01',
      false,
      [
        ['', '0.03', '0.01'],
        [wallet, '0.06', '0.04'],
      ],
    ],
  );
  const [entry, ...others] = await statementOf(carol);
  assert.deepEqual(
    [entry!.cause, entry!.cash, entry!.cash_after, others],
    ['FEES', '60000', '60000', []],
  );
  const audit = await operator.done('GET /admin/audit');
  const routes = (audit.entries as { route: string; body: object }[]).map(({ body, route }) => [
    route,
    body,
  ]);
  assert.deepEqual(routes[1], ['POST /admin/ledger/fees/draw', { amount: '0.03', id: 'drawn' }]);
  assert.deepEqual(routes[2], ['POST /admin/ledger/fees/pay', pay]);
  assert.match(await run('ledger', 'fees'), /^fees 0\.01\nentry .*\n.* 0\.03 +drawn +0\.01\n/);
});

test('a wallet that the ledger does not know is not shown the payments of the venue', async () => {
  const dave = await Trader.join(operator.node, 'dave');
  assert.deepEqual(await statementOf(dave), []);
});

test('payments of fees reappear when statements are rebuilt, and everything adds up', async () => {
  const before = await feesPage();
  await operator.node.stop();
  rmSync(join(dataDir, 'projections'), { recursive: true });
  operator = await OperatorNode.start(dataDir, SETTINGS);
  await until(async () => (await operator.call('GET /admin/ledger/fees')).status === 200);
  assert.deepEqual(await feesPage(), before);
  await operator.node.stop();
  const verified = await cli(dataDir, ['verify'], { settings: SETTINGS });
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  const { code, stdout } = await cli(dataDir, ['ledger', 'audit', '--json'], {
    settings: SETTINGS,
  });
  const { fees, imbalance, sound } = JSON.parse(stdout);
  assert.deepEqual([code, sound, imbalance, fees], [0, true, '0', '0.01']);
  operator = await OperatorNode.start(dataDir, SETTINGS);
});

test('a key without room for play money says so, and the next key brings it once there is room', async () => {
  const settings = { ...SETTINGS, FAUCET: '4503599627' };
  const venue = await OperatorNode.start(temporaryDirectory(), settings);
  const join = async (name: string, nonce = '0') => {
    const wallet = Wallet.fromSeed(`money test/${name}`);
    const headers = level1('SERVICE', wallet, CHAIN_ID, seconds(), nonce);
    const reply = await send(venue.node, 'POST', '/auth/api-key', headers);
    assert.equal(reply.status, 200, reply.text);
    const query = `?wallet=${wallet.address}`;
    const { json } = await venue.call(`GET /admin/ledger/balance${query}`);
    const { total } = (json.cash ?? { total: '0' }) as { total: string };
    return { wallet: wallet.address, faucet: reply.headers['x-faucet'], total };
  };
  const first = await join('first');
  assert.deepEqual([first.faucet, first.total], [undefined, settings.FAUCET]);
  const second = await join('second');
  assert.deepEqual([second.faucet, second.total], ['DEPOSITS_TOO_LARGE', '0']);
  await until(() => /warn FAUCET: a new API key brought no play money: /.test(venue.node.log));
  await join('third');
  const warnings = venue.node.log.match(/brought no play money/g);
  assert.equal(warnings?.length, 1, 'not for each wallet');
  const all = { wallet: first.wallet, amount: settings.FAUCET };
  await venue.done('POST /admin/ledger/withdraw', all);
  const again = await join('second', '1');
  assert.deepEqual([again.faucet, again.total], [undefined, settings.FAUCET]);
  await venue.node.stop();
});

test('splits, merges and commands of the ledger are accepted while the venue is paused', async () => {
  await operator.done('POST /admin/pause', { reason: 'a look' });
  const place = { market: market!, ticks: 50, shares: 10, side: 'BUY' as const };
  const order = await bob.order(operator.node, place).catch((error: Error) => error.message);
  assert.match(JSON.stringify(order), /paused|cancel-only|503|unavailable/);
  for (const kind of ['split', 'merge'] as const) {
    const body = JSON.stringify({
      conditionId: condition,
      amount: '5',
      id: `${Date.now()}-${kind}`,
    });
    const { status, text } = await bob.ask(operator.node, 'POST', `/${kind}`, body);
    assert.equal(status, 200, text);
  }
  await operator.done('POST /admin/ledger/deposit', { wallet: bob.address, amount: '1' });
  await operator.done('POST /admin/ledger/withdraw', { wallet: bob.address, amount: '1' });
  await operator.done('POST /admin/resume');
});
