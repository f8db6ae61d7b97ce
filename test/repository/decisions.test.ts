/**
 * Folders of documents: decisions are dated records in docs/decisions, READMEs state what is true
 * now, and bench/README.md lists the days of its results.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ROOT } from '../common/root.ts';

const DECISIONS = 'docs/decisions';
const RESULTS = 'bench/results';
/** Files of npm, a build or a start, or of version control. */
const NOT_OURS =
  /^(?:\..*|node_modules|dist|coverage|data\d*|cluster|my-bot|paper|venue|.*-result)$/;

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function markdownOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);
}

function linksOf(text: string): Set<string> {
  return new Set([...text.matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)].map(([, path]) => path!));
}

const topFolders = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !NOT_OURS.test(entry.name))
  .map((entry) => entry.name);

test('the index of decisions leads to every record, under its title', () => {
  const index = read(`${DECISIONS}/README.md`);
  const records = readdirSync(join(ROOT, DECISIONS)).filter((name) => name !== 'README.md');
  assert(records.length > 20, 'the search found the records');
  for (const [i, name] of records.sort().entries()) {
    const number = String(i + 1).padStart(4, '0');
    assert(name.startsWith(`${number}-`), `${name} has the number ${number}`);
    const [, title] = /^# (.*) \(20\d\d-\d\d-\d\d\)\n/.exec(read(`${DECISIONS}/${name}`)) ?? [];
    assert(title !== undefined, `${name} has a title with its date`);
    assert(index.includes(`- [${number}](${name}) ${title}\n`), `the index names ${name}`);
  }
});

test('a decision has a context, a decision and a consequence', () => {
  for (const name of readdirSync(join(ROOT, DECISIONS)).filter((file) => file !== 'README.md')) {
    const [, ...parts] = read(`${DECISIONS}/${name}`).split(/^## /m);
    const headings = parts.map((text) => text.slice(0, text.indexOf('\n')));
    assert.deepEqual(headings, ['Context', 'Decision', 'Consequence'], name);
    for (const text of parts) assert.match(text, /\.\s*$/, name);
  }
});

test('a README says what is true now: dated decisions and results are elsewhere', () => {
  const readmes = topFolders.flatMap(markdownOf).filter((path) => path.endsWith('/README.md'));
  assert(readmes.length > 15, 'the search found the pages');
  for (const path of readmes) {
    assert.doesNotMatch(read(path), /\*\*.*\(20\d\d-\d\d-\d\d\)|^## Decisions/m, path);
  }
});

test('bench/README.md leads to the results of every day', () => {
  const links = linksOf(read('bench/README.md'));
  for (const day of readdirSync(join(ROOT, RESULTS))) {
    assert.match(day, /^20\d\d-\d\d-\d\d\.md$/);
    assert(links.has(`results/${day}`), `bench/README.md leads to ${day}`);
  }
});
