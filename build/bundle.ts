/**
 * Bundles the programs of the node into few large modules, from the compiler's output. Importing six hundred
 * small ones takes half of a start, and each worker thread imports its own again.
 *
 *   node dist/build/bundle.js     dist/{engine,storage,server} and packages -> dist/node
 *
 * A program lies below dist/node where it lies below dist, shared code in dist/node/chunks. Names stay as they
 * are, so that stack traces can be read. Nothing is written unless a source is newer than the bundle.
 */
import {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import commonjsPlugin from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { type InputOptions, type OutputOptions, type Plugin, rollup } from 'rollup';

/** Programs that are started as a process or as a thread, by path. */
const PROGRAMS = [
  'server/cli/cli',
  'server/app/main',
  // Imported from the package, not started.
  'server/backtest/backtest',
  'server/orders/worker',
  'server/catalog/catalog-thread',
  'server/catalog/search-thread',
  'server/catalog/sync-thread',
  'server/cluster/catalog-give-thread',
  'server/cluster/catalog-job-thread',
  'server/venue/edit-thread',
  'storage/recovery/assistant-thread',
  'storage/projection/follower-thread',
  'storage/kv/lmdb-probe',
  'storage/operations/backup-thread',
  'storage/recovery/recovery-thread',
  // Loaded while the container's image is built.
  'server/http/uws',
  // Nodes of tests, with workers of their own; the package leaves them out.
  'test/app/dying-node',
  'test/app/dying-worker',
  'test/torture/delayed-worker',
];

/** Packages that load native files, threads or descriptions from paths relative to their own. */
const APART = new Set(['etcd3', 'lmdb', 'pino', 'piscina']);

/** The compiler's output. */
const COMPILED = resolve(import.meta.dirname, '..');
const OUT = join(COMPILED, 'node');
/** Lists the files of the bundle; its time is that of the last build, because unchanged files stay old. */
const MARK = join(COMPILED, '.built');
/** Stands for the installed packages, whose files have the times of their publishers. */
const LOCK = join(COMPILED, '../package-lock.json');

/** What server/documents/viewer.ts serves. Who runs the bundle does not install the package. */
const VIEWER = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];
const VIEWER_PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/LICENSE'));

function isFresh(): boolean {
  const built = statSync(MARK, { throwIfNoEntry: false });
  if (built === undefined || !existsSync(OUT)) return false;
  const names = readFileSync(MARK, 'utf8').split('\n');
  const files = [import.meta.filename, ...names.map((name) => join(COMPILED, name))];
  if (existsSync(LOCK)) files.push(LOCK);
  return files.every((file) => existsSync(file) && statSync(file).mtimeMs < built.mtimeMs);
}

/** These packages are loaded by `require`, which takes half as long as `import`. */
const packagesApart: Plugin = {
  name: 'packages-apart',
  resolveId: (name) => (APART.has(name) ? { id: `\0${name}`, syntheticNamedExports: true } : null),
  load: (id) =>
    APART.has(id.slice(1))
      ? `import { createRequire } from 'node:module';
         export default createRequire(import.meta.url)(${JSON.stringify(id.slice(1))});`
      : null,
};

/** `import.meta.url` stays that of the module, not of its chunk, because other files are relative to it. */
const placesOfModules: Plugin = {
  name: 'places-of-modules',
  resolveImportMeta(property, { chunkId, moduleId }) {
    if (property !== 'url' || moduleId.startsWith('\0')) return null;
    const module = relative(COMPILED, moduleId).split(sep).join('/');
    const place = posix.relative(dirname(chunkId), module);
    return `new URL(${JSON.stringify(place)}, import.meta.url).href`;
  },
};

/** The package's types are those of its CommonJS form. */
const commonjs = commonjsPlugin as unknown as typeof commonjsPlugin.default;

const input: InputOptions = {
  input: Object.fromEntries(PROGRAMS.map((name) => [name, join(COMPILED, `${name}.js`)])),
  external: isBuiltin,
  plugins: [packagesApart, nodeResolve({ preferBuiltins: true }), commonjs(), placesOfModules],
  // Unused code is one percent of the bytes, and finding it takes half of the time.
  treeshake: false,
  onwarn: (warning) => {
    // Some packages have circles among their modules.
    if (warning.code === 'CIRCULAR_DEPENDENCY') return;
    // The compiler puts a helper with it into a module that imports a file by a name that it gets.
    if (warning.code === 'THIS_IS_UNDEFINED') return;
    throw new Error(warning.message);
  },
};

/** The engine is one scope, in which its constants need no look-up; a package is one file. */
function chunkOf(id: string): string | undefined {
  if (id.startsWith(join(COMPILED, 'engine') + sep)) return 'engine';
  return /[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?([^\\/]+)/.exec(id)?.[1];
}

/** Renamed when it is complete. */
const draft = `${OUT}-${process.pid}`;
const output: OutputOptions = {
  dir: draft,
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  manualChunks: chunkOf,
  minifyInternalExports: false,
};

if (isFresh()) {
  const now = new Date();
  utimesSync(MARK, now, now);
} else {
  const bundle = await rollup(input);
  await bundle.write(output);
  await bundle.close();
  for (const name of VIEWER) cpSync(join(VIEWER_PACKAGE, name), join(draft, 'viewer', name));
  rmSync(OUT, { recursive: true, force: true });
  renameSync(draft, OUT);
  const files = bundle.watchFiles.filter((file) => !file.startsWith('\0'));
  writeFileSync(MARK, files.map((file) => relative(COMPILED, file)).join('\n'));
}
