/**
 * Paths that docs/architecture.md lists: each file exists, and defines or calls the functions of
 * its line.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ROOT } from '../common/root.ts';

const FILES_MAX = 40;
const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

interface Step {
  readonly path: string;
  readonly calls: readonly string[];
}

function stepsOf(heading: string): Step[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const lines = section
    .split('\n## ')[0]!
    .matchAll(/^\d+\. \[([^\]]+)\]\(\.\.\/\1\)(.*?): .*\.$/gm);
  return [...lines].map(([, path, calls]) => ({
    path: path!,
    calls: [...calls!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
  }));
}

for (const [heading, least] of [
  ['The path of an order', 20],
  ['The path of a record to a follower', 10],
] as const) {
  test(`${heading}: each file exists and has or calls the named functions`, () => {
    const steps = stepsOf(heading);
    assert(steps.length >= least && steps.length <= FILES_MAX, `${steps.length} files`);
    for (const { calls, path } of steps) {
      assert(existsSync(join(ROOT, path)), path);
      const text = readFileSync(join(ROOT, path), 'utf8');
      for (const name of calls) assert.match(text, new RegExp(`\\b${name}(?:<[^>]*>)?\\(`), path);
    }
  });
}
