import assert from 'node:assert/strict';
import test from 'node:test';
import { Simulator } from '../../engine/simulator.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { OwnedRequest } from '../../server/orders/exchange-memory/slot-requests.ts';
import type { OrderIntake } from '../../server/orders/intake/order-intake.ts';
import { DelayedQueues } from '../../server/paper/delayed-queues.ts';
import { recordedPayout } from '../../storage/catalog/payout.ts';
import { until } from '../common/node-harness.ts';

test('a market is paid only when its source says what it pays', () => {
  const closed = { closed: true };
  const resolved = { closed: true, umaResolutionStatus: 'resolved' };
  const paidBy = (market: object, ...outcomePrices: string[]) =>
    recordedPayout({ ...market, outcomePrices });
  assert.deepEqual(paidBy(closed, '0', '1'), [0, 1]);
  assert.deepEqual(paidBy(resolved, '1.0', '0'), [1, 0]);
  assert.equal(paidBy(resolved, '0.5', '0.5'), 'void');
  assert.equal(paidBy({}, '0', '1'), undefined);
  assert.equal(paidBy(closed, '0.5', '0.5'), undefined);
  assert.equal(paidBy(closed, '0.9995', '0.0005'), undefined);
  assert.equal(paidBy({ closed: true, umaResolutionStatus: 'proposed' }, '0', '1'), undefined);
  for (const prices of [['0', '0'], ['1', 'x'], ['1'], []])
    assert.equal(paidBy(resolved, ...prices), undefined, prices.join());
});

test('a payout of parts is accepted by the ledger', () => {
  for (const [prices, weights] of [
    [
      ['0.25', '0.75'],
      [2_500, 7_500],
    ],
    [
      ['0.333333', '0.666667'],
      [3_333, 6_667],
    ],
    [
      ['0.000001', '0.999999', '0'],
      [0, 10_000, 0],
    ],
  ] as const) {
    const outcomePrices = [...prices];
    const market = { closed: true, umaResolutionStatus: 'resolved', outcomePrices };
    assert.deepEqual(recordedPayout(market), weights);
  }
  const exchange = new Simulator({}, { ledger: true });
  const [yes = 0 as TokenRow, no = 0 as TokenRow] = exchange.addMarket();
  for (const account of [1, 2]) exchange.deposit(account, 100_000_000);
  exchange.split(1, yes, 100_000_000);
  const order = { token: no, ticks: 50, size: 10_000_000 } as const;
  exchange.place({ ...order, account: 1, side: 'sell' });
  exchange.place({ ...order, account: 2, side: 'buy' });
  const outcomePrices = ['0.25', '0.75'];
  const weights = recordedPayout({ closed: true, umaResolutionStatus: 'resolved', outcomePrices });
  assert.equal(exchange.resolve(yes, weights as number[]), 0);
  assert.equal(exchange.cash(2).total, 100_000_000 - 5_000_000 + 7_500_000);
});

test('delayed requests arrive in order, and too many of them are refused', async () => {
  const arrived: number[] = [];
  const refused: number[] = [];
  const lines: OrderIntake = {
    waiting: 0,
    submit: ({ body }) => void arrived.push(body[0]!),
    resume: () => undefined,
  };
  const delayed = new DelayedQueues(lines, 30, 3);
  for (const number of [1, 2, 3, 4]) {
    const answered = (status: number): void => {
      assert.equal(status, 503);
      refused.push(number);
    };
    delayed.submit({ body: Uint8Array.of(number), answered } as unknown as OwnedRequest);
  }
  assert.deepEqual([arrived, refused, delayed.waiting], [[], [4], 3]);
  await until(() => arrived.length === 3);
  assert.deepEqual([arrived, delayed.waiting], [[1, 2, 3], 0]);
});
