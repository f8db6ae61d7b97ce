/** Places of operations on the desk: a form or controls for each operation of the admin listener. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { operationRows } from '../../server/admin/operation-table.ts';
import { IN_VIEWS, otherForms, VENUE_GROUPS, WALLET_FORMS } from '../../server/page/desk/forms.ts';
import { ROOT } from '../common/root.ts';

const FORMS = [...WALLET_FORMS, ...VENUE_GROUPS.flatMap(({ forms }) => forms)];

test('every operation of the table has one place on the desk', () => {
  const placed = [...FORMS.map(({ of }) => of), ...Object.values(IN_VIEWS).flat()];
  const known = operationRows().map(([key]): string => key);
  assert.deepEqual(placed.sort(), known.sort());
});

test('a file of the desk names each operation that it is said to have', () => {
  for (const [file, keys] of Object.entries(IN_VIEWS)) {
    const text = readFileSync(join(ROOT, 'server/page/desk', file), 'utf8');
    for (const key of keys) {
      assert(text.includes(`'${key}'`) || text.includes(`"${key}"`), `${file}: ${key}`);
    }
  }
});

test('an operation without a place gets a form, and others get no second one', () => {
  const operation = { does: 'does something', fields: [] };
  const keys = ['POST /admin/later', ...FORMS.map(({ of }) => of)];
  const documented = new Map(keys.map((key) => [key, { key, ...operation }]));
  assert.deepEqual(otherForms(documented), [
    { of: 'POST /admin/later', title: 'POST /admin/later' },
  ]);
});
