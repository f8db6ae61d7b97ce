/** The guide for agents against the table of tools. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { TObject } from '../../server/common/schema.ts';
import { TOOLS } from '../../server/mcp/tool-table.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { ROOT } from '../common/root.ts';

const NEEDS = { none: '', read: 'a key', trade: 'a key that trades' } as const;

function rowsOf({ properties }: TObject): string {
  return String(properties.limit?.maximum ?? '');
}

test('the guide for agents lists every tool with what it needs and does', () => {
  const text = readFileSync(join(ROOT, 'docs/guides/agents.md'), 'utf8');
  const rows = Object.entries(TOOLS).map(
    ([name, { args, does, needs }]) =>
      `| \`${name}\` | ${NEEDS[needs]} | ${rowsOf(args)} | ${does} |`,
  );
  const [, table = ''] = text.split('| --- | --- | --- | --- |\n');
  assert.equal(table.trim(), rows.join('\n'), `it should hold\n${rows.join('\n')}`);
});

test('a tool needs the key that its routes need', () => {
  const open = ['none', 'level2-or-none'];
  for (const [name, { effect, needs, routes }] of Object.entries(TOOLS)) {
    const access = routes.map((route) => ROUTE_TABLE[route].access);
    if (needs === 'none')
      assert(
        access.every((each) => open.includes(each)),
        name,
      );
    assert.equal(needs === 'trade', access.includes('level2'), name);
    assert.equal(needs === 'trade', effect !== 'none', name);
  }
});

test('a description of a tool and of its arguments is a sentence, and short', () => {
  for (const [name, { args, does }] of Object.entries(TOOLS)) {
    assert.match(does, /^[A-Z].*\.$/, name);
    assert(does.length < 260, name);
    for (const [argument, { description }] of Object.entries(args.properties)) {
      assert(typeof description === 'string' && description !== '', `${name}.${argument}`);
    }
  }
});
