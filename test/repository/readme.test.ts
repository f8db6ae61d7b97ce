/** The name of the package is the name everywhere; the examples of test/README.md are copies of tests that run. */
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

test('one name: package, README, page, documents, dashboard, containers, service', () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
  const { name } = JSON.parse(read('package.json')) as { readonly name: string };
  for (const [path, text] of [
    ['README.md', `# ${name}\n`],
    ['server/page/assets/index.html', `<title>${name}</title>`],
    ['server/page/assets/index.html', `<h1>${name} `],
    ['server/page/assets/icon.svg', `<title>${name}</title>`],
    ['server/documents/openapi.ts', `title: '${name}'`],
    ['server/documents/asyncapi.ts', `title: '${name}: streams'`],
    ['server/documents/viewer.ts', `<title>${name}: API</title>`],
    ['server/deploy/grafana/dashboards/node.json', `"title": "${name}"`],
    ['server/deploy/compose.yaml', `\nname: ${name}\n`],
    ['server/deploy/prediction-market-node.service', `\nDescription=${name}\n`],
  ] as const)
    assert(read(path).includes(text), `${path} says ${text}`);
});

test('the README shows the picture first and says at once that the money is none', () => {
  const paragraphs = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n\n');
  assert.match(paragraphs[1]!, /^\[!\[.*\]\(server\/page\/page\.webp\)\]/);
  assert.match(paragraphs[2]!, /\*\*for play money: by default\s+there are no balances/);
  // Some 200 words a minute.
  assert(paragraphs.join(' ').split(/\s+/).length < 2_000);
});
