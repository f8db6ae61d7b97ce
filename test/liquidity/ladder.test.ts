import assert from 'node:assert/strict';
import test from 'node:test';
import { MICRO, TICK_GRIDS } from '../../engine/tables/units.ts';
import {
  chanceOf,
  ladderOf,
  type Pair,
  type Quote,
  type Rule,
  ruleOf,
} from '../../server/liquidity/ladder.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';

const LEVELS = 10;
const TRADES = 200;

interface Account {
  cash: number;
  readonly shares: [number, number];
}

/** Worth of the account by the outcome that wins. */
function worthOf({ cash, shares }: Account): Pair {
  return [cash + shares[0], cash + shares[1]];
}

/** Complete sets become cash, as the node does after each fill. */
function merge(account: Account): void {
  const sets = Math.min(...account.shares);
  account.cash += sets;
  account.shares[0] -= sets;
  account.shares[1] -= sets;
}

/** The maker's side of a fill: its price is a whole number of ticks, rounded against it. */
function fill(account: Account, { outcome, side, ticks }: Quote, size: number, grid: number): void {
  const collateral = (size * ticks) / grid;
  if (side === 'BUY') {
    account.cash -= Math.ceil(collateral);
    account.shares[outcome] += size;
  } else {
    account.cash += Math.floor(collateral);
    account.shares[outcome] -= size;
  }
}

/** Price of the first outcome at which a quote trades. */
function firstTicks({ outcome, ticks }: Quote, grid: number): number {
  return outcome === 0 ? ticks : grid - ticks;
}

const lowers = ({ outcome, side }: Quote): boolean => (outcome === 0) === (side === 'BUY');

interface Market {
  readonly grid: number;
  readonly minSize: number;
}

function drawnMarket(random: Random): Market {
  return { grid: random.pick(TICK_GRIDS), minSize: random.pick([0.01, 1, 5]) * MICRO };
}

function quotesAt(account: Account, rule: Rule, { grid, minSize }: Market): Quote[] {
  const terms = { ticksPerUnit: grid, minSize };
  return ladderOf(rule, terms, { cash: account.cash, shares: account.shares }, LEVELS);
}

function checkLadder(quotes: readonly Quote[], account: Account, rule: Rule, market: Market): void {
  const { grid, minSize } = market;
  const chance = chanceOf(rule, account.shares);
  let cash = account.cash;
  const held: [number, number] = [...account.shares];
  for (const quote of quotes) {
    const { outcome, side, size, ticks } = quote;
    assert(Number.isInteger(ticks) && ticks >= 1 && ticks < grid, 'a price is a whole tick');
    assert.equal(size % (MICRO / 100), 0, 'a size is whole hundredths of a share');
    assert(size >= minSize);
    if (side === 'BUY') cash -= (size * ticks) / grid;
    else held[outcome] -= size;
    const price = firstTicks(quote, grid) / grid;
    assert(lowers(quote) ? price < chance : price > chance, 'a taker pays more than the rule says');
  }
  assert(cash >= 0 && Math.min(...held) >= 0, 'an order is never larger than what pays for it');
  const prices = (isLower: boolean): number[] =>
    quotes.filter((quote) => lowers(quote) === isLower).map((quote) => firstTicks(quote, grid));
  assert(Math.max(0, ...prices(true)) < Math.min(grid, ...prices(false)), 'quotes never cross');
}

/** The cost function, written as in its definition: C = b ln(e^(q0 / b) + e^(q1 / b)). */
function naiveWorth(sum: number, sold: Pair): Pair {
  const depth = sum / Math.LN2;
  const cost = (q: Pair): number => {
    const top = Math.max(...q) / depth;
    return depth * (top + Math.log(Math.exp(q[0] / depth - top) + Math.exp(q[1] / depth - top)));
  };
  const cash = sum + cost(sold) - cost([0, 0]);
  return [cash - sold[0], cash - sold[1]];
}

test('no path of trades costs more than the rule, nor more than the sum', () =>
  withSeed((random) => {
    for (let round = 0; round < rounds(300); round++) {
      const market = drawnMarket(random);
      const sum = random.pick([5, 50, 1_000, 1_000_000]) * MICRO;
      const account: Account = { cash: sum, shares: [0, 0] };
      const rule = ruleOf(0.5, [sum, sum], [0, 0]);
      const bias = random.between(0, 100);
      for (let trade = 0; trade < TRADES; trade++) {
        const quotes = quotesAt(account, rule, market);
        checkLadder(quotes, account, rule, market);
        // Several fills before the next ladder: takers do not wait for it.
        for (const quote of quotes) {
          if (lowers(quote) !== random.chance(bias) || random.chance(50)) continue;
          const part = random.chance(50) ? quote.size : random.between(1, quote.size);
          fill(account, quote, part, market.grid);
          if (random.chance(50)) break;
        }
        merge(account);
        assert(account.cash >= 0, 'it never owes anything');
        const [first, second] = account.shares;
        const naive = naiveWorth(sum, [-first, -second]);
        const slack = trade + 2 + sum * 1e-9;
        for (const outcome of [0, 1] as const) {
          const worth = worthOf(account)[outcome];
          assert(worth >= naive[outcome] - slack, `${worth} is below ${naive[outcome]}`);
        }
      }
    }
  }));

test('money that comes later makes the ladder deeper at the same price', () =>
  withSeed((random) => {
    for (let round = 0; round < rounds(300); round++) {
      const market = drawnMarket(random);
      const account: Account = { cash: 50 * MICRO, shares: [0, 0] };
      let rule = ruleOf(random.between(1, 99) / 100, worthOf(account), account.shares);
      for (let trade = 0; trade < 20; trade++) {
        const quotes = quotesAt(account, rule, market);
        if (quotes.length === 0) break;
        const quote = random.pick(quotes);
        fill(account, quote, random.between(1, quote.size), market.grid);
        merge(account);
      }
      const chance = chanceOf(rule, account.shares);
      const { depth } = rule;
      account.cash += 50 * MICRO;
      rule = ruleOf(chance, worthOf(account), account.shares);
      assert(rule.depth > depth);
      assert(Math.abs(chanceOf(rule, account.shares) - chance) < 1e-6);
    }
  }));

test('an order that has traded in part stays where it rests', () => {
  const sum = 50 * MICRO;
  const rule = ruleOf(0.5, [sum, sum], [0, 0]);
  const terms = { ticksPerUnit: 100, minSize: 5 * MICRO };
  const before = ladderOf(rule, terms, { cash: sum, shares: [0, 0] }, LEVELS);
  const [best] = before as [Quote];
  assert.deepEqual([best.outcome, best.side, best.ticks], [0, 'BUY', 48]);
  const traded = 1_234_567;
  const account: Account = { cash: sum, shares: [0, 0] };
  fill(account, best, traded, 100);
  const remaining = (place: Omit<Quote, 'size'>): number => {
    const found = before.find(
      ({ outcome, side, ticks }) =>
        outcome === place.outcome && side === place.side && ticks === place.ticks,
    );
    return found === undefined ? 0 : found.size - (found === best ? traded : 0);
  };
  const after = ladderOf(rule, terms, account, LEVELS, remaining);
  const bids = (quotes: readonly Quote[]) => quotes.filter(lowers);
  const rest = { ...best, size: best.size - traded };
  assert.deepEqual(bids(after), [rest, ...bids(before).slice(1)]);
  assert.notDeepEqual(
    after.filter((q) => !lowers(q)),
    before.filter((q) => !lowers(q)),
  );
});

test('a sum that is too small for the least order quotes nothing', () => {
  const sum = MICRO / 10;
  const rule = ruleOf(0.5, [sum, sum], [0, 0]);
  const terms = { ticksPerUnit: 100, minSize: 5 * MICRO };
  assert.deepEqual(ladderOf(rule, terms, { cash: sum, shares: [0, 0] }, LEVELS), []);
});
