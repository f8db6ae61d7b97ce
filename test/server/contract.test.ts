/** The README's tables are those of the code: nobody should have to find out which one is right. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { Rule } from '../../engine/rules.ts';
import { RULE_TEXTS } from '../../server/common/contract.ts';
import { describeConfig, readConfig } from '../../server/config.ts';
import { PROFILE_ROWS } from '../../server/profile.ts';
import { ROUTE_TABLE } from '../../server/route-table.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The cells of each row of the table under a heading row. */
function rowsOf(heading: string): string[][] {
  const lines = readme.slice(readme.indexOf(heading)).split('\n');
  const rows = lines.slice(
    2,
    lines.findIndex((line, i) => i > 1 && !line.startsWith('|')),
  );
  return rows.map((row) => row.replace(/^\| /, '').replace(/ \|$/, '').split(' | '));
}

function firstColumn(heading: string): string[] {
  return rowsOf(heading).map((row) => row[0]!);
}

function config() {
  const read = readConfig({}, [], 2);
  assert(read.ok);
  return read.config;
}

test('the README lists every refusal of an order, word for word', () => {
  const own: readonly number[] = [Rule.orderNotFound, Rule.marketRefused];
  const texts = Object.entries(RULE_TEXTS)
    .filter(([rule]) => !own.includes(Number(rule)))
    .map(([, text]) => text);
  const listed = firstColumn('| errorMsg').map((cell) => cell.replaceAll('`', ''));
  assert.deepEqual(listed.toSorted(), [...new Set(texts)].toSorted());
});

test('the README lists every route of the table, and what it does', () => {
  const listed = rowsOf('| route |').map((row) => row.slice(0, 2).join(' | '));
  const routes = Object.entries(ROUTE_TABLE).map(([route, { does }]) => `\`${route}\` | ${does}`);
  assert.deepEqual(listed, routes);
});

test('the README lists every variable of the configuration', () => {
  const variables = [...describeConfig(config()).matchAll(/^ {2}(\w+)=/gm)].map((m) => m[1]!);
  const listed = firstColumn('| variable |').flatMap((cell) =>
    [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1]!),
  );
  const ofProfiles = PROFILE_ROWS.map(([, { variable }]) => variable);
  assert.deepEqual([...listed, ...ofProfiles].toSorted(), variables.toSorted());
});

test('the README lists what CLIENT_PROFILE changes, row by row', () => {
  const rows = PROFILE_ROWS.map(([, { changes, polymarket, spec, variable }]) =>
    [`\`${variable}\``, spec, polymarket, changes].join(' | '),
  );
  assert.deepEqual(
    rowsOf('| setting |').map((row) => row.join(' | ')),
    rows,
  );
});

test('rule codes are unique', () => {
  const codes = Object.values(Rule);
  assert.equal(new Set(codes).size, codes.length);
});
