/** `ledger deposit --file`: checked whole first, each line once, in requests of bounded size beside the orders of others. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { DEPOSIT_LINES_MAX, DEPOSITS_BODY_BYTES } from '../../server/admin/venue-schemas.ts';
import { temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { cli, type Ended } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import { OperatorNode } from './operator-node.ts';

const SETTINGS = { LEDGER: 'on', ACCOUNTS_MAX: '131072' };
const dataDir = temporaryDirectory();
const files = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market !== undefined);
let operator = await OperatorNode.start(dataDir, SETTINGS);
after(() => operator.node.stop());
const alice = await Trader.join(operator.node, 'alice');
await operator.done('POST /admin/ledger/deposit', { wallet: alice.address, amount: '1000' });

const addressOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
function fileOf(name: string, lines: readonly string[]): string {
  const path = join(files, name);
  writeFileSync(path, lines.join('\n'));
  return path;
}
const pay = (path: string, ...args: string[]): Promise<Ended> =>
  cli(dataDir, ['ledger', 'deposit', '--file', path, ...args, '--url', operator.base]);
const deposited = async (): Promise<unknown> =>
  (await operator.done('GET /admin/ledger')).deposited;
const cashOf = async (wallet: string): Promise<unknown> => {
  const query = `?wallet=${wallet}`;
  const { json } = await operator.call(`GET /admin/ledger/balance${query}`);
  return (json as { cash?: { total: string } }).cash?.total;
};

test('a file with wrong lines is refused as a whole: each is named, and nothing is paid in', async () => {
  const before = await deposited();
  const good = `${addressOf(1)},5`;
  const path = fileOf('wrong.csv', [
    'wallet,amount,signer',
    good,
    '0x12,5',
    `${addressOf(1)},00005`,
    `${addressOf(1)},0.0000001`,
    '',
    `${addressOf(1)},0`,
    `${addressOf(1)},-1`,
    `0x${'Aa'.repeat(20)},1`,
    `${addressOf(1)},1,0x3`,
    `${addressOf(1)},1,${addressOf(2)},more`,
    good,
  ]);
  const { code, stderr, stdout } = await pay(path);
  assert.deepEqual([code, stdout], [2, '']);
  const named = stderr.trimEnd().split('\n');
  assert.deepEqual(
    named.map((line) => line.replace(`${path}:`, '').replace(/( must be).*/, '$1')),
    [
      '3: wallet must be',
      '4: amount must be',
      '5: amount must be',
      '7: amount must be',
      '8: amount must be',
      '9: wallet must be',
      '10: signer must be',
      '11: it has 4 cells, not 3',
      'nothing was paid in',
    ],
  );
  assert.match(named[1]!, /without leading zeros, not "00005"$/);
  for (const [lines, message] of [
    [['wallet,sum', good], /there is no column "sum"/],
    [['wallet,wallet', good], /"wallet" comes twice/],
    [['wallet', addressOf(1)], /has no "amount"/],
    [['wallet;amount'], /no column "wallet;amount".*between commas/],
    [['wallet,amount'], /it has no deposit/],
    [[`${addressOf(1)},4503599627`, `${addressOf(2)},1`], /its sum is above/],
  ] as const) {
    const refused = await pay(fileOf('wrong.csv', lines));
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, message);
  }
  const long = await pay(fileOf('good.csv', [good]), '--id', 'x'.repeat(127));
  assert.match(long.stderr, /^--id: the id of the file.* must be 1 to 128 printable characters/);
  const more = await cli(dataDir, ['ledger', 'deposit', addressOf(1), '5', '--file', path]);
  assert.match(more.stderr, /give nothing else/);
  const none = await cli(dataDir, ['ledger', 'deposit', addressOf(1)]);
  assert.deepEqual([none.code, none.stderr], [2, 'WALLET and AMOUNT are missing, or --file\n']);
  assert.match((await pay(join(files, 'nowhere.csv'))).stderr, /^--file: ENOENT/);
  assert.equal(await deposited(), before);
});

test('each line is paid in once after a spreadsheet has rewritten the file', async () => {
  const before = Number(await deposited());
  const lines = [
    '\ufeffAmount,"Wallet",signer\r',
    `"1.5","${addressOf(11)}",\r`,
    `2,${addressOf(12)}\r`,
  ];
  const path = fileOf('first.csv', [...lines, '\r', `3,${addressOf(11)},${alice.address}\r`, '']);
  const checked = await pay(path, '--dry-run');
  assert.equal(checked.stdout, 'first.csv: 3 deposits of 6.5 in all; nothing is paid in\n');
  assert.equal(Number(await deposited()), before);
  const first = await pay(path);
  assert.deepEqual(first, {
    code: 0,
    stdout: 'first.csv: 3 of 3 lines are paid in, 6.5 in all\n',
    stderr: '',
  });
  assert.deepEqual([await cashOf(addressOf(11)), await cashOf(addressOf(12))], ['4.5', '2']);
  const again = await pay(path, '--json');
  assert.deepEqual(JSON.parse(again.stdout), {
    lines: 3,
    id: 'first.csv',
    paid: 0,
    repeated: 3,
    amount: '0',
    refused: [],
  });
  const other = await pay(path, '--id', 'first.csv, once more');
  assert.match(other.stdout, /^first.csv, once more: 3 of 3 lines are paid in, 6.5 in all$/m);
  const dated = await pay(path, '--id', `${Date.now()}-june`);
  assert.match(dated.stdout, /3 of 3 lines are paid in/);
  assert.equal(Number(await deposited()), before + 3 * 6.5);
});

test('a refused line is named and the others are paid in; a second run pays in the corrected line alone', async () => {
  await alice.place(operator.node, { market: market!, side: 'BUY', ticks: 10, shares: 5 });
  const wallets = Array.from({ length: 1_200 }, (_, i) => `${addressOf(1_000 + i)},0.25`);
  // Its wallet signs for itself.
  const wrong = `${alice.address},1,${addressOf(3)}`;
  const path = fileOf('second.csv', [...wallets.slice(0, 700), wrong, ...wallets.slice(700)]);
  const first = await pay(path);
  assert.equal(first.code, 1);
  assert.equal(first.stdout, 'second.csv: 1200 of 1201 lines are paid in, 300 in all\n');
  assert.equal(first.stderr, `${path}:701: wallet has signed for itself\n`);
  fileOf('second.csv', [...wallets.slice(0, 700), `${alice.address},1`, ...wallets.slice(700)]);
  const second = await pay(path);
  assert.deepEqual(
    [second.code, second.stdout],
    [0, 'second.csv: 1 of 1201 lines are paid in, 1 in all; 1200 were done before\n'],
  );
  fileOf('second.csv', [`${addressOf(1_000)},0.5`]);
  const changed = await pay(path);
  assert.equal(changed.code, 1);
  assert.match(
    changed.stderr,
    /: id was used before, with another body: line 1: it was used for a deposit of 0\.25 at 20/,
  );
});

test('a file whose lines were added or removed after payment pays nobody', async () => {
  const lines = Array.from({ length: 3 }, (_, i) => `${addressOf(40 + i)},2`);
  assert.equal((await pay(fileOf('third.csv', lines))).code, 0);
  const before = await deposited();
  for (const changed of [[`${addressOf(50)},2`, ...lines], lines.slice(1), [lines[0]!, ...lines]]) {
    const { code, stderr } = await pay(fileOf('third.csv', changed));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^0 of \d lines are done: the file is not the one of which lines were paid in$/m,
    );
    assert.equal(await deposited(), before);
  }
  const longer = await pay(fileOf('third.csv', [...lines, `${addressOf(50)},2`]));
  assert.match(
    longer.stdout,
    /^third.csv: 1 of 4 lines are paid in, 2 in all; 3 were done before$/m,
  );
});

test('lines that replace a signer end its orders, each in a batch of its own', async () => {
  const wallets = [addressOf(5_001), addressOf(5_002)];
  for (const wallet of wallets) {
    const deposit = { wallet, amount: '10', signer: alice.address };
    await operator.done('POST /admin/ledger/deposit', deposit);
    const signed = { maker: wallet, signatureType: 2 };
    await alice.place(operator.node, {
      market: market!,
      side: 'BUY',
      ticks: 10,
      shares: 5,
      signed,
    });
  }
  const lines = wallets.map((wallet) => `${wallet},1,${addressOf(3)}`);
  const { code } = await pay(fileOf('signers.csv', [`${addressOf(1)},1`, ...lines]));
  assert.equal(code, 0);
  for (const wallet of wallets) {
    const open = await operator.done('GET /admin/orders', undefined, `?wallet=${wallet}`);
    assert.equal(open.total, 0);
  }
});

async function paidInPart(before: number): Promise<void> {
  while (Number(await deposited()) === before);
}

test('a repeated command finishes an interrupted one, and waits for a killed node', async () => {
  const count = SHORT ? 4_000 : 100_000;
  const before = Number(await deposited());
  const lines = Array.from({ length: count }, (_, i) => `${addressOf(10_000 + i)},0.5`);
  const path = fileOf('many.csv', lines);
  const interrupt = new AbortController();
  const cut = cli(dataDir, ['ledger', 'deposit', '--file', path, '--url', operator.base], {
    signal: interrupt.signal,
  });
  await paidInPart(before);
  interrupt.abort();
  const { code, stderr } = await cut;
  assert.equal(code, 1, stderr);
  const [, done = '0'] =
    /^(\d+) of \d+ lines are done: the same command goes on/m.exec(stderr) ?? [];
  assert(Number(done) < count, stderr);

  const again = pay(path);
  await paidInPart(Number(await deposited()));
  await operator.node.end('SIGKILL');
  const ADMIN_PORT = new URL(operator.base).port;
  operator = await OperatorNode.start(dataDir, { ...SETTINGS, ADMIN_PORT });
  // A machine may take longer for the start than the command waits: then it is sent once more.
  const waited = await again;
  if (waited.code !== 0) assert.match(waited.stderr, /the same command goes on where it stopped$/m);
  const finished = waited.code === 0 ? waited : await pay(path);
  assert.equal(finished.code, 0, finished.stderr);
  const [, now, repeated] =
    /^many\.csv: (\d+) of \d+ lines are paid in, \S+ in all; (\d+) were done before$/m.exec(
      finished.stdout,
    ) ?? [];
  assert.equal(Number(now) + Number(repeated), count, finished.stdout);
  assert.equal(Number(await deposited()), before + count / 2);
  assert.equal((await operator.done('GET /admin/ledger')).imbalance, '0');
});

test('orders of others are accepted between the lines of a file', async () => {
  const before = Number(await deposited());
  const lines = Array.from({ length: 4_000 }, (_, i) => `${addressOf(10_000 + i)},0.5`);
  let isOver = false;
  const paid = pay(fileOf('others.csv', lines)).finally(() => {
    isOver = true;
  });
  const sums: number[] = [];
  while (!isOver) {
    await alice.place(operator.node, { market: market!, side: 'BUY', ticks: 1, shares: 5 });
    sums.push(Number(await deposited()));
  }
  assert.equal((await paid).code, 0);
  const meanwhile = sums.filter((sum) => sum > before && sum < before + 2_000);
  assert(meanwhile.length > 0, `after orders: ${sums}`);
});

test('a request of a file has bounds of its own, and its audit entry names its lines', async () => {
  const line = (n: number) => ({ line: n, wallet: addressOf(1), amount: '1' });
  const lines = Array.from({ length: DEPOSIT_LINES_MAX + 1 }, (_, i) => line(i + 1));
  const many = await operator.call('POST /admin/ledger/deposits', { id: 'x', lines });
  assert.deepEqual([many.status, many.json.error], [400, 'invalid_field: lines']);
  const none = await operator.call('POST /admin/ledger/deposits', { id: 'x', lines: [] });
  assert.equal(none.status, 400);
  const long = { id: 'x'.repeat(DEPOSITS_BODY_BYTES), lines: [line(1)] };
  assert.equal((await operator.call('POST /admin/ledger/deposits', long)).status, 413);
  const ofOne = { wallet: addressOf(1), amount: '1', id: 'x'.repeat(64 * 1024) };
  assert.equal((await operator.call('POST /admin/ledger/deposit', ofOne)).status, 413);
  const whole = await operator.call('POST /admin/ledger/deposits', {
    id: 'y',
    lines: lines.slice(1),
  });
  assert.deepEqual([whole.status, whole.json.paid, whole.json.amount], [200, 500, '500']);
  const { entries } = await operator.done('GET /admin/audit', undefined, '?limit=1');
  const [{ body, status }] = entries as [{ body: Record<string, unknown>; status: number }];
  const { sha256, ...shown } = body;
  assert.deepEqual(shown, { id: 'y', lines: 500, from: 2, to: 501, amount: '500' });
  assert.match(String(sha256), /^[0-9a-f]{64}$/);
  assert.equal(status, 200);
});
