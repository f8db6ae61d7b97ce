/**
 * Money goes to the holder of the token that pays, however a catalog names the outcomes: over
 * imports, pulls and a mirror, with drawn orders of outcomes, against a model in plain sums.
 * Contradictions change nothing.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { importCatalog } from '../admin/imports.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import {
  book,
  catalogFile,
  get,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { freshSeed, Random, rounds } from '../common/random.ts';
import { cli } from '../common/run-cli.ts';
import { MICRO, Trader } from '../common/traders.ts';
import { FakeVenue } from './fake-source.ts';

type Row = Readonly<Record<string, unknown>>;
const WALLETS = ['ada', 'ben', 'cleo'];
const PAID_IN = 1_000 * MICRO;
const SETS = 50;
const NAMES = ['North', 'East', 'South', 'West'];

/** Cash and shares of wallets in micro-units, by plain sums. */
class Model {
  private readonly cash = new Map<string, number>();
  private readonly shares = new Map<string, number>();

  private static at(wallet: string, token: string): string {
    return `${wallet} ${token}`;
  }

  deposit(wallet: string, amount: number): void {
    this.cash.set(wallet, this.cashOf(wallet) + amount);
  }

  split(wallet: string, { tokenIds }: CatalogMarket, shares: number): void {
    this.deposit(wallet, -shares * MICRO);
    for (const token of tokenIds) this.give(wallet, token, shares * MICRO);
  }

  trade(from: string, to: string, token: string, shares: number, cents: number): void {
    const amount = (shares * MICRO * cents) / 100;
    this.give(from, token, -shares * MICRO);
    this.give(to, token, shares * MICRO);
    this.deposit(from, amount);
    this.deposit(to, -amount);
  }

  /** Pays each token its weight divided by their sum. */
  resolve({ tokenIds }: CatalogMarket, weights: ReadonlyMap<string, number>): void {
    const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
    for (const wallet of WALLETS) {
      for (const token of tokenIds) {
        const held = this.sharesOf(wallet, token);
        this.deposit(wallet, Math.floor((held * (weights.get(token) ?? 0)) / sum));
        this.give(wallet, token, -held);
      }
    }
  }

  cashOf(wallet: string): number {
    return this.cash.get(wallet) ?? 0;
  }

  sharesOf(wallet: string, token: string): number {
    return this.shares.get(Model.at(wallet, token)) ?? 0;
  }

  private give(wallet: string, token: string, shares: number): void {
    this.shares.set(Model.at(wallet, token), this.sharesOf(wallet, token) + shares);
  }
}

class Stage {
  operator: OperatorNode;
  readonly random: Random;
  readonly model = new Model();
  private readonly traders = new Map<string, Trader>();

  private constructor(operator: OperatorNode, random: Random) {
    this.operator = operator;
    this.random = random;
  }

  static async start(
    dataDir: string,
    random: Random,
    settings: Record<string, string>,
  ): Promise<Stage> {
    const operator = await OperatorNode.start(dataDir, { LEDGER: 'on', ...settings });
    const stage = new Stage(operator, random);
    for (const name of WALLETS) {
      const trader = await Trader.join(operator.node, name);
      stage.traders.set(name, trader);
      await operator.done('POST /admin/ledger/deposit', { wallet: trader.address, amount: '1000' });
      stage.model.deposit(name, PAID_IN);
    }
    return stage;
  }

  async restart(): Promise<void> {
    const { dataDir, settings } = this.operator.node;
    await this.operator.node.stop();
    const { ADMIN_PORT: _, ...others } = settings;
    this.operator = await OperatorNode.start(dataDir, others);
  }

  async trade(market: CatalogMarket): Promise<void> {
    const {
      model,
      operator: { node },
      random,
      traders,
    } = this;
    for (const name of WALLETS) {
      await traders.get(name)!.split(node, market, SETS);
      model.split(name, market, SETS);
    }
    for (const [outcome, token] of market.tokenIds.entries()) {
      const from = random.below(WALLETS.length);
      const seller = WALLETS[from]!;
      const buyer = WALLETS[(from + random.between(1, 2)) % WALLETS.length]!;
      const shares = random.between(5, SETS / 2);
      const cents = random.between(2, 98);
      const terms = { market, outcome, ticks: cents, shares };
      await traders.get(seller)!.place(node, { ...terms, side: 'SELL' });
      await traders.get(buyer)!.place(node, { ...terms, side: 'BUY', type: 'FOK' });
      model.trade(seller, buyer, token, shares, cents);
    }
  }

  async balanceOf(name: string): Promise<{ cash: number; shares: Map<string, number> }> {
    const query = `?wallet=${this.traders.get(name)!.address}`;
    const found = await this.operator.done('GET /admin/ledger/balance', undefined, query);
    const { cash, positions } = found as {
      cash: { total: string };
      positions: { token_id: string; total: string }[];
    };
    const shares = new Map(positions.map(({ token_id, total }) => [token_id, micros(total)]));
    return { cash: micros(cash.total), shares };
  }

  /** Waits until everybody is paid, and compares everything with the model. */
  async check(markets: readonly CatalogMarket[], what: string): Promise<void> {
    await until(async () => (await this.operator.done('GET /admin/ledger')).resolving === 0);
    for (const name of WALLETS) {
      const { cash, shares } = await this.balanceOf(name);
      assert.equal(cash, this.model.cashOf(name), `${what}: cash of ${name}`);
      for (const token of markets.flatMap(({ tokenIds }) => tokenIds)) {
        assert.equal(
          shares.get(token) ?? 0,
          this.model.sharesOf(name, token),
          `${what}: ${name}, ${token}`,
        );
      }
    }
    const { imbalance } = await this.operator.done('GET /admin/ledger');
    assert.equal(imbalance, '0');
  }

  /** Checks that every list and every row by an index keeps the first name of each token. */
  async checkNames(market: CatalogMarket): Promise<void> {
    const { node } = this.operator;
    const { conditionId, outcomes, tokenIds } = market;
    const names = new Map(tokenIds.map((token, i) => [token, outcomes[i]!]));
    const { json: shown } = await get(node, `/markets/${conditionId}`);
    const { clobTokenIds, outcomes: labels } = shown as Row;
    assert.deepEqual([labels, clobTokenIds], [JSON.stringify(outcomes), JSON.stringify(tokenIds)]);
    const { json: trading } = await get(node, `/clob/markets/${conditionId}`);
    for (const { outcome, token_id } of (trading as { tokens: Row[] }).tokens) {
      assert.equal(outcome, names.get(String(token_id)));
    }
    const { json: trades } = await get(
      node,
      `/trades?takerOnly=false&limit=1000&market=${conditionId}`,
    );
    for (const { asset, outcome, outcomeIndex } of trades as Row[]) {
      assert.equal(asset, `${conditionId}:${outcomeIndex}`);
      assert.equal(outcome, outcomes[Number(outcomeIndex)]);
    }
  }

  /**
   * Resolves by the command line or over HTTP: the winner by name or token, or weights in the shown
   * order.
   */
  async resolve({ conditionId, outcomes, tokenIds }: CatalogMarket): Promise<Map<string, number>> {
    const { operator, random } = this;
    const winner = random.below(tokenIds.length);
    const one = new Map([[tokenIds[winner]!, 1]]);
    const named = random.chance(50) ? outcomes[winner]! : tokenIds[winner]!;
    const drawn = random.below(3);
    if (drawn === 0) {
      const args = ['market', 'resolve', conditionId, '--winner', named, '--url', operator.base];
      const { code, stderr } = await cli(operator.node.dataDir, args);
      assert.equal(code, 0, stderr);
      return one;
    }
    const body = { condition: conditionId };
    if (drawn === 1) {
      await operator.done('POST /admin/markets/resolve', { ...body, payouts: { [named]: 1 } });
      return one;
    }
    const { json } = await get(operator.node, `/markets/${conditionId}`);
    const shown = JSON.parse(String((json as Row).outcomes)) as string[];
    const weights = shown.map((name) => 1 + outcomes.indexOf(name));
    await operator.done('POST /admin/markets/resolve', { ...body, payout: weights });
    return new Map(shown.map((name, i) => [tokenIds[outcomes.indexOf(name)]!, weights[i]!]));
  }
}

function micros(units: string): number {
  return Math.round(Number(units) * MICRO);
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0]!);
}

/** Lists of a market in a drawn order, with more members. */
function turned(
  random: Random,
  { outcomes, tokenIds }: CatalogMarket,
  prices?: ReadonlyMap<string, string>,
): Row {
  const places = shuffled(random, [...tokenIds.keys()]);
  const tokens = places.map((place) => tokenIds[place]!);
  return {
    outcomes: JSON.stringify(places.map((place) => outcomes[place]!)),
    clobTokenIds: JSON.stringify(tokens),
    ...(prices && {
      outcomePrices: JSON.stringify(tokens.map((token) => prices.get(token) ?? '0')),
    }),
  };
}

async function seeded(t: TestContext, body: (random: Random) => Promise<void>): Promise<void> {
  const seed = freshSeed();
  t.diagnostic(`SEED=${seed}`);
  await body(new Random(seed)).catch((error: unknown) => {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  });
}

test('each holder of the winning token is paid after imports in drawn orders, with and without a restart', (t) =>
  seeded(t, async (random) => {
    const dataDir = temporaryDirectory();
    const count = rounds(6);
    const terms = Array.from({ length: count }, (_, i) => ({
      id: i + 1,
      minSize: 1,
      outcomes: shuffled(random, NAMES).slice(0, random.between(2, NAMES.length)),
    }));
    const markets = await withMarkets(dataDir, terms);
    const stage = await Stage.start(dataDir, random, {});
    for (const market of markets) await stage.trade(market);
    const file = catalogFile(terms) as { events: { markets: Row[] }[] };
    const drawn = () => ({
      ...file,
      events: file.events.map((event, i) => ({
        ...event,
        markets: [
          { ...event.markets[0], ...turned(random, markets[i]!), question: `${random.next()}?` },
        ],
      })),
    });
    for (const market of markets) {
      const flags = random.chance(30) ? ['--merge'] : [];
      await importCatalog(stage.operator.node, drawn(), flags);
      if (random.chance(30)) await stage.restart();
      for (const one of markets) await stage.checkNames(one);
      stage.model.resolve(market, await stage.resolve(market));
      await stage.check(markets, `${market.outcomes}`);
    }
    await stage.operator.node.stop();
  }));

test('each holder of the winning token is paid after pulls and a mirror of a source that reverses its outcomes', (t) =>
  seeded(t, async (random) => {
    const venue = await FakeVenue.start(t);
    const [first] = venue.markets as [CatalogMarket];
    const others = [['North', 'South', 'West'], ['East', 'West'], NAMES].map((outcomes) =>
      venue.list({ outcomes, minSize: 1 }),
    );
    const markets = [first, ...others];
    venue.change(first.tokenIds[0]!, [['BUY', '0.01', '5']]);
    const stage = await Stage.start(temporaryDirectory(), random, {
      MIRROR_URL: venue.url,
      CATALOG_SYNC_SECONDS: '1',
    });
    const { node } = stage.operator;
    const question = async ({ conditionId }: CatalogMarket): Promise<unknown> =>
      ((await get(node, `/markets/${conditionId}`)).json as Row).question;
    await until(async () => (await question(markets.at(-1)!)) !== undefined);
    await until(() => venue.isFollowed(first.tokenIds[0]!));
    for (const market of markets) {
      // Levels of the source are nobody's of the model.
      venue.change(market.tokenIds[0]!, [['BUY', '0.01', '0']]);
      await until(async () => (await book(node, market.tokenIds[0]!)).bids.length === 0);
      await stage.trade(market);
    }
    for (let round = 0; round < 2; round++) {
      const text = `turned ${random.next()}?`;
      for (const market of markets) {
        venue.said.set(market.conditionId, { question: text, ...turned(random, market) });
      }
      await until(async () => (await question(markets.at(-1)!)) === text);
      for (const market of markets) await stage.checkNames(market);
    }
    // One by the operator here, the others as the source resolves them.
    const [operated, ...resolved] = shuffled(random, markets);
    stage.model.resolve(operated!, await stage.resolve(operated!));
    for (const market of resolved) {
      const winner = random.pick(market.tokenIds);
      const ended = { active: false, closed: true, umaResolutionStatus: 'resolved' };
      const pays = turned(random, market, new Map([[winner, '1']]));
      venue.said.set(market.conditionId, { ...ended, ...pays });
      venue.tellAll({ event_type: 'market_resolved', market: market.conditionId });
      stage.model.resolve(market, new Map([[winner, 1]]));
    }
    const expected = stage.model.cashOf('ada');
    await until(async () => (await stage.balanceOf('ada')).cash === expected);
    await stage.check(markets, 'in the end');
    for (const market of markets) await stage.checkNames(market);
    assert.deepEqual(await contradictionsOf(stage.operator), {
      catalog: 0,
      sync: 0,
      mirror: 0,
      markets: [],
    });
    await node.stop();
  }));

interface ContradictionsJson {
  readonly catalog: number;
  readonly sync: number;
  readonly mirror: number;
  readonly markets: readonly Row[];
}

async function contradictionsOf({ node }: OperatorNode): Promise<ContradictionsJson> {
  const { json } = await get(node, '/status');
  return (json as { contradictions: ContradictionsJson }).contradictions;
}

test('a source that names tokens of another market, or another neg-risk flag, changes no market and is counted', (t) =>
  seeded(t, async (random) => {
    const venue = await FakeVenue.start(t, 3);
    const markets = venue.markets as unknown as [CatalogMarket, CatalogMarket, CatalogMarket];
    const [one, two, three] = markets;
    const stage = await Stage.start(temporaryDirectory(), random, {
      MIRROR_URL: venue.url,
      CATALOG_SYNC_SECONDS: '1',
    });
    const { operator } = stage;
    const { node } = operator;
    await until(() => markets.every(({ tokenIds }) => venue.isFollowed(tokenIds[0]!)));
    for (const market of markets) await stage.trade(market);
    /** Shown market without its prices, which follow the trades. */
    const shownOf = async (condition: string): Promise<unknown> => {
      const market = (await get(node, `/clob/markets/${condition}`)).json as { tokens: Row[] };
      return { ...market, tokens: market.tokens.map(({ price: _, ...token }) => token) };
    };
    const before = new Map<string, unknown>();
    for (const { conditionId } of markets) {
      before.set(conditionId, await shownOf(conditionId));
    }
    const listed = (await get(node, '/sampling-simplified-markets')).json;

    // Market 1 resolves with the tokens of market 2; market 2 with a wrong flag; the names of market 3 are exchanged.
    const ended = {
      active: false,
      closed: true,
      umaResolutionStatus: 'resolved',
      outcomePrices: '["1","0"]',
    };
    venue.said.set(one.conditionId, { ...ended, clobTokenIds: JSON.stringify(two.tokenIds) });
    venue.said.set(two.conditionId, { ...ended, negRisk: true });
    venue.said.set(three.conditionId, {
      ...ended,
      outcomes: JSON.stringify(three.outcomes.toReversed()),
    });
    for (const { conditionId } of markets) {
      venue.tellAll({ event_type: 'market_resolved', market: conditionId });
    }
    await until(async () => {
      const { mirror, sync } = await contradictionsOf(operator);
      return sync === 3 && mirror === 3;
    });
    const found = await contradictionsOf(operator);
    const reasons = [one, two, three].map(({ conditionId }, i) => [
      conditionId,
      ['tokens', 'negRisk', 'names'][i]!,
    ]);
    for (const source of ['sync', 'mirror']) {
      const named = found.markets.filter((market) => market.source === source);
      assert.deepEqual(
        named.map(({ market, reason }) => [market, reason]).sort(),
        reasons.toSorted(),
        source,
      );
    }
    const metrics = await (await fetch(`${operator.base}/metrics`)).text();
    assert.match(metrics, /^exchange_catalog_contradictions\{source="sync"\} 3$/m);
    assert.match(metrics, /^exchange_catalog_contradictions\{source="mirror"\} 3$/m);
    for (const [conditionId, json] of before) {
      assert.deepEqual(await shownOf(conditionId), json, 'nothing has changed');
    }
    assert.deepEqual((await get(node, '/sampling-simplified-markets')).json, listed);
    // What is signed for a market is of it, and of no other.
    await stage.trade(one);
    const trader = await Trader.join(node, 'ada');
    const crossed = {
      market: { ...one, tokenIds: two.tokenIds },
      side: 'BUY',
      ticks: 50,
      shares: 5,
    } as const;
    const refused = await trader.order(node, crossed);
    assert.equal(refused.errorMsg, 'tokenId not found for conditionId lookup');
    const risky = { market: { ...two, negRisk: true }, side: 'BUY', ticks: 50, shares: 5 } as const;
    assert.equal((await trader.order(node, risky)).errorMsg, 'invalid order signature');
    await stage.check(markets, 'while the source contradicts');

    // The source is right again, and has meant Yes of each.
    for (const { conditionId } of markets) venue.said.set(conditionId, ended);
    for (const market of markets) stage.model.resolve(market, new Map([[market.tokenIds[0]!, 1]]));
    await until(async () => {
      const { cash } = await stage.balanceOf('ada');
      return cash === stage.model.cashOf('ada');
    });
    await stage.check(markets, 'in the end');
    await until(async () => {
      const { mirror, sync } = await contradictionsOf(operator);
      return sync === 0 && mirror === 0;
    });
    await node.stop();
  }));
