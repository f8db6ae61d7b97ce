/**
 * Payouts that are previewed, proposed, withdrawn and paid at their deadline, over real HTTP and
 * kills.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationKey } from '../../server/admin/operation-table.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import {
  catalogFile,
  get,
  type TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import { importCatalog } from './imports.ts';
import { OperatorNode } from './operator-node.ts';

const SETTINGS = { LEDGER: 'on' };
const FILE = [{ id: 1 }, { id: 2 }, { id: 3 }];
const HOUR = 3_600;

class Venue {
  readonly dataDir: string;
  readonly markets: readonly CatalogMarket[];
  operator: OperatorNode;
  readonly alice: Trader;
  readonly bob: Trader;

  private constructor(
    dataDir: string,
    markets: readonly CatalogMarket[],
    operator: OperatorNode,
    [alice, bob]: readonly [Trader, Trader],
  ) {
    this.dataDir = dataDir;
    this.markets = markets;
    this.operator = operator;
    this.alice = alice;
    this.bob = bob;
  }

  static async open(settings = {}): Promise<Venue> {
    const dataDir = temporaryDirectory();
    await withMarkets(dataDir, FILE);
    const operator = await OperatorNode.start(dataDir, { ...SETTINGS, ...settings });
    const store = openCatalog(dataDir, { durability: 'flushed', readOnly: true });
    const { markets } = store.load();
    await store.close();
    const { node } = operator;
    const traders = [await Trader.join(node, 'alice'), await Trader.join(node, 'bob')] as const;
    const venue = new Venue(dataDir, markets, operator, traders);
    for (const { address: wallet } of traders) {
      await operator.done('POST /admin/ledger/deposit', { wallet, amount: '1000' });
    }
    const market = markets[0]!;
    await venue.alice.place(node, { market, side: 'BUY', ticks: 40, shares: 30 });
    await venue.bob.order(node, { market, outcome: 1, side: 'BUY', ticks: 60, shares: 20 });
    await venue.bob.place(node, { market, outcome: 1, side: 'SELL', ticks: 70, shares: 7 });
    return venue;
  }

  get node(): TestNode {
    return this.operator.node;
  }

  get condition(): string {
    return this.markets[0]!.conditionId;
  }

  done(key: OperationKey, body?: unknown, query = ''): Promise<Record<string, unknown>> {
    return this.operator.done(key, body, query);
  }

  async refused(key: OperationKey, body: unknown): Promise<unknown[]> {
    const { json, status } = await this.operator.call(key, body);
    return [status, json.error];
  }

  async start(): Promise<void> {
    this.operator = await OperatorNode.start(this.dataDir, SETTINGS);
  }

  async shown(id = '1'): Promise<Record<string, unknown>> {
    return (await get(this.node, `/markets/${id}`)).json as Record<string, unknown>;
  }

  async cash(): Promise<number[]> {
    const totals: number[] = [];
    for (const { address } of [this.alice, this.bob]) {
      const query = `?wallet=${address}`;
      const { cash } = await this.done('GET /admin/ledger/balance', undefined, query);
      totals.push(micro((cash as { total: string }).total));
    }
    return totals;
  }

  async trades(): Promise<boolean> {
    const order = { market: this.markets[0]!, side: 'BUY' as const, ticks: 3, shares: 10 };
    const { success } = await this.alice.order(this.node, order);
    return success === true;
  }

  paid(): Promise<void> {
    return until(async () => {
      const { proposals, resolving } = await this.done('GET /admin/ledger');
      return proposals === 0 && resolving === 0;
    });
  }
}

function micro(text: string): number {
  const [whole = '', fraction = ''] = text.split('.');
  return Number(whole + fraction.padEnd(6, '0'));
}

const STATUS = ['umaResolutionStatus', 'acceptingOrders', 'closed', 'proposedPrices'] as const;
async function statusOf(venue: Venue, id = '1'): Promise<unknown[]> {
  const market = await venue.shown(id);
  return STATUS.map((name) => market[name]);
}

test('a dry run shows the payout to the micro-unit, and changes nothing', async () => {
  const venue = await Venue.open();
  const { condition } = venue;
  const before = await venue.done('GET /admin/ledger');
  const entries = (await auditEntries(venue.dataDir, 100)).length;
  for (const pays of [{ payouts: { Yes: 1 } }, { payout: [1, 2] }, { void: true }]) {
    await venue.done('POST /admin/markets/dry-run', { condition, ...pays });
  }
  const pays = { payout: [1, 2] };
  const dry = await venue.done('POST /admin/markets/dry-run', { condition, ...pays });
  assert.deepEqual(await venue.done('GET /admin/ledger'), before);
  assert.equal((await auditEntries(venue.dataDir, 100)).length, entries, 'it is no change');
  // Alice has bought 20 Yes at 0.40, and Bob 20 No at 0.60; Alice buys 10 more, and Bob sells 7.
  const byOutcome = dry.by_outcome as Record<string, unknown>[];
  assert.deepEqual(
    byOutcome.map((row) => [row.outcome, row.wallets, row.shares, row.paid]),
    [
      ['Yes', 1, '20', '6.666666'],
      ['No', 1, '20', '13.333333'],
    ],
  );
  assert.deepEqual(
    [dry.wallets, dry.paid, dry.venue_paid, dry.rounding, dry.open_orders, dry.released],
    [2, '19.999999', '0', '0.000001', 2, '4'],
  );
  const cash = await venue.cash();
  await venue.done('POST /admin/markets/resolve', { condition, ...pays });
  await venue.paid();
  const paid = byOutcome.map((row) => micro(String(row.paid)));
  assert.deepEqual(await venue.cash(), [cash[0]! + paid[0]!, cash[1]! + paid[1]!]);
  const after = await venue.done('GET /admin/ledger');
  assert.deepEqual([after.rounding, after.fees], ['0.000001', before.fees]);
  assert.deepEqual(await venue.refused('POST /admin/markets/dry-run', { condition, ...pays }), [
    409,
    'market has resolved',
  ]);
  await venue.node.stop();
});

test('a dry run refuses the inputs that a payout refuses', async () => {
  const venue = await Venue.open();
  const { condition } = venue;
  const error =
    'payout must be a whole number for each outcome, with a sum from 1 to 10000; all equal if void';
  for (const [pays, expected] of [
    [{ payout: [0, 0] }, [400, error]],
    [{ payout: [1, 0, 0] }, [400, error]],
    [{ payout: [1, 0], void: true }, [400, 'invalid_field: void']],
    [{}, [400, 'invalid_field: payout']],
    [{ void: false }, [400, 'invalid_field: void']],
    [{ payouts: { Maybe: 1 } }, [400, 'invalid_field: payouts']],
    [{ payout: [1, 0], review: 9 }, [400, 'unknown_field: review']],
  ] as const) {
    const found = await venue.refused('POST /admin/markets/dry-run', { condition, ...pays });
    assert.deepEqual(found, expected, JSON.stringify(pays));
  }
  await venue.node.stop();
});

test('a proposal halts its market at once and is shown; after withdrawal the market trades as before', async () => {
  const venue = await Venue.open();
  const { condition } = venue;
  assert.equal(await venue.trades(), true);
  const id = `${Date.now()}-proposal`;
  const wish = { condition, payouts: { Yes: 1 }, review: HOUR, id };
  const made = await venue.done('POST /admin/markets/resolve', wish);
  assert.deepEqual([made.state, made.repeated], ['proposed', false]);
  const left = Date.parse(String(made.deadline)) - Date.now();
  assert(left > (HOUR - 60) * 1_000 && left <= HOUR * 1_000);
  assert.equal(await venue.trades(), false);
  assert.deepEqual(await statusOf(venue), ['proposed', false, false, '["1","0"]']);
  assert.equal((await venue.shown()).umaEndDate, made.deadline);
  const { proposals } = await venue.done('GET /admin/markets/proposals');
  const [listed, ...others] = proposals as Record<string, unknown>[];
  assert.deepEqual(others, []);
  assert.deepEqual(
    [listed?.condition, listed?.payout, listed?.deadline],
    [condition, [1, 0], made.deadline],
  );
  assert.equal((await venue.done('GET /admin/ledger')).proposals, 1);
  const { json: status } = await get(venue.node, '/status');
  const { proposals: counted } = status as { readonly proposals: unknown };
  assert.deepEqual(counted, { count: 1, next: made.deadline });

  const pending = [409, 'a payout of the market is proposed'];
  for (const more of [{}, { review: HOUR }, { payouts: { No: 1 } }]) {
    const other = { condition, payouts: { Yes: 1 }, ...more };
    assert.deepEqual(await venue.refused('POST /admin/markets/resolve', other), pending);
  }
  assert.deepEqual(await venue.refused('POST /admin/markets/void', { condition }), pending);
  const again = await venue.done('POST /admin/markets/resolve', wish);
  assert.deepEqual([again.deadline, again.repeated], [made.deadline, true]);

  // Neither an import nor an operator opens it.
  await importCatalog(venue.node, catalogFile(FILE), []);
  await venue.done('POST /admin/markets/halt', { condition });
  await venue.done('POST /admin/markets/resume', { condition });
  assert.deepEqual(await statusOf(venue), ['proposed', false, false, '["1","0"]']);
  assert.equal(await venue.trades(), false);

  const withdrawal = { condition, id: `${Date.now()}-withdrawal` };
  const taken = await venue.done('POST /admin/markets/withdraw-proposal', withdrawal);
  assert.deepEqual([taken.state, taken.repeated], ['withdrawn', false]);
  assert.deepEqual(await statusOf(venue), [undefined, true, false, undefined]);
  assert.equal(await venue.trades(), true);
  const twice = await venue.done('POST /admin/markets/withdraw-proposal', withdrawal);
  assert.equal(twice.repeated, true);
  assert.deepEqual(await venue.refused('POST /admin/markets/withdraw-proposal', { condition }), [
    409,
    'no payout of the market is proposed',
  ]);
  assert.equal((await venue.done('POST /admin/markets/resolve', wish)).state, 'withdrawn');
  assert.equal(await venue.trades(), true, 'what was sent again proposes nothing');

  // One that was halted stays so.
  await venue.done('POST /admin/markets/halt', { condition });
  await venue.done('POST /admin/markets/void', { condition, review: HOUR });
  assert.deepEqual(await statusOf(venue), ['proposed', false, false, '["0.5","0.5"]']);
  await venue.done('POST /admin/markets/withdraw-proposal', { condition });
  assert.deepEqual(await statusOf(venue), [undefined, false, false, undefined]);
  assert.equal(await venue.trades(), false);
  const routes = (await auditEntries(venue.dataDir, 4)).map(({ route, status }) => [route, status]);
  assert.deepEqual(routes.slice(0, 2), [
    ['POST /admin/markets/withdraw-proposal', 200],
    ['POST /admin/markets/void', 200],
  ]);
  await venue.node.stop();
});

test('a proposal pays the amounts of its dry run at its deadline, without any trade', async () => {
  const venue = await Venue.open();
  const { condition } = venue;
  const pays = { condition, payout: [2, 1] };
  const dry = await venue.done('POST /admin/markets/dry-run', pays);
  const cash = await venue.cash();
  const { deadline } = await venue.done('POST /admin/markets/resolve', { ...pays, review: 2 });
  await venue.paid();
  assert(Date.now() >= Date.parse(String(deadline)));
  const [yes, no] = (dry.by_outcome as { paid: string }[]).map(({ paid }) => micro(paid));
  assert.deepEqual(await venue.cash(), [cash[0]! + yes!, cash[1]! + no!]);
  await until(async () => (await venue.shown()).umaResolutionStatus === 'resolved');
  const market = await venue.shown();
  assert.deepEqual(
    [market.closed, market.acceptingOrders, market.outcomePrices, market.umaEndDate],
    [true, false, '["0.666666","0.333333"]', undefined],
  );
  assert.match(venue.node.log, new RegExp(`${condition} pays as it was proposed`));
  await venue.node.stop();
});

test('a node that is killed before a deadline and starts after it pays once', async () => {
  const venue = await Venue.open();
  const { condition } = venue;
  const cash = await venue.cash();
  const wish = { condition, payouts: { Yes: 1 }, review: 3, id: `${Date.now()}-killed` };
  const { deadline } = await venue.done('POST /admin/markets/resolve', wish);
  const other = { condition: venue.markets[1]!.conditionId, review: HOUR };
  await venue.done('POST /admin/markets/void', other);
  await venue.node.end('SIGKILL');
  await sleep(Math.max(0, Date.parse(String(deadline)) - Date.now() + 1));
  await venue.start();
  await until(async () => (await venue.shown()).umaResolutionStatus === 'resolved');
  await until(async () => (await venue.done('GET /admin/ledger')).resolving === 0);
  assert.deepEqual(await venue.cash(), [cash[0]! + micro('20'), cash[1]!]);
  assert.deepEqual(await statusOf(venue, '2'), ['proposed', false, false, '["0.5","0.5"]']);
  const again = await venue.done('POST /admin/markets/resolve', wish);
  assert.deepEqual([again.state, again.repeated], ['resolved', true]);
  await venue.node.end('SIGKILL');
  await venue.start();
  assert.deepEqual(await venue.cash(), [cash[0]! + micro('20'), cash[1]!]);
  assert.equal((await venue.done('GET /admin/ledger')).proposals, 1);
  await venue.node.stop();
  for (const args of [['ledger', 'audit'], ['verify'], ['replay']]) {
    const { code, stderr } = await cli(venue.dataDir, args, { settings: SETTINGS });
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  }
});

test('a proposal is in the catalog after the next start when the node ended between the two', async () => {
  const venue = await Venue.open();
  const { condition } = venue;
  await venue.done('POST /admin/markets/resolve', { condition, payout: [1, 0], review: HOUR });
  // A catalog that is replaced whole has lost what an operator did.
  await withMarkets(venue.dataDir, FILE);
  await until(async () => (await venue.shown()).umaResolutionStatus === 'proposed');
  await venue.node.stop();
  await withMarkets(venue.dataDir, FILE);
  await venue.start();
  await until(async () => (await venue.shown()).umaResolutionStatus === 'proposed');
  assert.equal(await venue.trades(), false);
  await venue.node.stop();
});

test('with RESOLVE_CONFIRM=always no payout is made or proposed without `confirm`', async () => {
  const venue = await Venue.open({ RESOLVE_CONFIRM: 'always' });
  const { condition } = venue;
  const wish = { condition, payout: [1, 0] };
  for (const more of [{}, { confirm: false }, { review: HOUR }]) {
    const found = await venue.refused('POST /admin/markets/resolve', { ...wish, ...more });
    assert.deepEqual(found, [400, 'invalid_field: confirm']);
  }
  assert.deepEqual((await venue.refused('POST /admin/markets/void', { condition }))[0], 400);
  await venue.done('POST /admin/markets/dry-run', wish);
  await venue.done('POST /admin/markets/resolve', { ...wish, review: HOUR, confirm: true });
  await venue.done('POST /admin/markets/withdraw-proposal', { condition });
  await venue.done('POST /admin/markets/resolve', { ...wish, confirm: true });
  await venue.node.stop();
});
