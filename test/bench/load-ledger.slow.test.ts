/**
 * The pure parts of the load tool: amounts, the naive book, drawing orders, the ledger. The whole
 * of it runs in load-run.slow.test.ts.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import {
  MICRO,
  microFromNumber,
  microFromText,
  microText,
  notional,
  priceText,
  sharesForCollateral,
} from '../../bench/load/load-amounts.ts';
import {
  ANONYMOUS,
  BUY,
  NaiveBook,
  type Order,
  SELL,
  type Side,
} from '../../bench/load/load-book.ts';
import {
  type Answer,
  DUPLICATED,
  Ledger,
  NOT_FILLED,
  type SentOrder,
} from '../../bench/load/load-ledger.ts';
import { chooseMarkets, type LoadMarket, type LoadToken } from '../../bench/load/load-market.ts';
import { parseOptions } from '../../bench/load/load-options.ts';
import { marketBuy, OrderSource } from '../../bench/load/load-orders.ts';
import { Random } from '../../bench/random.ts';

const SEED = process.env.SEED ?? String(randomInt(2 ** 31));

function seeded(body: (random: Random) => void): () => void {
  return () => {
    try {
      body(new Random(SEED));
    } catch (error) {
      console.error(`replay with: SEED=${SEED}`);
      throw error;
    }
  };
}

const TICKS = [10, 100, 200, 400, 1000, 10_000] as const;

function catalog(): Parameters<typeof chooseMarkets>[0][number][] {
  return TICKS.map((ticksPerUnit, i) => ({
    conditionId: `0x${String(i + 1).repeat(64)}`,
    tokenIds: i === 1 ? ['21', '22', '23'] : [`${i + 1}1`, `${i + 1}2`],
    ticksPerUnit,
    minSizeMicro: i === 0 ? 10_000 : 5 * MICRO,
    negRisk: i === 2,
    tradable: true,
  }));
}

function markets(): LoadMarket[] {
  return chooseMarkets(catalog(), 12, new Random('markets'));
}

function tokenOf(ticksPerUnit: number, outcome: number): LoadToken {
  const market = markets().find((other) => other.ticksPerUnit === ticksPerUnit);
  const token = market?.tokens[outcome];
  assert(token !== undefined);
  return token;
}

function order(slot: number, side: Side, ticks: number, shares: number, account = 0): Order {
  return { account, slot, side, ticks, micro: shares * MICRO, collateralMax: 1e15 };
}

function place(book: NaiveBook, placed: Order): ReturnType<NaiveBook['preview']> {
  const match = book.preview(placed);
  book.commit(placed, match);
  return match;
}

test('decimal text becomes micro-units and back without rounding', () => {
  for (const [text, micro] of [
    ['0', 0],
    ['0.000001', 1],
    ['294.1176', 294_117_600],
    ['9007199254.740991', Number.MAX_SAFE_INTEGER],
  ] as const) {
    assert.equal(microFromText(text), micro);
    assert.equal(microText(micro), text);
  }
  assert.equal(microFromNumber(0.000001), 1);
  assert.equal(microFromNumber(193.43), 193_430_000);
  for (const bad of ['', '.5', '5.', '01', '1e3', '-1', '0.0000001', '9007199254.740992']) {
    assert.throws(() => microFromText(bad), bad);
  }
  assert.equal(priceText(7, 10_000), '0.0007');
});

test('a market BUY signs the amounts of the published example', () => {
  assert.equal(sharesForCollateral(100 * MICRO, 34, 100), 294_117_600);
  // 100 / 0.335 and 100 / 0.3325: five decimals and six.
  assert.equal(sharesForCollateral(100 * MICRO, 67, 200), 298_507_460);
  assert.equal(sharesForCollateral(100 * MICRO, 133, 400), 300_751_879);
});

test(
  'every drawn order has a price that the rule for its type reads back exactly',
  seeded((random) => {
    const source = new OrderSource(random, markets());
    for (let i = 0; i < 5000; i += 1) {
      const { token, side, ticks, type, micro, makerAmount, takerAmount } = source.draw(0);
      const { ticksPerUnit, minSizeMicro } = token.market;
      assert(0 < ticks && ticks < ticksPerUnit && micro >= minSizeMicro);
      const [collateral, shares] =
        side === BUY ? [makerAmount, takerAmount] : [takerAmount, makerAmount];
      assert.equal(shares, micro);
      const off = BigInt(collateral) * BigInt(ticksPerUnit) - BigInt(ticks) * BigInt(shares);
      if (type === 'GTC') assert.equal(off, 0n);
      // Within 2 % of a tick, and the nearest tick keeps the signed limit
      // (docs/protocol.md#limit-price).
      assert((off < 0n ? -off : off) * 50n <= BigInt(shares), `${collateral} / ${shares}`);
      assert(side === SELL || notional(shares, ticks, ticksPerUnit) <= makerAmount);
    }
  }),
);

test('a market BUY below one share is not made', () => {
  const token = tokenOf(10, 0);
  assert.equal(marketBuy(token, 0, 5, MICRO / 2), undefined);
  assert.equal(marketBuy(token, 0, 3, 2 * MICRO)?.micro, 2 * MICRO);
});

test('one market of every kind is chosen before a second of any', () => {
  const many = catalog().flatMap((market) => [market, { ...market, conditionId: '0x' }]);
  const kinds = chooseMarkets(many, TICKS.length, new Random(SEED)).map(
    ({ ticksPerUnit }) => ticksPerUnit,
  );
  assert.deepEqual(new Set(kinds), new Set(TICKS));
  const closed = catalog().map((market) => ({ ...market, tradable: false }));
  assert.deepEqual(chooseMarkets(closed, 4, new Random(SEED)), []);
});

test('a taker meets the best price first, then the older order, at the makers prices', () => {
  const book = new NaiveBook(100);
  place(book, order(0, SELL, 61, 5, 1));
  place(book, order(0, SELL, 60, 3, 2));
  place(book, order(0, SELL, 60, 3, 3));
  const match = place(book, order(0, BUY, 61, 8));
  assert.deepEqual(
    match.fills.map(({ maker, micro, ticks }) => [maker.account, micro / MICRO, ticks]),
    [
      [2, 3, 60],
      [3, 3, 60],
      [1, 2, 61],
    ],
  );
  assert.equal(match.collateral, 3.6 * MICRO + 1.22 * MICRO);
  assert.deepEqual(book.levels(0, SELL), [{ ticks: 61, micro: 3 * MICRO }]);
  assert.deepEqual(book.levels(0, BUY), []);
});

test('BUY No rests as an ask of Yes, and BUY Yes mints against it', () => {
  const book = new NaiveBook(100);
  place(book, order(1, BUY, 40, 50, 1));
  assert.deepEqual(book.levels(0, SELL), [{ ticks: 60, micro: 50 * MICRO }]);
  assert.deepEqual(book.levels(1, BUY), [{ ticks: 40, micro: 50 * MICRO }]);
  const match = place(book, order(0, BUY, 65, 50));
  assert.equal(match.collateral, 30 * MICRO);
  assert.equal(match.fills[0]?.makerCollateral, 20 * MICRO);
  assert.deepEqual(book.lastTrades(0), [{ ticks: 60, side: BUY }]);
  assert.deepEqual(book.lastTrades(1), [{ ticks: 40, side: BUY }]);
});

test('a resting order reserves its remaining cost, or its shares, and no price improvement', () => {
  const book = new NaiveBook(100);
  place(book, order(0, SELL, 55, 40, 1));
  place(book, { ...order(0, BUY, 60, 100, 2), collateralMax: 60 * MICRO });
  assert.equal(book.reserved(2, 0, BUY), 36 * MICRO);
  place(book, { ...order(0, SELL, 60, 0, 1), micro: 30 * MICRO + 1 });
  assert.equal(book.reserved(2, 0, BUY), 18 * MICRO, 'rounded up');
  place(book, order(1, SELL, 70, 7, 3));
  assert.deepEqual([book.reserved(3, 1, SELL), book.reserved(3, 0, SELL)], [7 * MICRO, 0]);
  assert.equal(book.reserved(1, 0, SELL), 0);
});

test('the maker of a mint is rounded down, and the taker pays the rest up to its signed amount', () => {
  const book = new NaiveBook(1000);
  const odd = { ...order(1, BUY, 333, 1, 1), micro: 1_000_001 };
  place(book, odd);
  const taker = { ...order(0, BUY, 667, 1), micro: 1_000_001 };
  assert.equal(book.preview(taker).fills[0]?.makerCollateral, 333_000);
  assert.equal(book.preview(taker).collateral, 667_001);
  assert.equal(book.preview({ ...taker, collateralMax: 667_000 }).collateral, 667_000);
});

test('a complementary trade leaves the other token alone, an anonymous maker leaves both open', () => {
  const book = new NaiveBook(100);
  place(book, order(0, SELL, 50, 1, 1));
  place(book, order(0, BUY, 50, 1));
  assert.deepEqual(book.lastTrades(1), [undefined]);
  book.seed(SELL, 55, 2 * MICRO);
  const match = place(book, order(0, BUY, 60, 1));
  assert.equal(match.fills[0]?.maker.account, ANONYMOUS);
  assert(match.slack > 0);
  assert.deepEqual(book.lastTrades(0), [{ ticks: 55, side: BUY }]);
  assert.deepEqual(book.lastTrades(1), [undefined, { ticks: 45, side: BUY }]);
});

test(
  'a random stream conserves shares and collateral, never crosses, and mirrors exactly',
  seeded((random) => {
    const book = new NaiveBook(1000);
    const mirror = new NaiveBook(1000);
    let traded = 0;
    let resting = 0;
    for (let i = 0; i < 3000; i += 1) {
      const side = random.below(2) === 0 ? BUY : SELL;
      const slot = random.below(2);
      const ticks = 500 + random.between(-9, 9);
      const micro = 1 + random.below(5 * MICRO);
      const placed = { ...order(slot, side, ticks, 0, i), micro };
      const match = place(book, placed);
      const same = place(mirror, { ...placed, slot: 1 - slot });
      assert.deepEqual([same.micro, same.collateral], [match.micro, match.collateral]);
      const makers = match.fills.map((fill) => fill.makerCollateral);
      const takers = match.fills.map((fill, j) =>
        fill.crossToken === true ? fill.micro - (makers[j] ?? 0) : (makers[j] ?? 0),
      );
      assert.equal(
        match.collateral,
        takers.reduce((sum, leg) => sum + leg, 0),
      );
      traded += match.micro;
      resting += micro - 2 * match.micro;
      const sides = [book.levels(0, BUY), book.levels(0, SELL)] as const;
      const shown = sides.flat().reduce((sum, level) => sum + level.micro, 0);
      assert.equal(shown, resting);
      assert((sides[0].at(-1)?.ticks ?? 0) < (sides[1].at(-1)?.ticks ?? 1000));
      assert.deepEqual(book.levels(1, SELL), mirror.levels(0, SELL));
    }
    assert(traded > 0);
  }),
);

let nextId = 0;

function sent(token: LoadToken, side: Side, shares: number, type: 'GTC' | 'FOK'): SentOrder {
  const { ticksPerUnit } = token.market;
  const drawn = { ...order(token.slot, side, ticksPerUnit / 2, shares), token, type };
  nextId += 1;
  return { ...drawn, makerAmount: 0, takerAmount: 0, id: `0x${nextId}` };
}

function success(id: string, status: 'live' | 'matched', making = '', taking = ''): Answer {
  const amounts = { makingAmount: making, takingAmount: taking };
  return { success: true, errorMsg: '', orderID: id, ...amounts, status };
}

function known(id: string, status: 'live' | 'matched'): Answer {
  return { ...failure(DUPLICATED), orderID: id, status };
}

function failure(errorMsg: string): Answer {
  const nothing = { orderID: '', makingAmount: '', takingAmount: '' };
  return { success: false, errorMsg, ...nothing, status: 'error' };
}

test('answers that agree leave no difference, and every wrong field makes one', () => {
  const token = tokenOf(1000, 0);
  const ledger = new Ledger();
  const [rests, takes, killed] = [
    sent(token, SELL, 10, 'GTC'),
    sent(token, BUY, 4, 'FOK'),
    sent(token, BUY, 7, 'FOK'),
  ];
  const answers = [success(rests.id, 'live'), success(takes.id, 'matched', '2', '4')];
  ledger.settle([rests, takes, killed], [...answers, failure(NOT_FILLED)], 0);
  assert.deepEqual(ledger.differences, []);
  assert.deepEqual(ledger.counts.settled, 3);
  ledger.settle([sent(token, BUY, 1, 'GTC')], [success('0xother', 'live', '9', '1')], 0);
  assert.match(ledger.differences.join(), /orderID .*makingAmount 9, expected 0\.5; status live/s);
  ledger.settle([sent(token, BUY, 1, 'GTC')], [failure('engine on fire')], 0);
  ledger.settle([sent(token, BUY, 1, 'GTC')], [failure(DUPLICATED)], 0);
  ledger.settle([sent(token, BUY, 99, 'FOK')], [success(`0x${nextId}`, 'matched')], 0);
  ledger.settle([sent(token, BUY, 1, 'GTC')], [], 0);
  assert.equal(ledger.differences.length, 5);
});

test('duplicates after a lost answer are counted as accepted, and a killed FOK may fill then', () => {
  const token = tokenOf(100, 0);
  const ledger = new Ledger();
  const early = sent(token, BUY, 3, 'FOK');
  const late = sent(token, SELL, 5, 'GTC');
  ledger.settle(
    [early, late],
    [success(early.id, 'matched', '1.5', '3'), known(late.id, 'matched')],
    1,
  );
  assert.deepEqual(ledger.differences, []);
  assert.equal(ledger.counts.recovered, 1);
  assert.deepEqual(token.book.levels(0, SELL), [{ ticks: 50, micro: 2 * MICRO }]);

  const untouched = tokenOf(100, 0);
  const fresh = sent(untouched, SELL, 5, 'GTC');
  ledger.settle([fresh], [success(fresh.id, 'live')], 3);
  assert.deepEqual(ledger.differences, []);
  assert.equal(ledger.counts.recovered, 1);
});

test('an order that is accepted twice after a lost answer is a difference', () => {
  const token = tokenOf(100, 0);
  const ledger = new Ledger();
  const [one, two] = [sent(token, SELL, 5, 'GTC'), sent(token, SELL, 6, 'GTC')];
  ledger.settle([one, two], [known(one.id, 'live'), success(two.id, 'live')], 1);
  assert.match(ledger.differences.join(), /was taken before the answer was lost/);
});

test('the command line is read with its defaults, and mistakes are named', () => {
  const parsed = parseOptions(['--orders', '20', '--kill', '--import', 'a.json'], 17);
  assert(parsed.ok);
  const { orders, batch, kills, spawn, run, catalog } = parsed.options;
  assert.deepEqual([orders, batch, kills, spawn, run, catalog], [20, 15, 1, true, '17', 'a.json']);
  for (const [argv, problem] of [
    [['--orders', '0'], /--orders must be a whole number/],
    [['--nonsense'], /nonsense/],
    [['--url', 'https://there'], /--url must be an http/],
    [['--url', 'http://there', '--kill'], /exclude one another/],
    [['--data-dir', 'x'], /need --spawn/],
    [['--run', '007'], /--run/],
  ] as const) {
    const wrong = parseOptions(argv, 17);
    assert(!wrong.ok);
    assert.match(wrong.problem, problem);
  }
});
