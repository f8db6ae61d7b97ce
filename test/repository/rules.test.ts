/** Each rule of .biome.json and .knip.jsonc refuses a wrong file, in a small copy of the tree, and accepts a right one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';

type Files = Readonly<Record<string, string>>;

function treeOf(config: string, files: Files): string {
  const place = temporaryDirectory();
  cpSync(join(ROOT, config), join(place, config));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), `${text}\n`);
  }
  return place;
}

function run(place: string, program: string, ...args: readonly string[]): string {
  const argv = [join(ROOT, 'node_modules', program), ...args];
  const { stderr, stdout } = spawnSync(process.execPath, argv, { cwd: place, encoding: 'utf8' });
  return stdout + stderr;
}

const importing = (path: string): string => `export { a } from '${path}';`;
const longFunction = (lines: number): string =>
  `export function f() {\n${'  f();\n'.repeat(lines)}}`;

const WRONG: readonly (readonly [rule: string, path: string, text: string])[] = [
  ['noRestrictedImports', 'engine/book/a.ts', importing('../tables/tables.ts')],
  ['noRestrictedImports', 'engine/orders/b.ts', importing('../book/ladder.ts')],
  ['noRestrictedImports', 'engine/orders/c.ts', importing('node:fs')],
  ['noRestrictedImports', 'engine/orders/d.ts', importing('../../storage/log/log.ts')],
  ['noRestrictedImports', 'engine/e.ts', importing('./book/ladder.ts')],
  ['noRestrictedImports', 'engine/f.ts', importing('../server/common/a.ts')],
  ['noRestrictedImports', 'storage/log/a.ts', importing('../../server/common/a.ts')],
  ['noRestrictedImports', 'storage/log/b.ts', "import type { A } from '../../server/common/a.ts';"],
  ['noRestrictedImports', 'storage/log/c.ts', "await import('../../server/common/a.ts');"],
  ['noRestrictedImports', 'storage/log/d.ts', importing('../../engine/tables/layout.ts')],
  ['noRestrictedImports', 'storage/snapshot/a.ts', importing('../../engine/book/ladder.ts')],
  ['noRestrictedImports', 'server/http/a.ts', importing('../../client/client.ts')],
  ['noRestrictedImports', 'server/http/b.ts', importing('../../engine/book/ladder.ts')],
  ['noRestrictedImports', 'server/orders/worker/c.ts', importing('../../../test/common/root.ts')],
  ['noRestrictedImports', 'server/demo/a.ts', importing('../../bench/random.ts')],
  ['noRestrictedImports', 'server/page/app/a.tsx', importing('../../../engine/reads.ts')],
  ['noRestrictedImports', 'client/a.ts', importing('../server/common/a.ts')],
  ['noRestrictedImports', 'client/streams/b.ts', importing('../../engine/reads.ts')],
  ['noRestrictedImports', 'examples/a.ts', importing('../engine/reads.ts')],
  ['noRestrictedImports', 'build/a.ts', importing('../engine/reads.ts')],
  ['noRestrictedImports', 'bench/http/a.ts', importing('../../test/common/root.ts')],
  ['noRestrictedGlobals', 'engine/g.ts', 'export const a = Date.now();'],
  ['noRestrictedGlobals', 'engine/orders/h.ts', 'export const a = process.pid;'],
  ['noJsRestrictedProperties', 'engine/i.ts', 'export const a = Math.random();'],
  ['noImportCycles', 'storage/kv/a.ts', "import type { B } from './b.ts';\nexport type A = B | 1;"],
  ['noImportCycles', 'storage/kv/b.ts', "import type { A } from './a.ts';\nexport type B = A[];"],
  ['noConsole', 'server/http/d.ts', "console.log('a');"],
  ['noExcessiveLinesPerFunction', 'server/http/e.ts', longFunction(61)],
  ['noExcessiveLinesPerFunction', 'test/http/a.ts', longFunction(251)],
  ['noExplicitAny', 'test/http/b.ts', 'export const a = (b: any) => b;'],
  ['noTsIgnore', 'server/http/f.ts', '// @ts-ignore\nexport const a = 1;'],
  ['noFocusedTests', 'test/http/c.test.ts', "test.only('a', () => undefined);"],
];

const RIGHT: Files = {
  'engine/orders/right.ts': importing('../book/matching.ts'),
  'engine/right.ts': importing('./tables/layout.ts'),
  'storage/snapshot/right.ts': importing('../../engine/tables/layout.ts'),
  'server/demo/right.ts': importing('../../client/client.ts'),
  'server/auth/right.ts': importing('../../client/keccak.ts'),
  'server/page/app/right.tsx': importing('../../../client/client.ts'),
  'server/http/right.ts': longFunction(58),
  'bench/http/right.ts': importing('../../server/http/http.ts'),
};

test('Biome refuses a wrong file of each rule, and accepts right ones', () => {
  const wrong = Object.fromEntries(WRONG.map(([, path, text]) => [path, text]));
  const place = treeOf('.biome.json', { ...wrong, ...RIGHT });
  const args = ['lint', '--max-diagnostics=none', '--colors=off', '--reporter=github'];
  const output = run(place, '@biomejs/biome/bin/biome', ...args);
  for (const [rule, path] of WRONG) {
    const line = output.split('\n').find((each) => each.includes(path) && each.includes(rule));
    assert(line !== undefined, `${path} passes ${rule}:\n${output}`);
  }
  for (const path of Object.keys(RIGHT)) assert(!output.includes(path), output);
});

const PACKAGE = { name: 'a', type: 'module', devDependencies: { 'left-pad': '1.0.0' } };

const UNUSED: Files = {
  'package.json': JSON.stringify(PACKAGE),
  'server/cli/cli.ts': "import 'unlisted';\nimport { used } from '../common/some.ts';\nused();",
  'server/common/some.ts':
    'export const used = () => 1;\nexport const unused = 1;\nexport const tested = 2;\n' +
    '/** @internal Tests read it. */\nexport const tagged = 3;',
  'server/common/alone.ts': 'export const other = 1;',
  'test/some.test.ts':
    "import { tagged, tested } from '../server/common/some.ts';\ntagged + tested;",
};

test('knip names files, exports and packages without a use, and exports that only tests use', () => {
  const place = treeOf('.knip.jsonc', UNUSED);
  const knip = (...args: readonly string[]) =>
    run(place, 'knip/bin/knip.js', '--reporter=compact', '--no-config-hints', ...args);
  const all = knip();
  for (const name of ['alone.ts', 'left-pad', 'unlisted', 'unused'])
    assert.match(all, new RegExp(name));
  assert.doesNotMatch(all, /used, |tested|tagged/);
  const product = knip('--production');
  assert.match(product, /tested/);
  assert.doesNotMatch(product, /tagged/);
});
