/**
 * Single entry point to rollup: the bundle of the node, which is written (bundle.ts), and made once more with maps to its
 * modules (coverage.ts). Both are the same text. The scripts of the pages are made here too.
 */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import commonjsPlugin from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { type InputOptions, type OutputOptions, type Plugin, rollup } from 'rollup';

/** Programs that are started as a process or as a thread, by path. */
const PROGRAMS = [
  'server/cli/cli',
  'server/node/main',
  // Imported from the package, not started.
  'server/backtest/backtest',
  'server/orders/worker/worker',
  'server/catalog/catalog-thread',
  'server/catalog/search-thread',
  'server/catalog/sync-thread',
  'server/cluster/catalog-send-thread',
  'server/cluster/catalog-job-thread',
  'server/catalog/edits/edit-thread',
  'server/catalog/edits/import-thread',
  'storage/recovery/assistant-thread',
  'storage/projection/projector-thread',
  'storage/kv/lmdb-probe',
  'storage/operations/backup-thread',
  'storage/recovery/recovery-thread',
  // Loaded while the container's image is built.
  'server/http/uws',
  // Nodes of tests, with workers of their own; the package leaves them out.
  'test/node/dying-node',
  'test/node/dying-worker',
  'test/torture/delayed-worker',
];

/** Packages that load native files, threads or descriptions from paths relative to their own. */
const APART = new Set(['etcd3', 'pino', 'piscina']);

/** The compiler's output. */
export const COMPILED = resolve(import.meta.dirname, '..');

/** Packages that an installation may lack: they stay imports of the bundle. Programs of build/ run beside package.json. */
const OPTIONAL = Object.keys(
  (
    JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    }
  ).optionalDependencies,
);

function isOptional(id: string): boolean {
  return OPTIONAL.some((name) => id === name || id.startsWith(`${name}/`));
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

const INPUT: InputOptions = {
  input: Object.fromEntries(PROGRAMS.map((name) => [name, join(COMPILED, `${name}.js`)])),
  external: (id) => isBuiltin(id) || isOptional(id),
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

/** Names stay as they are. */
const OUTPUT: OutputOptions = {
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  manualChunks: chunkOf,
  minifyInternalExports: false,
  // Each import is resolved and looked up by each thread, and a start has thousands of them otherwise.
  hoistTransitiveImports: false,
};

/** Writes the bundle into a folder. Returns the files that it is made of. */
export async function writeBundle(dir: string): Promise<readonly string[]> {
  const bundle = await rollup(INPUT);
  await bundle.write({ ...OUTPUT, dir });
  await bundle.close();
  return bundle.watchFiles.filter((file) => !file.startsWith('\0'));
}

/** A file of the bundle. */
export interface MappedFile {
  readonly name: string;
  readonly text: string;
  /** A source map, version 3: to files of the compiler's output, by paths relative to the file. */
  readonly map: object;
}

/** The files of the bundle as `writeBundle` writes them there, with maps. */
export async function mappedBundle(dir: string): Promise<readonly MappedFile[]> {
  const bundle = await rollup(INPUT);
  const { output } = await bundle.generate({ ...OUTPUT, dir, sourcemap: 'hidden' });
  await bundle.close();
  return output.flatMap((file) =>
    file.type === 'chunk' && file.map !== null
      ? [{ name: file.fileName, text: file.code, map: file.map }]
      : [],
  );
}

/** Script of a page, and what it is made of. */
export interface PageScript {
  readonly code: string;
  /** Compiled modules and those of packages. */
  readonly modules: readonly string[];
}

/** Bundles a page's program and what it uses of its imports. */
export async function pageScript(entry: string): Promise<PageScript> {
  const bundle = await rollup({
    input: entry,
    plugins: [nodeResolve({ browser: true })],
    onwarn: INPUT.onwarn!,
  });
  const { output } = await bundle.generate({ format: 'es', inlineDynamicImports: true });
  await bundle.close();
  const modules = bundle.watchFiles.filter((file) => !file.startsWith('\0'));
  return { code: output[0].code, modules };
}
