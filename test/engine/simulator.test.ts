import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { SelfTrade } from '../../engine/context.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { Simulator } from '../../engine/simulator.ts';
import type { TokenRow } from '../../engine/tables/units.ts';

const SMALL = {
  markets: 16,
  tokens: 64,
  accounts: 64,
  orders: 256,
  levels: 4096,
  trades: 1024,
  history: 64,
};
const SHARE = 1_000_000;

test('the ten lines of engine/README.md give their documented output', () => {
  const exchange = new Simulator(SMALL);
  const [yes, no] = exchange.addMarket({ ticksPerUnit: 100 }) as [TokenRow, TokenRow];
  exchange.place({ account: 1, token: no, side: 'buy', ticks: 40, size: 50 * SHARE });
  const taken = exchange.place({
    account: 2,
    token: yes,
    side: 'buy',
    ticks: 65,
    size: 50 * SHARE,
  });
  assert.deepEqual(taken, {
    reason: RejectReason.accepted,
    order: 2,
    making: 30 * SHARE,
    taking: 50 * SHARE,
  });
  assert.deepEqual(exchange.book(yes), { bids: [], asks: [] });
  const [fill] = exchange.fills();
  assert.equal(fill?.takerPips, 6_000);
  assert.equal(fill?.makerPips, 4_000);
  assert.deepEqual([fill?.taker, fill?.maker, fill?.size], [2, 1, 50 * SHARE]);
  audit(exchange.engine.t);
});

test('a bid for one outcome shows as an offer of the other', () => {
  const exchange = new Simulator(SMALL);
  const [yes, no] = exchange.addMarket() as [TokenRow, TokenRow];
  exchange.place({ account: 1, token: yes, side: 'buy', ticks: 30, size: 7 * SHARE });
  exchange.place({ account: 1, token: yes, side: 'buy', ticks: 31, size: 5 * SHARE });
  assert.deepEqual(exchange.book(yes).bids, [
    [30, 7 * SHARE],
    [31, 5 * SHARE],
  ]);
  assert.deepEqual(exchange.book(no).asks, [
    [70, 7 * SHARE],
    [69, 5 * SHARE],
  ]);
});

test('cancels, expiry, policies and ticks work as in a node', () => {
  const exchange = new Simulator(SMALL);
  const [yes] = exchange.addMarket({ outcomes: 3, ticksPerUnit: 10 }) as [TokenRow];
  const order = { account: 1, token: yes, side: 'sell', ticks: 6, size: 10 * SHARE } as const;
  const resting = exchange.place(order);
  assert.equal(exchange.cancel(resting.order), RejectReason.accepted);
  assert.equal(exchange.cancel(resting.order), RejectReason.orderNotFound);
  exchange.place({ ...order, type: 'GTD', expiration: 100 });
  exchange.at(99_999);
  assert.equal(exchange.book(yes).asks.length, 1);
  exchange.at(100_000);
  assert.equal(exchange.book(yes).asks.length, 0);
  exchange.setSelfTrade(SelfTrade.cancelTaker);
  exchange.place(order);
  assert.equal(
    exchange.place({ ...order, side: 'buy', type: 'FAK' }).reason,
    RejectReason.selfTrade,
  );
  assert.equal(exchange.setTick(yes, 100), RejectReason.accepted);
  assert.deepEqual(exchange.book(yes).asks, [[60, 10 * SHARE]]);
  exchange.cancelAll(1);
  assert.deepEqual(exchange.book(yes).asks, []);
  audit(exchange.engine.t);
});

test('with a ledger deposits have ids, and fees of the venue are paid out', () => {
  const exchange = new Simulator({ ...SMALL, positions: 64, operatorIds: 2 }, { ledger: true });
  const [yes] = exchange.addMarket({ baseFeeBps: 200 }) as [TokenRow];
  assert.equal(exchange.deposit(1, 20 * SHARE, 7), RejectReason.accepted);
  assert.equal(exchange.deposit(1, 20 * SHARE, 7), RejectReason.idRepeated);
  assert.equal(exchange.deposit(1, 10 * SHARE, 7), RejectReason.idConflict);
  assert.equal(exchange.deposit(2, 20 * SHARE, 8), RejectReason.accepted);
  assert.equal(exchange.deposit(2, 20 * SHARE, 9), RejectReason.idsFull);
  exchange.split(1, yes, 10 * SHARE);
  exchange.place({ account: 2, token: yes, side: 'buy', ticks: 50, size: 10 * SHARE });
  exchange.place({ account: 1, token: yes, side: 'sell', ticks: 50, size: 10 * SHARE });
  assert.equal(exchange.fees(), 100_000);
  assert.equal(exchange.payFees(3, 60_000), RejectReason.accepted);
  assert.equal(exchange.drawFees(40_001), RejectReason.notEnough);
  assert.equal(exchange.drawFees(40_000), RejectReason.accepted);
  assert.deepEqual([exchange.fees(), exchange.cash(3).total], [0, 60_000]);
  audit(exchange.engine.t);
});
