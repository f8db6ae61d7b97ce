/**
 * Documents have their places: decisions lie in docs/decisions, dated and listed in its index; READMEs say
 * what is true now; bench/README.md stays short, and lists the days of its results.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ROOT } from '../common/root.ts';

const DECISIONS = 'docs/decisions';
const RESULTS = 'bench/results';
/** What the README of the benchmarks may have, so that it is read at one go. */
const BENCH_LINES_MAX = 150;
/** What npm, a build and a start make, and what belongs to version control. */
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

/** Without what leads to a heading. */
function linksOf(text: string): Set<string> {
  return new Set([...text.matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)].map(([, path]) => path!));
}

const topFolders = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !NOT_OURS.test(entry.name))
  .map((entry) => entry.name);

test('the index of decisions leads to every file of decisions, and names every top folder', () => {
  const index = read(`${DECISIONS}/README.md`);
  const links = linksOf(index);
  const files = readdirSync(join(ROOT, DECISIONS)).filter((name) => name !== 'README.md');
  assert(files.length > 20, 'the search found the files');
  for (const file of files) assert(links.has(file), `${DECISIONS}/README.md leads to ${file}`);
  assert(topFolders.length > 7, 'the search found the folders');
  for (const folder of topFolders) {
    assert(index.includes(`[${folder}/](`), `${DECISIONS}/README.md names ${folder}/`);
  }
});

test('every decision has a heading of its own with its date, and sentences below', () => {
  for (const file of readdirSync(join(ROOT, DECISIONS)).filter((name) => name !== 'README.md')) {
    const [, ...decisions] = read(`${DECISIONS}/${file}`).split(/^## /m);
    assert(decisions.length > 0, file);
    const headings = decisions.map((text) => text.slice(0, text.indexOf('\n')));
    assert.equal(new Set(headings).size, headings.length, `${file} has a heading twice`);
    for (const [i, text] of decisions.entries()) {
      assert.match(headings[i]!, / \(20\d\d-\d\d-\d\d\)$/, file);
      const sentences = text.slice(headings[i]!.length).trim();
      assert(sentences.endsWith('.') && sentences.length > 20, `${file}: ${headings[i]}`);
    }
  }
});

test('a README says what is true now: dated decisions and results are elsewhere', () => {
  const readmes = topFolders.flatMap(markdownOf).filter((path) => path.endsWith('/README.md'));
  assert(readmes.length > 15, 'the search found the pages');
  for (const path of readmes) {
    assert.doesNotMatch(read(path), /\*\*.*\(20\d\d-\d\d-\d\d\)|^## Decisions/m, path);
  }
});

test('bench/README.md is short, and leads to the results of every day', () => {
  const text = read('bench/README.md');
  const lines = text.trimEnd().split('\n').length;
  assert(lines <= BENCH_LINES_MAX, `it has ${lines} lines`);
  const links = linksOf(text);
  const days = readdirSync(join(ROOT, RESULTS));
  for (const day of days) {
    assert.match(day, /^20\d\d-\d\d-\d\d\.md$/);
    assert(links.has(`results/${day}`), `bench/README.md leads to ${day}`);
  }
});
