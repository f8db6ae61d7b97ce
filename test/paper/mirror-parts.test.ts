/** Payouts of a source, and the delay of a network. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { OrderTaker } from '../../server/orders/order-taker.ts';
import type { OwnedRequest } from '../../server/orders/slot-requests.ts';
import { DelayedLines } from '../../server/paper/delayed-lines.ts';
import { type Payout, Settlements } from '../../server/paper/settlements.ts';
import type { SourceMarket } from '../../server/paper/source-api.ts';
import { until } from '../common/node-harness.ts';

const OPEN = {
  ...{ condition: '0x1', event: '1', tokens: ['1', '2'], isClosed: false, isResolved: undefined },
};

async function paidBy(market: Partial<SourceMarket>): Promise<Payout | 'nothing'> {
  let paid: Payout | 'nothing' = 'nothing';
  const settlements = new Settlements({
    api: { marketsBy: async () => [{ ...OPEN, prices: [], ...market }] },
    isSettled: () => paid !== 'nothing',
    unsettled: () => ['0x1'],
    onClosed: () => undefined,
    async resolve(_market, payout) {
      paid = payout;
      return undefined;
    },
    log: () => undefined,
  });
  await settlements.settle([]);
  return paid;
}

test('a source says what a market pays, or nothing is paid', async () => {
  const closed = { isClosed: true };
  const resolved = { isClosed: true, isResolved: true };
  assert.deepEqual(await paidBy({ ...closed, prices: ['0', '1'] }), [0, 1]);
  assert.deepEqual(await paidBy({ ...resolved, prices: ['1.0', '0'] }), [1, 0]);
  assert.equal(await paidBy({ ...resolved, prices: ['0.5', '0.5'] }), 'void');
  assert.deepEqual(await paidBy({ ...resolved, prices: ['0.25', '0.75'] }), [250_000, 750_000]);
  for (const wrong of [
    { prices: ['0', '1'] },
    { ...closed, prices: ['0.5', '0.5'] },
    { ...closed, prices: ['0.9995', '0.0005'] },
    { ...closed, isResolved: false, prices: ['0', '1'] },
    { ...resolved, prices: ['0', '0'] },
    { ...resolved, prices: ['1', 'x'] },
    { ...resolved, prices: ['1'] },
    { ...resolved, prices: [] },
  ]) {
    assert.equal(await paidBy(wrong), 'nothing', JSON.stringify(wrong));
  }
});

test('delayed requests arrive in their order, and too many of them are refused', async () => {
  const arrived: number[] = [];
  const refused: number[] = [];
  const lines: OrderTaker = {
    waiting: 0,
    submit: ({ body }) => void arrived.push(body[0]!),
    goOn: () => undefined,
  };
  const delayed = new DelayedLines(lines, 30, 3);
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
