import assert from 'node:assert/strict';
import test from 'node:test';
import { OperationRefused } from '../../server/admin/operation-row.ts';
import { type PayoutInput, weightsOf } from '../../server/admin/payout-input.ts';

const OUTCOMES = { tokenIds: ['71', '72', '73', '74'], names: ['Yes', 'No', 'no', '71'] };

function read(input: PayoutInput, outcomes = OUTCOMES): readonly number[] | string {
  const weights = weightsOf(input, outcomes);
  return weights instanceof OperationRefused ? `${weights.status} ${weights.detail}` : weights;
}

test('an outcome is named by its token, or by a name that only one outcome has', () => {
  assert.deepEqual(read({ payouts: { 72: 1 } }), [0, 1, 0, 0]);
  assert.deepEqual(read({ payouts: { Yes: 3, 73: 7 } }), [3, 0, 7, 0]);
  assert.deepEqual(read({ payouts: { yes: 1 } }), [1, 0, 0, 0], 'in any case');
  assert.deepEqual(read({ payouts: { no: 1, No: 2 } }), [0, 2, 1, 0], 'the case that was meant');
  assert.deepEqual(read({ payouts: { 71: 1 } }), [1, 0, 0, 0], 'a token before a name');
  assert.deepEqual(read({ payout: [1, 2, 3, 4] }), [1, 2, 3, 4]);
});

test('a text that names no outcome, or two, is refused with the valid outcomes', () => {
  const cases: readonly [PayoutInput, RegExp][] = [
    [{}, /one of payout and payouts/],
    [{ payout: [1], payouts: { Yes: 1 } }, /one of payout and payouts/],
    [{ payouts: { NO: 1 } }, /NO is the name of 2 outcomes: name its token id of Yes \(71\), No/],
    [{ payouts: { Maybe: 1 } }, /no outcome is called Maybe: the outcomes are Yes \(71\)/],
    [{ payouts: { Yes: 1, 71: 1 } }, /two of the payouts are for the outcome/],
    [{ payouts: { '': 1 } }, /no outcome is called/],
  ];
  for (const [input, text] of cases) assert.match(String(read(input)), text);
});

test('only tokens name outcomes when the catalog does not pair names with tokens', () => {
  const unnamed = { ...OUTCOMES, names: [] };
  assert.match(String(read({ payouts: { Yes: 1 } }, unnamed)), /name their token ids/);
  assert.deepEqual(read({ payouts: { 74: 1 } }, unnamed), [0, 0, 0, 1]);
});
