import assert from 'node:assert/strict';
import test from 'node:test';
import { CommandBuffer, encodeCancelOwner } from '../../engine/commands.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import { Simulator } from '../../engine/simulator.ts';
import { ADDRESS_WORDS, EndReason } from '../../engine/tables/codes.ts';
import { Flag, ORDER_I, Order, State } from '../../engine/tables/layout.ts';
import type { MarketRow, OrderRow, TokenRow } from '../../engine/tables/units.ts';
import { withSeed } from '../common/random.ts';

const OWNER = 7;
const CAPACITIES = { orders: 4_096, history: 8_192, markets: 4, tokens: 8, accounts: 16 };

interface Part {
  readonly market?: MarketRow;
  readonly limit: number;
  readonly newest: number;
}

/** Cancels one part from `from` on; returns the beginning of the next part. */
function cancelPart(exchange: Simulator, time: number, from: OrderRow | 0, part: Part) {
  const { engine } = exchange;
  const signer = new Int32Array(ADDRESS_WORDS);
  signer[0] = 1;
  signer[ADDRESS_WORDS - 1] = OWNER;
  const out = new CommandBuffer(64);
  const { limit, market = 0, newest } = part;
  const at = encodeCancelOwner(out, { signer, market, token: 0, limit, from, newest });
  engine.begin(time, 0);
  const before = engine.t.state[State.closed]!;
  engine.apply(out.i32, out.f64, at);
  engine.end();
  const ended = engine.t.state[State.closed]! - before;
  assert(ended <= limit, 'no more than it may');
  return { ended, next: engine.context.nextOwned };
}

function canceledIds({ engine: { t } }: Simulator): number[] {
  const ids: number[] = [];
  for (let sequence = 0; sequence < t.state[State.closed]!; sequence++) {
    const row = closedOrder(t, sequence) << ORDER_I;
    const reason = (t.orderI[row + Order.flags]! >>> Flag.reasonShift) & 15;
    if (reason === EndReason.canceled) ids.push(t.orderI[row + Order.id + 7]!);
  }
  return ids.sort((a, b) => a - b);
}

function buy(exchange: Simulator, token: TokenRow, account = OWNER): number {
  const placed = exchange.place({ account, token, side: 'buy', ticks: 40, size: 1_000_000 });
  assert.equal(placed.reason, 0);
  return placed.order;
}

test('a cancel in parts reaches every order that the market had when it began', () => {
  const exchange = new Simulator(CAPACITIES);
  const [first] = exchange.addMarket();
  const [second] = exchange.addMarket();
  assert(first && second);
  exchange.at(1_000);
  const meant: number[] = [];
  for (let i = 0; i < 25; i++) {
    meant.push(buy(exchange, first));
    buy(exchange, second);
    buy(exchange, first, OWNER + 1);
  }
  exchange.at(1_001);
  const part = { market: 1 as MarketRow, limit: 7, newest: 1_000 };
  let from: OrderRow | 0 = 0;
  let commands = 0;
  do {
    ({ next: from } = cancelPart(exchange, 1_001, from, part));
    commands += 1;
    buy(exchange, first);
  } while (from !== 0);
  assert.equal(commands, Math.ceil(50 / 7));
  assert.deepEqual(canceledIds(exchange), meant);
});

test('a cancel in parts ends and leaves none of its orders when other orders end in between', () =>
  withSeed((random) => {
    const exchange = new Simulator(CAPACITIES);
    const [token] = exchange.addMarket();
    assert(token);
    exchange.at(1_000);
    const meant = Array.from({ length: 200 }, () => buy(exchange, token));
    exchange.at(1_001);
    const later: number[] = [];
    let from: OrderRow | 0 = 0;
    do {
      ({ next: from } = cancelPart(exchange, 1_001, from, { limit: 9, newest: 1_000 }));
      for (let i = random.below(4); i > 0; i--) exchange.cancel(random.pick(meant));
      for (let i = random.below(3); i > 0; i--) later.push(buy(exchange, token));
    } while (from !== 0);
    assert.deepEqual(canceledIds(exchange), meant);
    const { t } = exchange.engine;
    assert.equal(t.state[State.openOrders], later.length, 'what came later is left alone');
  }));
