/** The suite `spans` on tiny stores: each route gets its most expensive request. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { BODIES } from '../../bench/spans/spans-bodies.ts';
import { WORST } from '../../bench/spans/spans-questions.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { useCompiledNodes, withoutPreloads } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';

const { spansSuite } = (await import(
  join(useCompiledNodes(), 'bench/spans/spans.bench.js')
)) as typeof import('../../bench/spans/spans.bench.ts');

const TINY = { markets: 60, traded: 30, deep: 1, rounds: 2, idleMs: 0 };

test('the suite asks every route whose answer grows with stored data, and reports its longest span', {
  skip: SHORT,
}, async () => {
  const spans = await withoutPreloads(() => spansSuite(TINY));
  const asked = Object.values(WORST).filter((worst) => typeof worst !== 'string');
  assert.equal(spans.filter(({ name }) => name in WORST).length, asked.length);
  for (const { name, spans: longest } of spans) {
    const count = name in WORST ? TINY.rounds : Object.keys(BODIES).length;
    assert(longest.length === count && longest.every((span) => span > 0), name);
  }
  for (const [route, { access, body }] of Object.entries(ROUTE_TABLE)) {
    const sent = spans.filter(({ name }) => name.startsWith(`${route}, `));
    assert.equal(sent.length, body === undefined ? 0 : access === 'none' ? 1 : 2, route);
  }
});
