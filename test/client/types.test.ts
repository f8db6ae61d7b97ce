import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ROOT } from '../common/root.ts';
import { clientTypes } from './types-text.ts';

test('client/types.ts is what `npm run client:types` writes', () => {
  const file = join(ROOT, 'client/types.ts');
  assert.equal(readFileSync(file, 'utf8'), clientTypes());
});
