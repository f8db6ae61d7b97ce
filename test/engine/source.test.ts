import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audit } from '../../engine/audit.ts';
import { SelfTrade } from '../../engine/context.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { fillCount, openOrders, tokenLastPrice } from '../../engine/reads.ts';
import { Simulator } from '../../engine/simulator.ts';
import type { TokenRow } from '../../engine/tables/units.ts';

const SHARE = 1_000_000;
const SMALL = {
  markets: 8,
  tokens: 16,
  accounts: 64,
  orders: 256,
  levels: 65_536,
  trades: 1_024,
  history: 256,
  positions: 256,
};

interface Venue {
  readonly exchange: Simulator;
  readonly yes: TokenRow;
  readonly no: TokenRow;
}

/** A funded source and two funded traders with shares. */
function venue({ cash = 1_000 * SHARE, baseFeeBps = 0 } = {}): Venue {
  const exchange = new Simulator(SMALL, { ledger: true });
  const [yes, no] = exchange.addMarket({ baseFeeBps }) as [TokenRow, TokenRow];
  assert.equal(exchange.deposit('source', cash), RejectReason.accepted);
  for (const trader of [1, 2]) {
    exchange.deposit(trader, 1_000 * SHARE);
    exchange.split(trader, yes, 100 * SHARE);
  }
  return { exchange, yes, no };
}

function check({ exchange }: Venue): void {
  audit(exchange.engine.t);
}

test('a source level rests in both books of its market, and reserves its possible cost', () => {
  const v = venue();
  const { exchange, no, yes } = v;
  exchange.setLevel({ token: yes, side: 'buy', pips: 4_000, size: 10 * SHARE });
  exchange.setLevel({ token: yes, side: 'sell', pips: 6_000, size: 5 * SHARE });
  assert.deepEqual(exchange.book(yes), { bids: [[40, 10 * SHARE]], asks: [[60, 5 * SHARE]] });
  assert.deepEqual(exchange.book(no), { bids: [[40, 5 * SHARE]], asks: [[60, 10 * SHARE]] });
  assert.equal(exchange.cash('source').reserved, 4 * SHARE + 2 * SHARE);
  assert.equal(openOrders(exchange.engine.t), 0);
  check(v);
});

test('a source level of the second outcome rests at the complement price of the first', () => {
  const v = venue();
  const { exchange, no, yes } = v;
  exchange.setLevel({ token: no, side: 'sell', pips: 6_000, size: 10 * SHARE });
  assert.deepEqual(exchange.book(yes).bids, [[40, 10 * SHARE]]);
  exchange.setLevel({ token: yes, side: 'buy', pips: 4_000, size: 3 * SHARE });
  assert.deepEqual(exchange.book(yes).bids, [[40, 3 * SHARE]]);
  check(v);
});

test('a source level keeps its queue position among paper orders while its size changes, and loses it at zero', () => {
  const v = venue();
  const { exchange, yes } = v;
  const level = { token: yes, side: 'buy', pips: 4_000 } as const;
  exchange.setLevel({ ...level, size: 10 * SHARE });
  const own = exchange.place({ account: 1, token: yes, side: 'buy', ticks: 40, size: 5 * SHARE });
  exchange.setLevel({ ...level, size: 20 * SHARE });
  exchange.place({ account: 2, token: yes, side: 'sell', ticks: 40, size: 20 * SHARE });
  assert.equal(exchange.remaining(own.order), 5 * SHARE);
  exchange.setLevel({ ...level, size: 10 * SHARE });
  exchange.setLevel({ ...level, size: 0 });
  exchange.setLevel({ ...level, size: 10 * SHARE });
  exchange.place({ account: 2, token: yes, side: 'sell', ticks: 40, size: 5 * SHARE });
  assert.equal(exchange.remaining(own.order), 0);
  assert.deepEqual(exchange.book(yes).bids, [[40, 10 * SHARE]]);
  check(v);
});

test('the reserved account pays for size that a paper order takes', () => {
  const v = venue({ baseFeeBps: 100 });
  const { exchange, no, yes } = v;
  exchange.setLevel({ token: yes, side: 'sell', pips: 6_000, size: 10 * SHARE });
  const bought = exchange.place({
    account: 1,
    token: yes,
    side: 'buy',
    ticks: 60,
    size: 4 * SHARE,
  });
  assert.equal(bought.making, 2.4 * SHARE);
  assert.deepEqual(exchange.book(yes).asks, [[60, 6 * SHARE]]);
  assert.deepEqual(exchange.position('source', no), { total: 4 * SHARE, reserved: 0 });
  assert.deepEqual(exchange.cash('source'), { total: 998.4 * SHARE, reserved: 2.4 * SHARE });
  const [fill] = exchange.fills();
  assert.deepEqual([fill?.maker, fill?.size], [0, 4 * SHARE]);
  exchange.place({ account: 1, token: yes, side: 'buy', ticks: 60, size: 6 * SHARE });
  assert.deepEqual(exchange.book(yes).asks, []);
  check(v);
});

test('a source level that crosses paper orders trades with them first, and its rest stays', () => {
  const v = venue();
  const { exchange, no, yes } = v;
  const best = exchange.place({ account: 1, token: yes, side: 'sell', ticks: 50, size: 4 * SHARE });
  const next = exchange.place({ account: 2, token: no, side: 'buy', ticks: 48, size: 3 * SHARE });
  const worse = exchange.place({ account: 1, token: yes, side: 'sell', ticks: 56, size: SHARE });
  exchange.setLevel({ token: yes, side: 'buy', pips: 5_500, size: 10 * SHARE });
  assert.deepEqual(
    exchange.fills().map(({ maker, size, takerPips }) => [maker, size, takerPips]),
    [
      [best.order, 4 * SHARE, 5_000],
      [next.order, 3 * SHARE, 5_200],
    ],
  );
  assert.deepEqual(exchange.book(yes), { bids: [[55, 3 * SHARE]], asks: [[56, SHARE]] });
  assert.equal(exchange.remaining(worse.order), SHARE);
  assert.equal(exchange.position('source', yes).total, 7 * SHARE);
  check(v);
});

test('a source level that paper orders fill completely does not rest, under every self-trade policy', () => {
  for (const policy of Object.values(SelfTrade)) {
    const v = venue();
    const { exchange, yes } = v;
    exchange.setSelfTrade(policy);
    exchange.place({ account: 1, token: yes, side: 'sell', ticks: 50, size: 4 * SHARE });
    exchange.setLevel({ token: yes, side: 'buy', pips: 5_500, size: 3 * SHARE });
    assert.deepEqual(exchange.book(yes), { bids: [], asks: [[50, SHARE]] });
    check(v);
  }
});

test('a source level that would match another one is refused and changes nothing', () => {
  const v = venue();
  const { exchange, yes } = v;
  exchange.setLevel({ token: yes, side: 'sell', pips: 6_000, size: 5 * SHARE });
  exchange.place({ account: 1, token: yes, side: 'sell', ticks: 50, size: 4 * SHARE });
  const before = exchange.book(yes);
  const crossed = exchange.setLevel({ token: yes, side: 'buy', pips: 6_000, size: SHARE });
  assert.equal(crossed, RejectReason.sourceCrossed);
  assert.deepEqual(exchange.book(yes), before);
  assert.equal(fillCount(exchange.engine.t), 0);
  check(v);
});

test('a source level that the reserved account cannot pay is refused, a smaller one is not', () => {
  const v = venue({ cash: 4 * SHARE });
  const { exchange, yes } = v;
  const level = { token: yes, side: 'buy', pips: 4_000 } as const;
  assert.equal(exchange.setLevel({ ...level, size: 10 * SHARE }), RejectReason.accepted);
  assert.equal(exchange.setLevel({ ...level, size: 11 * SHARE }), RejectReason.notEnough);
  assert.deepEqual(exchange.book(yes).bids, [[40, 10 * SHARE]]);
  const other = { token: yes, side: 'buy', pips: 3_900, size: SHARE } as const;
  assert.equal(exchange.setLevel(other), RejectReason.notEnough);
  assert.equal(exchange.setLevel({ ...level, size: 0 }), RejectReason.accepted);
  assert.equal(exchange.setLevel(other), RejectReason.accepted);
  check(v);
});

test('sizes of source levels may be any whole number, also below the minimum of an order', () => {
  const v = venue();
  const { exchange, yes } = v;
  exchange.setLevel({ token: yes, side: 'buy', pips: 4_100, size: 7 });
  assert.deepEqual(exchange.book(yes).bids, [[41, 7]]);
  assert.equal(exchange.cash('source').reserved, 3);
  const half = exchange.setLevel({ token: yes, side: 'buy', pips: 4_100, size: 0.5 });
  assert.equal(half, RejectReason.amountInvalid);
  const offGrid = exchange.setLevel({ token: yes, side: 'buy', pips: 4_150, size: 7 });
  assert.equal(offGrid, RejectReason.tick);
  check(v);
});

test('a source fill matches the named order at its own price, past any orders before it', () => {
  const v = venue();
  const { exchange, no, yes } = v;
  const ahead = exchange.place({ account: 2, token: yes, side: 'buy', ticks: 45, size: SHARE });
  const buy = exchange.place({ account: 1, token: yes, side: 'buy', ticks: 40, size: 5 * SHARE });
  const sell = exchange.place({ account: 1, token: yes, side: 'sell', ticks: 70, size: 2 * SHARE });
  assert.equal(exchange.fill(buy.order, 2 * SHARE), RejectReason.accepted);
  assert.equal(exchange.remaining(buy.order), 3 * SHARE);
  assert.equal(exchange.remaining(ahead.order), SHARE);
  assert.equal(exchange.fill(sell.order, 9 * SHARE), RejectReason.accepted);
  assert.equal(exchange.remaining(sell.order), 0);
  assert.equal(exchange.position('source', no).total, 2 * SHARE);
  assert.equal(exchange.position('source', yes).total, 2 * SHARE);
  assert.deepEqual(
    exchange.fills().map(({ maker, makerPips, size, taker }) => [taker, maker, size, makerPips]),
    [
      [0, buy.order, 2 * SHARE, 4_000],
      [0, sell.order, 2 * SHARE, 7_000],
    ],
  );
  assert.equal(exchange.fill(sell.order, SHARE), RejectReason.orderNotFound);
  check(v);
});

test('a fill that the reserved account cannot pay changes nothing', () => {
  const v = venue({ cash: SHARE });
  const { exchange, yes } = v;
  const buy = exchange.place({ account: 1, token: yes, side: 'buy', ticks: 40, size: 5 * SHARE });
  assert.equal(exchange.fill(buy.order, 2 * SHARE), RejectReason.notEnough);
  assert.equal(exchange.remaining(buy.order), 5 * SHARE);
  assert.equal(exchange.fill(buy.order, SHARE), RejectReason.accepted);
  check(v);
});

test('a print moves the last price and no money', () => {
  const v = venue();
  const { exchange, yes } = v;
  const before = exchange.cash('source');
  exchange.print({ token: yes, side: 'sell', pips: 4_200, size: 3 * SHARE });
  assert.equal(tokenLastPrice(exchange.engine.t, yes), 4_200);
  assert.deepEqual(exchange.cash('source'), before);
  assert.deepEqual(
    exchange.fills().map(({ maker, size, taker, takerPips }) => [taker, maker, size, takerPips]),
    [[0, 0, 3 * SHARE, 4_200]],
  );
  check(v);
});

test('the commands need a ledger and a market of two outcomes', () => {
  const plain = new Simulator(SMALL);
  const [token] = plain.addMarket() as [TokenRow];
  const level = { token, side: 'buy', pips: 4_000, size: SHARE } as const;
  assert.equal(plain.setLevel(level), RejectReason.ledgerOff);
  assert.equal(plain.print(level), RejectReason.ledgerOff);
  const { exchange } = venue();
  const [first] = exchange.addMarket({ outcomes: 3 }) as [TokenRow];
  assert.equal(exchange.setLevel({ ...level, token: first }), RejectReason.notBinary);
  const order = exchange.place({ account: 1, token: first, side: 'buy', ticks: 40, size: SHARE });
  assert.equal(exchange.fill(order.order, SHARE), RejectReason.notBinary);
  const unknown = exchange.setLevel({ ...level, token: 99 as TokenRow });
  assert.equal(unknown, RejectReason.tokenUnknown);
});

test('source levels end with a coarser tick and with their market, and leave no closed order', () => {
  const v = venue();
  const { exchange, yes } = v;
  exchange.setTick(yes, 1_000);
  exchange.setLevel({ token: yes, side: 'buy', pips: 4_010, size: SHARE });
  exchange.setLevel({ token: yes, side: 'buy', pips: 4_000, size: SHARE });
  exchange.setTick(yes, 100);
  assert.deepEqual(exchange.book(yes).bids, [[40, SHARE]]);
  check(v);
  exchange.setLevel({ token: yes, side: 'buy', pips: 4_000, size: 2 * SHARE });
  assert.deepEqual(exchange.book(yes).bids, [[40, 2 * SHARE]]);
  exchange.resolve(yes, [1, 0]);
  assert.deepEqual(exchange.book(yes).bids, []);
  assert.equal(exchange.cash('source').reserved, 0);
  check(v);
  const late = { token: yes, side: 'buy', pips: 4_000 } as const;
  assert.equal(exchange.setLevel({ ...late, size: SHARE }), RejectReason.marketNotReady);
  assert.equal(exchange.setLevel({ ...late, size: 0 }), RejectReason.accepted);
});

test('rows of source levels are reused: more come and go than the table has', () => {
  const v = venue();
  const { exchange, yes } = v;
  for (let round = 0; round < 2_000; round++) {
    const level = { token: yes, side: 'buy', pips: 100 * (1 + (round % 99)) } as const;
    assert.equal(exchange.setLevel({ ...level, size: SHARE }), RejectReason.accepted);
    if (round % 100 === 99) check(v);
    assert.equal(exchange.setLevel({ ...level, size: 0 }), RejectReason.accepted);
  }
  check(v);
});
