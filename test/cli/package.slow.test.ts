/** The package of `npm pack`: its files, and a run of it in an empty folder. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { get, SMALL_NODE, temporaryDirectory, until } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { ROOT } from '../common/root.ts';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

test('every program imports only packages that are installed with it', () => {
  const pattern =
    /^(?:import|export)\b(?! type\b)[^;'"]*?from '([^.'][^']*)'|(?<!typeof )\b(?:import|require)\('([^.'][^']*)'\)/gm;
  let found = 0;
  for (const folder of ['engine', 'storage', 'server', 'client']) {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    // What the trading page imports is inside its script.
    const programs = names.filter((path) => path.endsWith('.ts') && !path.startsWith('page/'));
    for (const name of programs) {
      for (const match of readFileSync(join(ROOT, folder, name), 'utf8').matchAll(pattern)) {
        const specifier = match[1] ?? match[2]!;
        if (specifier.startsWith('node:') || builtinModules.includes(specifier)) continue;
        const parts = specifier.split('/');
        const wanted = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
        const isOptional = Object.hasOwn(manifest.optionalDependencies, wanted);
        assert(
          isOptional || Object.hasOwn(manifest.dependencies, wanted),
          `${folder}/${name} imports ${specifier}`,
        );
        if (isOptional) assert(match[0].startsWith('import('), `${specifier} may be missing`);
        found += 1;
      }
    }
  }
  assert(found > 5, 'the search found imports');
});

test('no install script of a package is required or run, and the viewer of documents has none', () => {
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly allowScripts: Readonly<Record<string, boolean>>;
  };
  const withScript = [...packagesOf(join(ROOT, 'package-lock.json'))].filter(
    ([, { hasInstallScript }]) => hasInstallScript === true,
  );
  assert(withScript.length > 3);
  for (const [path] of withScript) {
    const name = path.split('node_modules/').at(-1)!;
    assert.equal(allowScripts[name], false, `${name} has an install script`);
  }
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const scarf = /@scarf\/scarf": \{\s*"name": "(\w+)"/.exec(lock)?.[1];
  assert.equal(scarf, 'wrappy', 'a package of a few lines stands in its place');
});

/** A copy of the checkout, so that `dist`, which other tests run, stays. */
function packed(): string {
  const place = temporaryDirectory();
  const left = new Set(['node_modules', 'dist', 'coverage', 'data', '.git']);
  for (const name of readdirSync(ROOT)) {
    if (!left.has(name)) cpSync(join(ROOT, name), join(place, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'));
  const { status, stderr } = spawnSync('npm', ['pack'], { cwd: place, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return join(place, `${manifest.name}-${manifest.version}.tgz`);
}

/** Files to which a document leads, below the root. */
function linksOf(name: string): string[] {
  const text = readFileSync(join(ROOT, name), 'utf8');
  const targets = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
  return targets.filter((target) => target.includes('.')).map((to) => join(dirname(name), to));
}

interface Installed {
  readonly version: string;
  readonly hasInstallScript?: boolean;
}

function packagesOf(file: string): Map<string, Installed> {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly packages: Readonly<Record<string, Installed>>;
  };
  return new Map(Object.entries(packages));
}

test('the package installs elsewhere, starts, answers, and stops', { skip: SHORT }, async (t) => {
  const file = packed();
  const { stdout } = spawnSync('tar', ['tzf', file], { encoding: 'utf8' });
  const names = stdout
    .trim()
    .split('\n')
    .map((name) => name.replace('package/', ''));
  assert.deepEqual(
    linksOf('README.md').filter((name) => !names.includes(name)),
    [],
    'the packaged README leads to files of the package',
  );
  const linked = new Set(names.filter((name) => name.endsWith('.md')).flatMap(linksOf));
  const strange = names.filter((name) => {
    const isCompiled = /^dist\/(?:client|engine|node)\/.*\.js$/.test(name);
    // Types are for who writes a bot or a strategy; documents link to a few sources.
    if (/^dist\/(?:client|engine|server\/backtest|storage)\/.*\.d\.ts$/.test(name)) return false;
    // etcd3 and what it needs are inside, in the versions of the lock file.
    if (/^node_modules\/|\.md$|^docs\/|^dist\/node\/(?:app|desk|viewer)\//.test(name)) return false;
    return (
      !linked.has(name) &&
      !isCompiled &&
      !/^server\/(?:page\/app\/base\.css$|backtest\/page\/)/.test(name) &&
      name.includes('/')
    );
  });
  assert.deepEqual(strange, []);
  for (const name of ['node/server/cli/cli.js', 'client/client.d.ts'])
    assert(names.includes(`dist/${name}`));

  const place = temporaryDirectory();
  const install = [
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--prefix',
    place,
    file,
  ];
  const installed = spawnSync('npm', install, { encoding: 'utf8' });
  assert.equal(installed.status, 0, installed.stderr);
  const lock = packagesOf(join(ROOT, 'package-lock.json'));
  const folder = join(place, 'node_modules');
  for (const [path, { version }] of packagesOf(join(folder, '.package-lock.json'))) {
    const own = path.replace(`node_modules/${manifest.name}/`, '');
    if (path !== `node_modules/${manifest.name}`)
      assert.equal(version, lock.get(own)?.version, own);
  }
  const scripts = [...packagesOf(join(folder, '.package-lock.json'))]
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.split('node_modules/').at(-1));
  // Each of them finds or builds a native part; protobufjs, which etcd3 needs, looks at versions and does nothing else.
  const known = ['koffi', 'lmdb', 'msgpackr-extract', 'protobufjs', 'secp256k1'];
  assert(scripts.includes('lmdb'));
  // Versions of npm differ in whether they note the script of protobufjs, which is inside the package.
  assert.deepEqual(
    scripts.filter((name) => !known.includes(name!)),
    [],
  );
  const binary = join(place, 'node_modules/.bin', manifest.name);
  const adminPort = await freePort();
  const node = spawn(binary, ['start'], {
    cwd: place,
    env: {
      ...{ ...process.env, ...SMALL_NODE, DEMO: 'on', DATA_DIR: join(place, 'data') },
      ADMIN_PORT: String(adminPort),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => void node.kill('SIGKILL'));
  let log = '';
  for (const stream of [node.stdout, node.stderr]) stream.on('data', (bytes) => (log += bytes));
  const port = (): number => Number(/listening on http:\/\/[^ ]+:(\d+)/.exec(log)?.[1] ?? 0);
  await until(() => port() > 0 || node.exitCode !== null, 60_000);
  assert(port() > 0, log);
  assert.equal((await get({ port: port() }, '/ok')).json, 'OK');
  const markets = (await get({ port: port() }, '/markets?limit=1')).json as unknown[];
  assert.equal(markets.length, 1);
  // Files that lie beside the code, of this package and of others.
  const desk = (await get({ port: adminPort }, '/')).text;
  const [, script] = /src="(assets\/main-\w+\.js)"/.exec(desk)!;
  for (const path of [`/${script}`, '/assets/licenses.txt', '/metrics'])
    assert.equal((await get({ port: adminPort }, path)).status, 200, path);
  for (const path of ['/docs/swagger-ui.css', '/app', '/app/assets/licenses.txt'])
    assert.equal((await get({ port: port() }, path)).status, 200, path);
  const bot = `const { NodeClient } = await import("${manifest.name}/client");
    console.log((await NodeClient.connect('http://127.0.0.1:${port()}')).info.version);`;
  const said = spawnSync(process.execPath, ['--input-type=module', '--eval', bot], { cwd: place });
  assert.equal(String(said.stdout).trim(), manifest.version, String(said.stderr));
  assertBacktest(place);
  node.kill('SIGTERM');
  const [code] = (await once(node, 'close')) as [number | null];
  assert.equal(code, 0, log);
});

/** Runs the strategy of the package's documents against the installed module and types. */
function assertBacktest(place: string): void {
  const name = `${manifest.name}/backtest`;
  writeFileSync(
    join(place, 'strategy.mts'),
    `import { backtest, reportHtml, type Strategy } from '${name}';
    const strategy: Strategy = { onBook: (book, venue) => void venue.place({
      token: book.token, side: 'BUY', price: book.ask ?? 0.5, size: 10 }) };
    const { figures } = await backtest([], strategy, { cash: 5 });
    export const profit: number = figures.profit;
    console.log(reportHtml([]).includes('uPlot'), profit);
    // @ts-expect-error: a side is BUY or SELL
    const wrong: Strategy = { onStart: (venue) => void venue.place({ token: '', side: 1, price: 1, size: 1 }) };
    export { wrong };`,
  );
  const compile = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', ''];
  const compiled = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), ...compile, 'strategy.mts'],
    { cwd: place, encoding: 'utf8' },
  );
  assert.equal(compiled.status, 0, compiled.stdout);
  const ran = spawnSync(process.execPath, ['strategy.mjs'], { cwd: place, encoding: 'utf8' });
  assert.equal(ran.stdout.trim(), 'true 0', ran.stderr);
}
