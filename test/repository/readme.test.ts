/** The examples of test/README.md are copies of tests that run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ROOT } from '../common/root.ts';

const FOLDER = join(ROOT, 'test');

test('each example of how to write a test stands in the file that the text before it links to', () => {
  const text = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  const examples = [...text.matchAll(/```ts\n([\s\S]*?)```/g)];
  assert(examples.length >= 4, 'engine, storage, route and catalog have one');
  for (const { 1: example, index } of examples) {
    const [, file] = [...text.slice(0, index).matchAll(/\(([\w/-]+\.test\.ts)\)/g)].at(-1)!;
    assert(readFileSync(join(FOLDER, file!), 'utf8').includes(example!), `${file}: ${example}`);
  }
});
