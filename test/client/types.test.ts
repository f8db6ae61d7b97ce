/** The client's types are those of the node's schemas. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { clientTypes } from './types-text.ts';

test('client/types.ts is what `npm run client:types` writes', () => {
  const file = new URL('../../client/types.ts', import.meta.url);
  assert.equal(readFileSync(file, 'utf8'), clientTypes());
});
