import assert from 'node:assert/strict';
import test from 'node:test';
import { REFUSALS } from '../../server/common/refusals.ts';
import { RouteCounts } from '../../server/http/request-counts.ts';

test('every status of a refusal is counted as itself, and one that is not known as another', () => {
  const statuses = Object.values(REFUSALS).map((row) => ('status' in row ? row.status : 400));
  const counts = new RouteCounts('POST', '/order');
  for (const status of statuses) counts.add(status, 1);
  const counted = counts.byStatus().map(({ count, status }) => [status, count]);
  const expected = [...new Set(statuses)]
    .toSorted((a, b) => a - b)
    .map((status) => [String(status), statuses.filter((each) => each === status).length]);
  assert.deepEqual(counted, expected);
  counts.add(418, 1);
  assert.equal(counts.byStatus().at(-1)?.status, 'other');
});
