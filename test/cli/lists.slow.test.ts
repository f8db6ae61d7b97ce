import assert from 'node:assert/strict';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const markets = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, outcomes: ['Home', 'Draw', '=1+1'] },
  { id: 3, closed: true },
]);
const [market] = markets;
assert(market);
const SETTINGS = {
  ADMIN_PORT: String(await freePort()),
  PORT: String(await freePort()),
  LEDGER: 'on',
  ACCOUNTS_MAX: '8192',
};
let node = await TestNode.start(dataDir, SETTINGS);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

const run = (...args: string[]) => cli(dataDir, args, { settings: SETTINGS });
async function done(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await run(...args);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout.trimEnd();
}
const rows = async (...args: string[]) =>
  (await done(...args, '--json'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('every command accepts the name of a wallet, and the audit log has its address', async () => {
  assert.equal(
    await done('wallet', 'name', alice.address, 'Alice, ü'),
    `${alice.address} is Alice, ü`,
  );
  assert.match(await done('wallet', 'name', alice.address, 'Alice, ü'), /, as before$/);
  assert.match(await done('ledger', 'deposit', 'Alice, ü', '100'), /which has 100$/);
  assert.match(await done('ledger', 'balance', 'Alice, ü'), /^cash +100 +0 +100$/m);
  await alice.place(node, { market, side: 'BUY', ticks: 10, shares: 10 });
  assert.match(await done('orders', 'list', 'Alice, ü'), / +Yes +\d+$/);
  assert.match(await done('ledger', 'declare', 'Alice, ü', 'Alice, ü'), /may sign for/);
  assert.match(await done('keys', 'list', '--wallet', 'Alice, ü'), /active$/);
  await done('wallet', 'ban', 'Alice, ü');
  const [entry] = await auditEntries(dataDir, 1);
  const body = entry?.body as { readonly wallet: string };
  assert.equal(body.wallet, alice.address.toLowerCase());
  assert.match(await done('wallet', 'bans'), /^0x\w+ +Alice, ü +20/m);
  await done('wallet', 'unban', 'Alice, ü');
});

test('a name belongs to one wallet, and is no address', async () => {
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [['wallet', 'name', bob.address, 'Alice, ü'], 1, /name is taken: it is that of 0x/],
    [['wallet', 'name', bob.address, '0xBob'], 1, /name must be a name .* does not begin with 0x/],
    [['wallet', 'name', bob.address, ''], 2, /NAME is empty/],
    [['wallet', 'name', bob.address, 'a\u001bb'], 1, /name must be a name of at most 64 printable/],
    [['wallet', 'name', bob.address, 'x'.repeat(65)], 1, /name must be a name of at most 64/],
    [['ledger', 'balance', 'Nobody'], 1, /wallet is not known: no wallet has this name/],
    [['ledger', 'balance', '0x12'], 2, /WALLET must be an address/],
    [['wallet', 'ban', ''], 2, /WALLET is empty/],
  ];
  for (const [args, code, why] of cases) {
    const ended = await run(...args);
    assert.deepEqual([ended.code, why.test(ended.stderr)], [code, true], ended.stderr);
  }
});

test('wallets are listed with their cash by pages and filters', async () => {
  await done('ledger', 'deposit', bob.address, '7.5');
  await alice.place(node, { market, side: 'BUY', ticks: 10, shares: 10 });
  const stranger = `0x${'12'.repeat(20)}`;
  await done('wallet', 'name', stranger, '=HYPERLINK');
  assert.deepEqual(
    (await rows('wallet', 'list')).map(({ name, cash, banned }) => [name, cash, banned]),
    [
      ['Alice, ü', { total: '100', reserved: '1', free: '99' }, false],
      ['', { total: '7.5', reserved: '0', free: '7.5' }, false],
      ['=HYPERLINK', { total: '0', reserved: '0', free: '0' }, false],
    ],
  );
  assert.match(
    await done('wallet', 'list', '--funded'),
    /^wallet +name +orders +positions +cash .*\n0x\w+ +Alice, ü +1 +1 +100 +1 +99\n0x\w+ +0 +0 +7\.5 /,
  );
  assert.deepEqual((await rows('wallet', 'list', '--search', 'ALICE')).length, 1);
  assert.deepEqual((await rows('wallet', 'list', '--search', '1212')).length, 1);
  assert.deepEqual(await rows('wallet', 'list', '--banned'), []);
  const csv = await done('wallet', 'list', '--csv');
  assert.match(
    csv,
    /^wallet,name,banned,open_orders,cash_total,cash_reserved,cash_free,positions\r\n/,
  );
  assert.match(csv, /,"Alice, ü",false,1,100,1,99,1\r\n/);
  assert.match(csv, /,'=HYPERLINK,false,0,0,0,0,0$/);
  const found: unknown[] = [];
  for (let after = '0'; after !== ''; ) {
    const { stderr, stdout } = await run(
      'wallet',
      'list',
      '--limit',
      '1',
      '--after',
      after,
      '--json',
    );
    found.push(JSON.parse(stdout).wallet);
    after = /--after (\d+)/.exec(stderr)?.[1] ?? '';
  }
  assert.deepEqual(
    found,
    (await rows('wallet', 'list', '--limit', 'all')).map(({ wallet }) => wallet),
  );
  for (const wrong of [
    ['--limit', '0'],
    ['--after', 'x'],
  ])
    assert.equal((await run('wallet', 'list', ...wrong)).code, 2);
});

test('markets are listed with state, outcomes and prices; events with their markets', async () => {
  const made = (
    await done(
      'market',
      'create',
      '--question',
      'Will it rain?',
      '--outcome',
      'Yes',
      '--outcome',
      'No',
    )
  ).split('\n');
  const condition = made[0]!.split(' ')[1]!;
  const states = async () =>
    Object.fromEntries((await rows('market', 'list')).map(({ slug, state }) => [slug, state]));
  await until(async () => (await states())['will-it-rain'] === 'open');
  assert.deepEqual(await states(), {
    'will-it-rain': 'open',
    'market-1': 'open',
    'market-2': 'open',
    'market-3': 'closed',
  });
  await done('market', 'halt', condition);
  await until(async () => (await states())['will-it-rain'] === 'halted');
  assert.equal((await rows('market', 'list', '--state', 'halted')).length, 1);
  assert.equal((await rows('market', 'list', '--state', 'open')).length, 2);
  await done('market', 'resolve', condition, '--payout', '1,0');
  await until(async () => (await states())['will-it-rain'] === 'resolved: Yes');
  const [second] = await rows('market', 'list', '--event', 'event-2');
  assert.deepEqual(
    [second!.id, second!.condition_id, (second!.outcomes as object[])[2]],
    [
      '2',
      markets[1]!.conditionId,
      { outcome: '=1+1', token_id: markets[1]!.tokenIds[2], price: '0.5' },
    ],
  );
  assert.deepEqual(await rows('market', 'list', '--event', '2'), [second]);
  const tokens = await done('market', 'list', '--event', '1', '--tokens');
  assert.match(tokens, new RegExp(`^ +1 +market-1 +Yes +\\S+ +${market.tokenIds[0]}$`, 'm'));
  assert.match(tokens, new RegExp(`^ +1 +market-1 +No +\\S+ +${market.tokenIds[1]}$`, 'm'));
  assert.match(await done('market', 'list', '--csv', '--event', '2'), /,Home\|Draw\|=1\+1,0/);
  const all = (await rows('market', 'list')).map(({ id }) => id);
  const paged = await run('market', 'list', '--limit', '2', '--json');
  const after = /--after (\S+)/.exec(paged.stderr)![1]!;
  const rest = await rows('market', 'list', '--after', after);
  const firstTwo = paged.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  assert.deepEqual([...firstTwo, ...rest.map(({ id }) => id)], all);
  const events = await rows('event', 'list', '--state', 'open');
  assert.deepEqual(
    events.filter(({ id }) => Number(id) < 4).map(({ markets, slug }) => [slug, markets]),
    [
      ['event-3', 1],
      ['event-2', 1],
      ['event-1', 1],
    ],
  );
  assert.match(
    await done('event', 'list', '--by', 'volume', '--limit', 'all'),
    /^ *number +slug +state/,
  );
  assert.equal((await run('market', 'list', '--by', 'x')).code, 2);
});

test('every command accepts a market by number, slug or condition id, and tables name outcomes', async () => {
  const rain = [
    'market',
    'create',
    '--question',
    'Will it snow?',
    '--outcome',
    'Yes',
    '--outcome',
    'No',
  ];
  const made = (await done(...rain)).split('\n');
  const [condition, yes, no] = [0, 1, 2].map((line) => made[line]!.split(' ')[1]!);
  assert.deepEqual(made.slice(0, 4), [
    `condition ${condition}`,
    `token ${yes} Yes`,
    `token ${no} No`,
    'slug will-it-snow',
  ]);
  const { id, event_slug } = (await rows('market', 'list')).find(
    ({ slug }) => slug === 'will-it-snow',
  )!;
  assert.equal(await done('market', 'halt', 'will-it-snow'), `${condition} is halted`);
  assert.equal(await done('market', 'halt', String(id)), `${condition} was already halted`);
  assert.equal(await done('market', 'resume', condition!), `${condition} is taking orders`);
  const [entry] = await auditEntries(dataDir, 2);
  assert.equal((entry!.body as { condition: string }).condition, condition);
  const other = [
    'market',
    'create',
    '--question',
    'Will it snow?',
    '--key',
    '2',
    '--event',
    String(event_slug),
  ];
  await done(...other, '--outcome', 'Yes', '--outcome', 'No');
  const many = await run('market', 'halt', 'will-it-snow');
  assert.deepEqual(
    [many.code, /slug is that of several: name it by its number/.test(many.stderr)],
    [1, true],
  );
  assert.match(await done('event', 'edit', String(event_slug), '--title', 'Snow'), / is changed$/);
  for (const wrong of ['market-9', '99', `0x${'9'.repeat(64)}`]) {
    const { code, stderr } = await run('market', 'halt', wrong);
    assert.deepEqual([code, /market not found/.test(stderr)], [1, true], stderr);
  }
  assert.equal((await run('market', 'halt', '0x12')).code, 2);
  const unknown = await run('event', 'edit', 'no-event', '--title', 'x');
  assert.match(unknown.stderr, /event not found: no event has this number or slug/);

  const price = ['--levels', '1'];
  assert.match(await done('book', 'market-1', ...price), /^Question 1\? Yes\n.*0\.10 +10 /s);
  assert.match(await done('book', '1', 'no', ...price), /^Question 1\? No\n.*0\.90 +10 /s);
  assert.match(await done('book', market.tokenIds[1]!, ...price), /^Question 1\? No\n/);
  assert.match(await done('book', market.conditionId, ...price), /^Question 1\? Yes\n/);
  assert.match((await run('book', '1', 'maybe')).stderr, /OUTCOME must be one of Yes, No/);
  assert.match((await run('book', 'market-9')).stderr, /no market has .* "market-9"/);

  await bob.place(node, { market, side: 'BUY', ticks: 90, shares: 5, outcome: 1 });
  assert.match(await done('ledger', 'balance', 'Alice, ü'), / Yes +market-1$/m);
  const [balance] = await rows('ledger', 'balance', bob.address);
  assert.deepEqual(
    (balance!.positions as { outcome: string; slug: string }[]).map(({ outcome, slug }) => [
      outcome,
      slug,
    ]),
    [['No', 'market-1']],
  );
});

test('exports and replays of a directory name outcomes, and take markets and wallets by name', async () => {
  await until(async () => (await done('trades', 'export')).split('\n').length === 2);
  const [head, line] = (await done('trades', 'export', '--market', 'market-1')).split('\n');
  assert.match(head!, /,taker_outcome,maker_outcome,taker_fee_unit$/);
  assert.match(line!, /,No,Yes,collateral$/);
  for (const filter of [
    ['--market', '1'],
    ['--wallet', 'Alice, ü'],
    ['--wallet', bob.address],
  ])
    assert.equal((await done('trades', 'export', ...filter)).split('\n').length, 2);
  assert.equal((await done('trades', 'export', '--market', '2')).split('\n').length, 1);
  for (const [filter, why] of [
    [['--market', 'market-9'], /no market has the slug "market-9"/],
    [['--wallet', 'Nobody'], /--wallet: no wallet has the name "Nobody"/],
  ] as const) {
    const { code, stderr } = await run('trades', 'export', ...filter);
    assert.deepEqual([code, why.test(stderr)], [2, true], stderr);
  }
  assert.match(
    await done('replay', '--books'),
    new RegExp(`^${market.tokenIds[0]} bid 0\\.1 5 Yes$`, 'm'),
  );
});

test('a search among many wallets runs in pieces, and a page may be short', async () => {
  const operator = OperatorNode.of(node, dataDir, SETTINGS.ADMIN_PORT);
  const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
  const lines = Array.from({ length: 5_000 }, (_, i) => ({
    line: i + 1,
    wallet: address(i + 1),
    amount: '1',
  }));
  for (let from = 0; from < lines.length; from += 500) {
    await operator.done('POST /admin/ledger/deposits', {
      id: 'f',
      lines: lines.slice(from, from + 500),
    });
  }
  const last = address(5_000).slice(-8);
  const first = await operator.done('GET /admin/wallets', undefined, `?search=${last}`);
  assert.deepEqual([first.wallets, typeof first.next], [[], 'number']);
  const second = await operator.done(
    'GET /admin/wallets',
    undefined,
    `?search=${last}&after=${first.next}`,
  );
  assert.deepEqual([(second.wallets as unknown[]).length, second.next], [1, null]);
});

test('names are in the log: a stopped directory knows and changes them', async () => {
  await node.stop();
  assert.match(await done('keys', 'issue', 'Alice, ü', '--nonce', '9'), /"wallet":/);
  assert.match(await done('wallet', 'name', 'Alice, ü', 'Ann'), / is Ann$/);
  assert.match(await done('wallet', 'ban', 'Ann'), / is banned/);
  node = await TestNode.start(dataDir, SETTINGS);
  const [ann] = await rows('wallet', 'list', '--search', 'ann');
  assert.deepEqual([ann!.wallet, ann!.banned], [alice.address, true]);
  assert.match(await done('wallet', 'name', 'Ann'), /has no name any more$/);
  assert.match(await done('wallet', 'name', alice.address), /had no name$/);
  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, SETTINGS);
  assert.deepEqual(await rows('wallet', 'list', '--search', 'ann'), []);
  await node.stop();
});
