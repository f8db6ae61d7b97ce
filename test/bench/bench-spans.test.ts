/** The suite `spans` cannot rot: each route is asked its worst question here, on tiny stores. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { WORST } from '../../bench/spans/spans-questions.ts';
import { useCompiledNodes, withoutPreloads } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';

/** Its processes start in the compiled form, as those of the benchmark do. */
const { spansSuite } = (await import(
  join(useCompiledNodes(), 'bench/spans/spans.bench.js')
)) as typeof import('../../bench/spans/spans.bench.ts');

const TINY = { markets: 60, traded: 30, deep: 1, rounds: 2, idleMs: 0 };

test('the suite asks every route whose answer grows with what is stored, and tells its longest span', {
  skip: SHORT,
}, async () => {
  const spans = await withoutPreloads(() => spansSuite(TINY));
  const asked = Object.values(WORST).filter((worst) => typeof worst !== 'string');
  assert.equal(spans.length, asked.length);
  for (const { route, spans: longest } of spans) {
    assert(longest.length === 2 && longest.every((span) => span > 0), route);
  }
});
