/** The suite `http` on tiny inputs, so that it keeps running; it measures nothing here. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { loadProblem } from '../../bench/common/http-load.ts';
import { useCompiledNodes, withoutPreloads } from '../common/forms.ts';
import { SHORT } from '../common/random.ts';

const { httpSuite } = (await import(
  join(useCompiledNodes(), 'bench/http/http.bench.js')
)) as typeof import('../../bench/http/http.bench.ts');

const TINY = { markets: 12, warmUps: 0, rounds: 1, seconds: 5, only: ['last prices 20'] };

test('the http suite measures a traded node beside a bare handler', {
  skip: SHORT || (loadProblem() ?? false),
}, async () => {
  const figures = await withoutPreloads(() => httpSuite(TINY));
  assert.equal(figures?.length, 1);
  const [{ barePerSecond, failed, productPerSecond } = assert.fail()] = figures;
  assert.equal(failed, 0);
  assert(productPerSecond > 0 && barePerSecond > 0);
});
