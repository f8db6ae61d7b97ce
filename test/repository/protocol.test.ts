/**
 * Code and documents cite docs/protocol.md and nothing outside of the repository. Every citation
 * leads to a rule group, and the glossary has each term once.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { anchorOf } from '../common/anchors.ts';
import { ROOT } from '../common/root.ts';

const FOLDERS = [
  '.ci',
  'bench',
  'build',
  'client',
  'docs',
  'engine',
  'examples',
  'server',
  'storage',
  'test',
];
const BINARY = /\.(?:webp|png|ico|gz)$/;
const PROTOCOL = 'docs/protocol.md';
const GLOSSARY = 'docs/glossary.md';

/** Names of texts that are no part of this project, as words of capitals; put together here. */
const FOREIGN = new RegExp(
  `\\b(?:${['gaps', 'spec', 'design', 'clients', 'users', 'style'].join('|').toUpperCase()})\\b`,
);
const ISSUE = /issue [0-9]+/i;

interface Page {
  readonly path: string;
  readonly text: string;
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Every text file of the repository, without files of npm and of a build. */
function pages(): readonly Page[] {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1)),
  );
  const root = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'package-lock.json')
    .map((entry) => entry.name);
  return [...root, ...below]
    .filter((path) => !path.includes('node_modules') && !BINARY.test(path))
    .map((path) => ({ path, text: textOf(path) }));
}

const all = pages();

/** Rule groups of the protocol in their order: the anchor of each, and its text. */
function ruleGroups(): readonly { readonly anchor: string; readonly text: string }[] {
  const [, ...parts] = textOf(PROTOCOL).split(/^### /m);
  return parts.map((part) => ({
    anchor: anchorOf(part.slice(0, part.indexOf('\n'))),
    text: part.split(/^## /m)[0]!,
  }));
}

test('nothing cites a text or an issue outside of the repository', () => {
  assert(all.length > 700, 'the search found the files');
  for (const { path, text } of all) {
    for (const [i, line] of text.split('\n').entries()) {
      assert.doesNotMatch(line, FOREIGN, `${path}:${i + 1}`);
      assert.doesNotMatch(line, ISSUE, `${path}:${i + 1}`);
    }
  }
});

test('every citation of the protocol leads to one of its rule groups', () => {
  const anchors = ruleGroups().map(({ anchor }) => anchor);
  let citations = 0;
  for (const { path, text } of all) {
    for (const [, anchor = ''] of text.matchAll(/docs\/protocol\.md#([\w-]*)/g)) {
      assert(anchors.includes(anchor), `${path} cites ${PROTOCOL}#${anchor}`);
      citations += 1;
    }
  }
  assert(citations > 150, `${citations} citations`);
});

test('the protocol has every rule group once', () => {
  const anchors = ruleGroups().map(({ anchor }) => anchor);
  assert.equal(new Set(anchors).size, anchors.length);
});

test('the rules of a group are numbered from 1 without a gap', () => {
  for (const { anchor, text } of ruleGroups()) {
    const numbers = [...text.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    assert(numbers.length > 0, anchor);
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => i + 1),
      anchor,
    );
  }
});

test('the glossary explains each term once, in one to three sentences', () => {
  const entries = [...textOf(GLOSSARY).matchAll(/^- \*\*(.+?)\*\*: ((?:.|\n(?! *\n|- |#))+)/gm)];
  assert(entries.length > 50, 'the search found the terms');
  const terms = entries.flatMap(([, term]) => term!.split(', '));
  for (const [i, term] of terms.entries()) {
    assert.equal(terms.indexOf(term), i, `${term} is there twice`);
  }
  for (const [, term, text] of entries) {
    const sentences = text!.match(/[.](?=\s|$)/g)?.length ?? 0;
    assert(sentences >= 1 && sentences <= 3, `${term} has ${sentences} sentences`);
  }
});
