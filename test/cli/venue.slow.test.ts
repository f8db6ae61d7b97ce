import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { CASH_F, Cash } from '../../engine/tables/layout.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import {
  catalogFile,
  get,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
const SETTINGS = { ADMIN_PORT: String(await freePort()), LEDGER: 'on' };
const node = await TestNode.start(dataDir, SETTINGS);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

const run = (...args: string[]) => cli(dataDir, args, { settings: SETTINGS });
async function done(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await run(...args);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout.trimEnd();
}
const json = async (...args: string[]) =>
  JSON.parse(await done(...args, '--json')) as Record<string, never>;
const stored = async (condition: string) => {
  const store = openCatalog(dataDir, { durability: 'flushed', readOnly: true });
  const { markets } = store.load();
  await store.close();
  return markets.find(({ conditionId }) => conditionId === condition);
};

test('money goes in and out under an id that is printed, and the ledger adds up', async () => {
  const wallet = alice.address;
  const paid = await done('ledger', 'deposit', wallet, '100.25');
  assert.match(paid, /^\d{13}-[0-9a-f]{16}: 100\.25 is paid in to 0x.*, which has 100\.25$/);
  const id = paid.split(':')[0]!;
  assert.match(await done('ledger', 'deposit', wallet, '100.25', '--id', id), /done before\)$/);
  const other = await run('ledger', 'deposit', wallet, '2', '--id', id);
  assert.deepEqual([other.code, other.stdout], [1, '']);
  assert.match(await done('ledger', 'withdraw', wallet, '0.25'), /which has 100$/);
  assert.match(await done('ledger', 'balance', wallet), /^cash +100 +0 +100$/m);
  const { sound, cash, imbalance } = await json('ledger', 'audit');
  assert.deepEqual([sound, cash, imbalance], [true, '100', '0']);
  const [bad, far] = [
    await run('ledger', 'deposit', '0x12', '1'),
    await run('ledger', 'withdraw', wallet, 'all'),
  ];
  assert.deepEqual([bad?.code, far?.code], [2, 1]);
  assert.match(far!.stderr, /invalid_field: amount: amount must be/);
});

test('a market is made, survives imports, trades, resolves and pays', async () => {
  const { event } = await json(
    'event',
    'create',
    '--title',
    'Ferries',
    '--tag',
    'Sea',
    '--tag',
    'Ice',
  );
  const named = await done('event', 'create', '--title', 'Ferries', '--key', 'second');
  const byOldName = await done('event', 'create', '--title', 'Ferries', '--id', 'second');
  assert.equal(byOldName, `${named} (it was done before)`);
  assert(!named.includes(event!));
  const wish = ['--question', 'Will it leave?', '--outcome', 'Yes', '--outcome', 'No'];
  const text = await done('market', 'create', ...wish, '--event', event!, '--tick', '0.1');
  const [condition, first, second] = text.split('\n').map((line) => line.split(' ')[1]!);
  assert.match(
    text,
    /^condition 0x[0-9a-f]{64}\ntoken \d+ Yes\ntoken \d+ No\nslug \S+\nends never\nevent \d{15}$/,
  );
  assert.deepEqual((await stored(condition!))?.tokenIds, [first, second]);

  const file = join(temporaryDirectory(), 'catalog.json');
  writeFileSync(file, JSON.stringify(catalogFile([{ id: 3 }])));
  await done('market', 'halt', condition!);
  for (const flags of [[], ['--merge'], ['--force']])
    await done('catalog', 'import', file, ...flags);
  assert.equal((await stored(condition!))?.tradable, false, 'an import does not resume it');
  await done('market', 'resume', condition!);
  assert.equal((await stored(condition!))?.tradable, true);
  const again = await done('market', 'create', ...wish, '--event', event!, '--tick', '0.1');
  assert.equal(again, `${text} (it was done before)`);

  await done('ledger', 'deposit', bob.address, '100');
  const market = (await stored(condition!))!;
  await alice.place(node, { market, side: 'BUY', ticks: 4, shares: 10 });
  await bob.order(node, { market, outcome: 1, side: 'BUY', ticks: 6, shares: 10 });
  assert.match(
    await done('market', 'resolve', condition!, '--payout', '1,0'),
    /pays 1,0 \(Yes 1, No 0\) and is /,
  );
  // It is answered when it has begun.
  const balance = (): Promise<string> => done('ledger', 'balance', alice.address);
  await until(async () => /^cash +106 +0 +106$/m.test(await balance()));
  assert.match(await done('ledger', 'balance', bob.address), /^cash +94 +0 +94$/m);
  await done('catalog', 'import', file);
  await until(async () => {
    const { json: shown } = await get(node, `/clob/markets/${condition}`);
    return (shown as { closed: boolean }).closed;
  });
  const { code, stderr } = await run('market', 'void', condition!);
  assert.equal(code, 1);
  assert.match(stderr, /resolved/);
  assert.equal((await json('ledger', 'audit')).sound, true);
});

test('changes of an imported market by an operator survive the next import', async () => {
  const file = join(temporaryDirectory(), 'catalog.json');
  writeFileSync(file, JSON.stringify(catalogFile([{ id: 3 }])));
  const store = openCatalog(dataDir, { durability: 'flushed', readOnly: true });
  const imported = store.load().markets.find(({ id }) => id === '3')!.conditionId;
  await store.close();
  assert.match(await done('market', 'halt', imported), /is halted$/);
  await done('catalog', 'import', file);
  assert.equal((await stored(imported))?.tradable, false);
  await done('market', 'resume', imported);
  const paused = join(temporaryDirectory(), 'paused.json');
  const says = JSON.stringify(catalogFile([{ id: 3 }]));
  writeFileSync(paused, says.replace('"active":true', '"active":true,"acceptingOrders":false'));
  await done('catalog', 'import', paused);
  assert.equal((await stored(imported))?.tradable, false, 'resumed, it follows imports again');
  await done('catalog', 'import', file);
  assert.equal((await stored(imported))?.tradable, true);
  assert.match(await done('market', 'close', imported), /is closed$/);
  await done('catalog', 'import', file);
  assert.equal((await stored(imported))?.ended, true);
});

test('a command without an argument or without a ledger gives the reason', async () => {
  for (const args of [
    ['market', 'create', '--outcome', 'Yes'],
    ['market', 'resolve', `0x${'1'.repeat(64)}`, '--payout', 'yes'],
    ['market', 'halt', '0xmine'],
    ['event', 'create'],
  ]) {
    assert.equal((await run(...args)).code, 2, args.join(' '));
  }
  await node.stop();
  const without = temporaryDirectory();
  mkdirSync(join(without, 'log'));
  const { code, stderr } = await cli(without, ['ledger', 'audit']);
  assert.deepEqual([code, /has no ledger/.test(stderr)], [1, true]);
  assert.equal((await run('ledger', 'audit')).code, 0, 'on a stopped directory too');
});

test('audit and verify report a snapshot whose ledger does not add up, and end with 4', async () => {
  const snapshots = new SnapshotFiles(dataDir, 'committed');
  const loaded = snapshots.load(snapshots.list()[0]!);
  assert(typeof loaded === 'object');
  const { firstFill, tables } = loaded;
  tables.cashF[(1 << CASH_F) + Cash.total]! += 1;
  for (const saving = snapshots.save(tables, firstFill); saving.next().done !== true; );
  const { code, stderr, stdout } = await run('ledger', 'audit', '--json');
  assert.deepEqual([code, JSON.parse(stdout).sound], [4, false]);
  assert.match(stderr, /^it does not add up: .*the cash of all is counted$/m);
  const verified = await run('verify');
  assert.equal(verified.code, 4);
  assert.match(verified.stdout, /^damaged image \d+ +its state is /m);
});
