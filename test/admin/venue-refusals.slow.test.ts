/**
 * Bad input of operators and users over real HTTP, as one table. Each is refused in the documented
 * shape, by a text that names the member or the rule. Afterwards no batch is in the log, and no
 * balance and no market has changed.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { refusalCode } from '../../server/common/error-bodies.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { storedMarket } from './imports.ts';
import { OperatorNode } from './operator-node.ts';

const dataDir = temporaryDirectory();
const [market, done, early] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }, { id: 3 }]);
assert(market !== undefined && done !== undefined && early !== undefined);
let operator = await OperatorNode.start(dataDir, { LEDGER: 'on' });
const alice = await Trader.join(operator.node, 'alice');
const bob = await Trader.join(operator.node, 'bob');
const wallet = alice.address;
const condition = market.conditionId;
const unknown = `0x${'7'.repeat(64)}`;
const stranger = `0x${'12'.repeat(20)}`;
const idOf = (name: string, ms = Date.now()): string => `${ms}-${name}`;

const byName = (payouts: object) => ({ payout: undefined, payouts });

const used = { deposit: idOf('used'), split: idOf('split'), resolve: idOf('resolve') };
await operator.done('POST /admin/ledger/deposit', { wallet, amount: '100', id: used.deposit });
await operator.done('POST /admin/ledger/deposit', { wallet: bob.address, amount: '100' });
const split = { conditionId: condition, amount: '20000000', id: used.split };
assert.equal((await alice.ask(operator.node, 'POST', '/split', JSON.stringify(split))).status, 200);
const resolved = { condition: done.conditionId, payout: [1, 0], id: used.resolve };
await operator.done('POST /admin/markets/resolve', resolved);
await operator.done('POST /admin/markets/close', { condition: early.conditionId });
const made = await operator.done('POST /admin/markets', {
  question: 'Is it made?',
  outcomes: ['Yes', 'No'],
});
const own = await storedMarket(dataDir, String(made.condition));
await alice.place(operator.node, { market: own, side: 'BUY', ticks: 50, shares: 10 });
await alice.place(operator.node, { market, side: 'SELL', ticks: 60, shares: 5 });
// Figures follow the books by up to a second.
await until(async () => {
  const { json } = await get(operator.node, '/events?limit=100');
  return (json as { liquidity: number }[]).filter(({ liquidity }) => liquidity > 0).length === 2;
});

/** State that a refused request must not change. */
async function stateOf(): Promise<unknown> {
  const metrics = await fetch(`${operator.base}/metrics`);
  const text = await metrics.text();
  const balances = [alice, bob].map(async (trader) => {
    const { json } = await trader.ask(operator.node, 'GET', '/ledger/balance');
    return json;
  });
  return {
    sequence: /^exchange_log_sequence \d+$/m.exec(text)?.[0],
    totals: await operator.done('GET /admin/ledger'),
    balances: await Promise.all(balances),
    markets: (await get(operator.node, '/clob/markets')).json,
    events: (await get(operator.node, '/events?limit=100')).json,
  };
}

type Case = readonly [what: string, body: unknown, status: number, text: RegExp];

/** Ids of operators: any printable text is valid. */
const ids: readonly Case[] = [
  ['an empty id', { id: '' }, 400, /printable/],
  ['an id with a line break', { id: 'a\nb' }, 400, /printable/],
  ['an id of 129 characters', { id: 'x'.repeat(129) }, 400, /printable/],
  ['a number as an id', { id: 12 }, 400, /invalid_field: id/],
];
/** Amounts of operators are decimals in units of collateral. */
const amounts: readonly Case[] = [
  ['nothing', { amount: undefined }, 400, /invalid_field: amount.*is missing/],
  ['zero', { amount: '0' }, 400, /amount must be .* above 0|amount must be a whole number/],
  ['negative', { amount: '-1' }, 400, /invalid_field: amount/],
  ['leading zeros', { amount: '00005' }, 400, /invalid_field: amount.*leading zeros/],
  ['half a micro-unit', { amount: '0.0000005' }, 400, /invalid_field: amount.*six decimals/],
  ['a number', { amount: 1 }, 400, /invalid_field: amount/],
  ['an exponent', { amount: '1e3' }, 400, /invalid_field: amount/],
  ['2^53', { amount: '9007199254.740992' }, 400, /amount must be a whole number/],
  ['a wallet that is none', { wallet: '0x12' }, 400, /invalid_field: wallet/],
  ['no wallet', { wallet: undefined }, 400, /invalid_field: wallet.*is missing/],
  ...ids,
  ['an id of an hour from now', { id: idOf('x', Date.now() + 3_600_000) }, 400, /300 s ahead/],
  ['a used id, another amount', { id: used.deposit, amount: '1' }, 409, /used for a deposit of /],
  ['a used id, another wallet', { id: used.deposit, wallet: bob.address }, 409, /id/],
  ['a used id of a resolution', { id: used.resolve }, 409, /used for a resolution at /],
  ['a member of its own', { colour: 'red' }, 400, /unknown_field: colour/],
];
/** Amounts of users are micro-units. */
const sets: readonly Case[] = [
  ['nothing', { amount: undefined }, 400, /invalid_field: amount.*is missing/],
  ['zero', { amount: '0' }, 400, /amount must be a whole number/],
  ['negative', { amount: '-1' }, 400, /invalid_field: amount/],
  ['no whole micro-unit', { amount: '1.5' }, 400, /invalid_field: amount/],
  ['a number', { amount: 1 }, 400, /invalid_field: amount/],
  ['2^53', { amount: '9007199254740992' }, 400, /amount must be a whole number/],
  ['2^53 + 1', { amount: '9007199254740993' }, 400, /amount must be a whole number/],
  ['more than there is', { amount: '900000000' }, 400, /not enough balance/],
  ['an unknown market', { conditionId: unknown }, 404, /market is not registered/],
  ['a condition that is none', { conditionId: '1' }, 400, /invalid_field: conditionId/],
  ['a resolved market', { conditionId: done.conditionId }, 409, /market has resolved/],
  ['leading zeros', { amount: '00005' }, 400, /invalid_field: amount.*leading zeros/],
  ['an id without time', { id: 'mine' }, 400, /invalid_field: id/],
  ['an id of an hour from now', { id: idOf('x', Date.now() + 3_600_000) }, 400, /300 s ahead/],
  ['a used id, another amount', { id: used.split, amount: '1' }, 409, /id/],
  ['a used id, another market', { id: used.split, conditionId: own.conditionId }, 409, /id/],
];
const markets: readonly Case[] = [
  ['no condition', { condition: undefined }, 400, /invalid_field: condition.*is missing/],
  ['a condition that is none', { condition: '0x1' }, 400, /invalid_field: condition/],
  ['an unknown market', { condition: unknown }, 404, /market not found/],
  ['a member of its own', { colour: 'red' }, 400, /unknown_field: colour/],
];
const ends: readonly Case[] = [
  ...markets,
  ...ids,
  ['a used id', { id: used.deposit }, 409, /id/],
  ['another market with the id of one', { id: used.resolve }, 409, /id/],
];
const OPERATIONS: Readonly<Record<string, readonly [body: object, cases: readonly Case[]]>> = {
  'POST /admin/ledger/deposit': [
    { wallet, amount: '1' },
    [...amounts, ['above 2^52 in all', { amount: '4503599627' }, 409, /2\^52/]],
  ],
  'POST /admin/ledger/withdraw': [
    { wallet, amount: '1' },
    [
      ...amounts,
      ['an unknown wallet', { wallet: stranger }, 404, /wallet is not known/],
      ['more than there is', { amount: '101' }, 400, /not enough balance/],
      ['what an order reserves', { amount: '76' }, 400, /not enough balance/],
    ],
  ],
  'POST /admin/ledger/fees/pay': [
    { wallet, amount: '1' },
    [...amounts, ['more than there is', {}, 400, /not enough balance/]],
  ],
  'POST /admin/ledger/fees/draw': [
    { amount: '1' },
    [
      ...amounts.filter(([, body]) => !('wallet' in (body as object))),
      ['a wallet', { wallet }, 400, /unknown_field: wallet/],
      ['more than there is', {}, 400, /not enough balance/],
    ],
  ],
  'POST /admin/markets/resolve': [
    { condition, payout: [1, 0] },
    [
      ...ends,
      ['no payout', { payout: undefined }, 400, /one of payout and payouts/],
      ['both payouts', { payouts: { Yes: 1 } }, 400, /one of payout and payouts/],
      ['no outcome', byName({}), 400, /invalid_field: payouts/],
      ['an unknown name', byName({ Maybe: 1 }), 400, /no outcome is called Maybe.*Yes \(\d+\)/],
      ['a token of another market', byName({ [done.tokenIds[0]!]: 1 }), 400, /no outcome is/],
      ['an outcome twice', byName({ yes: 1, [market.tokenIds[0]!]: 1 }), 400, /two of the payouts/],
      ['half a weight by name', byName({ Yes: 0.5 }), 400, /invalid_field: payouts/],
      ['a weight of a name with a line break', byName({ 'Y\nes': 'all' }), 400, /payouts/],
      ['nothing for all by name', byName({ Yes: 0 }), 400, /payout/],
      ['one weight', { payout: [1] }, 400, /payout/],
      ['three weights', { payout: [1, 0, 0] }, 400, /payout/],
      ['nothing for all', { payout: [0, 0] }, 400, /payout/],
      ['a negative weight', { payout: [2, -1] }, 400, /payout/],
      ['half a weight', { payout: [0.5, 0.5] }, 400, /payout/],
      ['weights above 10,000', { payout: [10_000, 1] }, 400, /payout/],
      ['another vector', { condition: done.conditionId, payout: [0, 1] }, 409, /has resolved/],
      ['another vector under its id', { ...resolved, payout: [0, 1] }, 409, /id/],
    ],
  ],
  'POST /admin/markets/void': [
    { condition },
    [...ends, ['what has resolved', { condition: done.conditionId }, 409, /has resolved/]],
  ],
  'POST /admin/markets/resume': [
    { condition },
    [
      ...markets,
      ['what has resolved', { condition: done.conditionId }, 409, /market is closed/],
      ['what is closed', { condition: early.conditionId }, 409, /market is closed/],
    ],
  ],
  'POST /admin/markets': [
    { question: 'Is it new?', outcomes: ['Yes', 'No'] },
    [
      ['no question', { question: undefined }, 400, /invalid_field: question.*is missing/],
      ['an empty question', { question: ' ' }, 400, /invalid_field: question/],
      ['a question of two lines', { question: 'Is it\nnew?' }, 400, /question must be .*printable/],
      ['a question with a blank at its end', { question: 'New? ' }, 400, /no blank at its ends/],
      ['a long question', { question: 'x'.repeat(301) }, 400, /question must be .*at most 300/],
      ['an outcome that steers a terminal', { outcomes: ['Yes\x1b[2J', 'No'] }, 400, /outcomes\.0/],
      ['an outcome that turns', { outcomes: ['Yes', '\u202eseY'] }, 400, /invalid_field: outcomes/],
      ['a rule with NUL', { description: 'a\0' }, 400, /invalid_field: description/],
      ['a key with a tab', { id: 'a\tb' }, 400, /invalid_field: id/],
      ['one outcome', { outcomes: ['Yes'] }, 400, /invalid_field: outcomes/],
      ['one outcome twice', { outcomes: ['Yes', 'Yes'] }, 400, /invalid_field: outcomes/],
      ['a tick that is none', { tick: '0.03' }, 400, /invalid_field: tick/],
      ['a minimum below a micro-unit', { minimum: '0.0000001' }, 400, /invalid_field: minimum/],
      ['a fee above the bound', { fee: 1_001 }, 400, /invalid_field: fee/],
      ['an unknown event', { event: '999' }, 404, /event not found/],
      ['an imported event', { event: '1' }, 409, /comes from an import/],
      ['a date that is none', { endDate: 'soon' }, 400, /invalid_field: endDate/],
      ['another wish of one', { question: own.question, tick: '0.1' }, 409, /of this question/],
    ],
  ],
  'POST /admin/markets/edit': [
    { condition: own.conditionId, fee: 1 },
    [
      ...markets,
      ['other outcomes', { outcomes: ['No', 'Yes'] }, 409, /outcomes cannot be changed/],
      ['another group', { negRisk: true }, 409, /negRisk cannot be changed/],
      ['a coarser tick', { tick: '0.1' }, 409, /tick cannot become coarser/],
      ['a negative fee', { fee: -1 }, 400, /invalid_field: fee/],
      ['what has resolved', { condition: done.conditionId }, 409, /market is closed/],
    ],
  ],
  'POST /admin/events/edit': [
    { event: own.eventId, title: 'New' },
    [
      ['no event', { event: undefined }, 400, /invalid_field: event.*is missing/],
      ['an unknown event', { event: '999' }, 404, /event not found/],
      ['another group', { negRisk: true }, 409, /negRisk cannot be changed/],
      ['a title that is none', { title: '' }, 400, /invalid_field: title/],
      ['a label with a carriage return', { tags: ['a\rb'] }, 400, /invalid_field: tags/],
    ],
  ],
};

interface Refused {
  readonly status: number;
  readonly json: unknown;
}

function assertRefused(what: string, { json, status }: Refused, [, , wanted, text]: Case): void {
  const { code, error } = json as { readonly code?: string; readonly error: string };
  assert.equal(status, wanted, `${what}: ${JSON.stringify(json)}`);
  assert.match(JSON.stringify(json), text, what);
  assert(code !== undefined && code === refusalCode(error), `${what}: ${JSON.stringify(json)}`);
}

test('a wrong request of an operator is refused, and nothing changes', async () => {
  const before = await stateOf();
  for (const [key, [body, cases]] of Object.entries(OPERATIONS)) {
    for (const one of cases) {
      const [what, change] = one;
      const answer = await operator.call(key, { ...body, ...(change as object) });
      assertRefused(`${key} with ${what}`, answer, one);
    }
    for (const text of ['[]', '7', 'null']) {
      assert.equal((await operator.call(key, JSON.parse(text))).status, 400, `${key} ${text}`);
    }
    assert.deepEqual(await stateOf(), before, key);
  }
});

test('a wrong request of a user is refused, and nothing changes', async () => {
  const before = await stateOf();
  for (const path of ['/split', '/merge']) {
    for (const one of sets) {
      const [what, change] = one;
      const body = { conditionId: condition, amount: '1', id: idOf('new'), ...(change as object) };
      const answer = await alice.ask(operator.node, 'POST', path, JSON.stringify(body));
      assertRefused(`${path} with ${what}`, answer, one);
    }
    assert.deepEqual(await stateOf(), before, path);
  }
  // 20 sets, of which an order reserves 5 of one outcome.
  const body = { conditionId: condition, amount: '15000001', id: idOf('reserved') };
  const answer = await alice.ask(operator.node, 'POST', '/merge', JSON.stringify(body));
  assertRefused('a merge of reserved shares', answer, ['', body, 400, /not enough balance/]);
  assert.deepEqual(await stateOf(), before);
});

test('a withdrawal beside fills gets free money, and never reserved money', async () => {
  const free = async (): Promise<number> => {
    const query = `?wallet=${wallet}`;
    const { cash } = await operator.done('GET /admin/ledger/balance', undefined, query);
    return Number((cash as { free: string }).free);
  };
  const first = await free();
  const rounds = 8;
  for (let round = 0; round < rounds; round++) {
    await alice.place(operator.node, { market: own, side: 'BUY', ticks: 50, shares: 5 });
    const amount = (await free()) + 0.000001;
    const [fill, withdrawal] = await Promise.all([
      bob.order(operator.node, { market: own, outcome: 1, side: 'BUY', ticks: 50, shares: 5 }),
      operator.call('POST /admin/ledger/withdraw', { wallet, amount: amount.toFixed(6) }),
    ]);
    assert.equal(fill.status, 'matched');
    assertRefused('a withdrawal', withdrawal, ['', {}, 400, /not enough balance/]);
  }
  assert.equal(await free(), first - 2.5 * rounds);
  const { imbalance } = await operator.done('GET /admin/ledger');
  assert.equal(imbalance, '0');
});

test('at most one market of a neg-risk event resolves to Yes, also after a kill and without its event', async () => {
  const wish = { title: 'Which one wins?', negRisk: true };
  const { event } = await operator.done('POST /admin/events', wish);
  const conditions: unknown[] = [];
  for (const name of ['Owls', 'Foxes', 'Herons']) {
    const body = { question: `Do the ${name} win?`, outcomes: ['Yes', 'No'], event };
    conditions.push((await operator.done('POST /admin/markets', body)).condition);
  }
  const [owls, foxes, herons] = conditions;
  const resolve = (of: unknown, payout: readonly number[]) =>
    operator.call('POST /admin/markets/resolve', { condition: of, payout });
  assert.equal((await resolve(owls, [1, 0])).status, 200);
  const isRefused = async (): Promise<void> => {
    for (const of of [foxes, herons]) {
      for (const payout of [
        [1, 0],
        [7, 0],
      ]) {
        const second: Case = ['', {}, 409, /another market of the group has resolved/];
        assertRefused('a second winner', await resolve(of, payout), second);
      }
    }
  };
  await isRefused();
  await operator.node.end('SIGKILL');
  operator = await OperatorNode.start(dataDir, { LEDGER: 'on' });
  await isRefused();
  // A catalog without them, as where a damaged one was replaced: the group is not known.
  await withMarkets(dataDir, [{ id: 1 }]);
  await until(async () => (await get(operator.node, `/clob/markets/${foxes}`)).status === 404);
  const lost: Case = ['', {}, 409, /event of the market is not in the catalog/];
  assertRefused('a winner of no event', await resolve(foxes, [1, 0]), lost);
  assert.equal((await resolve(foxes, [0, 1])).status, 200);
  const { imbalance, resolving } = await operator.done('GET /admin/ledger');
  assert.deepEqual([imbalance, resolving], ['0', 0]);
  await operator.node.stop();
});
