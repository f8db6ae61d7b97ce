/** Previews of orders against their execution, and sizes of amounts against a naive search. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { SelfTrade } from '../../engine/context.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import {
  FacingOrders,
  PREVIEW_LEVELS_MAX,
  PREVIEW_ORDERS_MAX,
  readFacing,
  readTerms,
  type Ticket,
} from '../../engine/orders/facing-orders.ts';
import { readPayer } from '../../engine/orders/payer.ts';
import { type Preview, previewOrder } from '../../engine/orders/preview.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import {
  fillFeeCollateral,
  fillFeeShares,
  fillMaker,
  fillRow,
  fillTakerCollateral,
} from '../../engine/reads.ts';
import { type SimulatedMarket, Simulator } from '../../engine/simulator.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import { BOOK_I, Book, State, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import { type AccountRow, MICRO, TICK_GRIDS, type TokenRow } from '../../engine/tables/units.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';

const TYPES = ['GTC', 'FOK', 'FAK'] as const;
type Type = (typeof TYPES)[number];

const book = new FacingOrders();

interface Asked {
  readonly token: TokenRow;
  readonly side: 'buy' | 'sell';
  readonly type: Type;
  readonly price?: number | undefined;
  readonly shares?: number | undefined;
  readonly amount?: number | undefined;
  readonly postOnly?: boolean;
}

function ticketOf({ amount, postOnly = false, price, shares, side, token, type }: Asked): Ticket {
  return {
    token,
    isBuy: side === 'buy',
    isImmediate: type !== 'GTC',
    isWhole: type === 'FOK',
    postOnly,
    isExpired: false,
    price,
    shares,
    amount,
  };
}

/** Words of the address of a simulated account. */
function rowOf({ engine }: Simulator, account: number): AccountRow | 0 {
  const words = new Int32Array(ADDRESS_WORDS);
  words[0] = 1;
  words[ADDRESS_WORDS - 1] = account;
  return findAccount(engine.t, words, 0);
}

function read({ engine }: Simulator, ticket: Ticket, account: AccountRow | 0): boolean {
  readTerms(engine.t, ticket, book);
  return readFacing(engine.t, ticket, account, 0, book);
}

function preview(exchange: Simulator, account: number, asked: Asked): Preview {
  const row = account === 0 ? 0 : rowOf(exchange, account);
  assert(read(exchange, ticketOf(asked), row), 'nobody writes');
  const { t } = exchange.engine;
  const payer = account === 0 ? undefined : readPayer(t, row, row, true, asked.token, 0, 0);
  return previewOrder(ticketOf(asked), book, payer);
}

/** Market with random terms, and four accounts with money and shares of each outcome. */
function marketOf(random: Random, exchange: Simulator): TokenRow[] {
  const ticksPerUnit = random.pick(TICK_GRIDS);
  const fees = { rate: random.between(1, 100_000), exponent: random.between(1, 3), rebate: 0 };
  const terms: SimulatedMarket = {
    ticksPerUnit,
    outcomes: random.chance(80) ? 2 : 3,
    minSize: random.chance(50) ? 1 : 2 * MICRO,
    ...(random.chance(40) ? { fees } : { baseFeeBps: random.pick([0, 1, 200, 1_000]) }),
  };
  const tokens = exchange.addMarket(terms);
  for (const account of [1, 2, 3, 4]) {
    exchange.deposit(account, random.between(50, 20_000) * MICRO);
    exchange.split(account, tokens[0]!, random.between(0, 50) * MICRO + random.below(MICRO));
  }
  return tokens;
}

function gridOf(exchange: Simulator, token: TokenRow): number {
  const { bookI, tokenI } = exchange.engine.t;
  return bookI[(tokenI[(token << TOKEN_I) + Token.book]! << BOOK_I) + Book.ticksPerUnit]!;
}

/** Shares of two decimals, of six, or tiny ones. */
function sizeOf(random: Random): number {
  const kind = random.below(10);
  if (kind === 0) return random.between(1, 5_000);
  return kind < 5 ? random.between(1, 4_000) * 10_000 : random.between(1, 40 * MICRO);
}

function rest(random: Random, exchange: Simulator, tokens: readonly TokenRow[]): void {
  const token = random.pick(tokens);
  const grid = gridOf(exchange, token);
  exchange.place({
    account: random.between(1, 4),
    token,
    side: random.pick(['buy', 'sell']),
    ticks: random.between(1, grid - 1),
    size: random.between(1, 2_000) * 10_000,
    postOnly: true,
  });
}

function askedOf(random: Random, exchange: Simulator, tokens: readonly TokenRow[]): Asked {
  const token = random.pick(tokens);
  const grid = gridOf(exchange, token);
  const type = random.pick(TYPES);
  const isPriced = type === 'GTC' || random.chance(50);
  const exact = Math.round((random.between(1, grid - 1) * MICRO) / grid);
  const price = random.chance(90) ? exact : random.between(0, MICRO);
  return {
    token,
    side: random.pick(['buy', 'sell']),
    type,
    price: isPriced ? price : undefined,
    ...(random.chance(50) ? { shares: sizeOf(random) } : { amount: sizeOf(random) }),
    postOnly: random.chance(10),
  };
}

/** Places what a preview says has to be signed, and compares everything that the ledger then has. */
function compare(exchange: Simulator, account: number, asked: Asked, seen: Preview): void {
  const { t } = exchange.engine;
  const { side, token, type } = asked;
  const before = { cash: exchange.cash(account), shares: exchange.position(account, token) };
  const first = t.state[State.fills]!;
  const { order, reason } = exchange.place({
    account,
    token,
    side,
    type,
    ticks: seen.ticks,
    size: seen.shares,
    postOnly: asked.postOnly ?? false,
  });
  assert.equal(reason, seen.reason, 'the reason');
  if (reason !== RejectReason.accepted) return;
  const fills = exchange.fills(first);
  const rows = fills.map(({ sequence }) => fillRow(t, sequence));
  const sum = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  const filled = fills.reduce((total, { size }) => total + size, 0);
  assert.equal(filled, seen.filled, 'the filled shares');
  assert.equal(fills.length, seen.orders, 'the orders met');
  assert.equal(
    sum((row) => fillTakerCollateral(t, row)),
    seen.cost,
    'the cost',
  );
  assert.equal(
    sum((row) => fillFeeCollateral(t, row)),
    seen.fee,
    'the fee in collateral',
  );
  assert.equal(
    sum((row) => fillFeeShares(t, row)),
    seen.feeShares,
    'the fee in shares',
  );
  assert.equal(exchange.remaining(order), seen.rests, 'the rest');
  const worst = fills.at(-1)?.takerPips ?? 0;
  assert.equal(worst, seen.worst * (10_000 / gridOf(exchange, token)), 'the worst price');
  if (rows.some((row) => fillMaker(t, row) === rowOf(exchange, account))) return;
  const cash = exchange.cash(account).total - before.cash.total;
  const shares = exchange.position(account, token).total - before.shares.total;
  const isBuy = side === 'buy';
  assert.equal(cash, isBuy ? 0 - seen.cost - seen.fee : seen.cost - seen.fee, 'the cash');
  assert.equal(shares, isBuy ? seen.filled - seen.feeShares : 0 - seen.filled, 'the shares');
  if (isBuy && asked.amount !== undefined) {
    const spent = before.cash.total - exchange.cash(account).total;
    const reserved = exchange.cash(account).reserved - before.cash.reserved;
    assert(spent + Math.max(0, reserved) <= asked.amount, 'never more than the amount');
  }
}

for (const [name, policy] of Object.entries(SelfTrade)) {
  test(`a preview equals the execution to the micro-unit, with ${name}`, () =>
    withSeed((random) => {
      const reasons = new Set<number>();
      let matched = 0;
      const exchange = new Simulator(SMALL, { ledger: true });
      exchange.setSelfTrade(policy);
      for (let round = 0; round < rounds(30); round++) {
        const tokens = marketOf(random, exchange);
        for (let i = random.between(0, 60); i > 0; i--) rest(random, exchange, tokens);
        for (let i = 0; i < 30; i++) {
          const asked = askedOf(random, exchange, tokens);
          // With allow an account may trade with itself, and then moves no cash.
          const account = policy === SelfTrade.allow ? 5 : random.between(1, 5);
          if (account === 5 && random.chance(20))
            exchange.deposit(5, random.between(1, 60) * MICRO);
          const seen = preview(exchange, account, asked);
          if (asked.shares !== undefined) assert(seen.shares <= asked.shares);
          reasons.add(seen.reason);
          if (seen.ticks === 0) {
            assert.notEqual(seen.reason, RejectReason.accepted);
            continue;
          }
          if (seen.shares === 0) {
            assert.equal(
              seen.reason,
              asked.postOnly === true && asked.type !== 'GTC'
                ? RejectReason.postOnlyType
                : RejectReason.amountsNotPositive,
            );
            continue;
          }
          if (seen.collateral === 0 || (asked.postOnly === true && asked.type !== 'GTC')) continue;
          if (seen.orders > 0) matched += 1;
          compare(exchange, account, asked, seen);
          if (random.chance(30)) rest(random, exchange, tokens);
        }
      }
      assert(matched > 50, `${matched} tickets met orders`);
      for (const reason of [
        RejectReason.accepted,
        RejectReason.fokUnfilled,
        RejectReason.notEnough,
      ])
        assert(reasons.has(reason), `reason ${reason} was met`);
    }));
}

const SMALL = {
  markets: 256,
  tokens: 1_024,
  accounts: 16,
  orders: 16_384,
  levels: 2 ** 22,
  trades: 16_384,
  history: 16_384,
  positions: 8_192,
  operatorIds: 16,
};

/**
 * Most shares, in hundredths, that an amount surely pays and the book fills, over all limits; all or nothing, over the
 * prices of the book.
 */
function naivePurchase(exchange: Simulator, asked: Asked): number {
  const grid = gridOf(exchange, asked.token);
  const offered = new Set(exchange.book(asked.token).asks.map(([ticks]) => ticks));
  let best = 0;
  for (let limit = 1; limit < grid; limit++) {
    const price = Math.round((limit * MICRO) / grid);
    const { filled, shares } = preview(exchange, 0, { ...asked, price });
    if (asked.type === 'FOK' && (filled < shares || !offered.has(limit))) continue;
    best = Math.max(best, filled);
  }
  return best;
}

test('an amount without a price buys as much as at the best of all limits', () =>
  withSeed((random) => {
    const exchange = new Simulator(SMALL, { ledger: true });
    for (let round = 0; round < rounds(24); round++) {
      const tokens = marketOf(random, exchange);
      for (let i = random.between(1, 30); i > 0; i--) rest(random, exchange, tokens);
      const type = random.pick(['FOK', 'FAK'] as const);
      const amount = random.between(1, 3_000) * 10_000;
      const asked = { token: tokens[0]!, side: 'buy', type, amount } as const;
      if (gridOf(exchange, asked.token) > 400) continue;
      const seen = preview(exchange, 0, asked);
      const isFilled = type === 'FAK' || seen.filled === seen.shares;
      assert.equal(isFilled ? seen.filled : 0, naivePurchase(exchange, asked));
      assert(seen.needed <= amount);
    }
  }));

test('the shares of an amount are the most that it pays, with the largest fee', () => {
  const exchange = new Simulator(SMALL, { ledger: true });
  const [yes = 0 as TokenRow] = exchange.addMarket({
    fees: { rate: 50_000, exponent: 1, rebate: 0 },
  });
  exchange.deposit(1, 100 * MICRO);
  exchange.split(1, yes, 100 * MICRO);
  exchange.place({ account: 1, token: yes, side: 'sell', ticks: 50, size: 100 * MICRO });
  const seen = preview(exchange, 0, { token: yes, side: 'buy', type: 'FAK', amount: 10 * MICRO });
  // 0.5 a share, and 0.05 x 0.25 of fee.
  assert.deepEqual([seen.shares, seen.cost, seen.fee], [19_510_000, 9_755_000, 243_870]);
  const sold = { token: yes, side: 'sell', type: 'FAK', amount: 10 * MICRO } as const;
  exchange.deposit(2, 100 * MICRO);
  exchange.place({ account: 2, token: yes, side: 'buy', ticks: 40, size: 50 * MICRO });
  const sale = preview(exchange, 0, sold);
  assert.deepEqual([sale.shares, sale.cost, sale.fee], [25_770_000, 10_308_000, 309_240]);
});

test('a walk ends at its bound of levels, and at its bound of orders', () => {
  const exchange = new Simulator(SMALL);
  const [deep = 0 as TokenRow] = exchange.addMarket({ ticksPerUnit: 10_000 });
  const [long = 0 as TokenRow] = exchange.addMarket();
  for (let i = 0; i <= PREVIEW_LEVELS_MAX; i++)
    exchange.place({ account: 1, token: deep, side: 'sell', ticks: 5_000 + i, size: 10_000 });
  for (let i = 0; i <= PREVIEW_ORDERS_MAX; i++)
    exchange.place({ account: 1, token: long, side: 'sell', ticks: 50, size: 100 });
  const shares = 1_000 * MICRO;
  const seen = preview(exchange, 0, { token: deep, side: 'buy', type: 'FAK', shares });
  assert.deepEqual([book.isCut, seen.levels, seen.filled], [true, PREVIEW_LEVELS_MAX, 10 * MICRO]);
  assert.equal(seen.reason, RejectReason.accepted);
  const whole = preview(exchange, 0, { token: long, side: 'buy', type: 'FOK', shares });
  assert.deepEqual([book.isCut, whole.orders], [true, PREVIEW_ORDERS_MAX]);
  assert.equal(whole.reason, RejectReason.accepted);
  const few = preview(exchange, 0, { token: long, side: 'buy', type: 'FOK', shares: 100 });
  assert.deepEqual([book.isCut, few.orders], [false, 1]);
});

test('a book that is being written is not read', () => {
  const exchange = new Simulator(SMALL);
  const [yes = 0 as TokenRow] = exchange.addMarket();
  const { bookI, tokenI } = exchange.engine.t;
  const ticket = ticketOf({ token: yes, side: 'buy', type: 'FAK', shares: MICRO });
  const version = (tokenI[(yes << TOKEN_I) + Token.book]! << BOOK_I) + Book.version;
  bookI[version]! += 1;
  assert.equal(read(exchange, ticket, 0), false, 'a writer is inside');
  bookI[version]! += 1;
  assert.equal(read(exchange, ticket, 0), true, 'and left');
  bookI[version]! += 2;
  assert.equal(readFacing(exchange.engine.t, ticket, 0, 0, book), false, 'its terms are older');
});
