/**
 * Form of the processes and threads of tests: compiled, which starts in a third of the time, where
 * the test itself is compiled or the build is fresh, and source under tsx otherwise.
 *
 * Non-goals: the test files themselves, which run as source.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ROOT } from './root.ts';

const FOLDERS = ['build', 'engine', 'storage', 'server', 'client', 'examples', 'bench', 'test'];

const SOURCES = /\.(?:tsx?|css|html)$/;

interface Form {
  readonly root: string;
  readonly node: string;
  readonly execArgv: readonly string[];
  readonly extension: string;
}

const SOURCE: Form = { root: ROOT, node: ROOT, execArgv: ['--import', 'tsx'], extension: 'ts' };
let chosen: Form | undefined;

function form(): Form {
  const built = join(ROOT, 'dist');
  const isCompiled = import.meta.filename.endsWith('.js') || isFresh(built);
  chosen ??= isCompiled ? compiledIn(built) : SOURCE;
  return chosen;
}

function compiledIn(root: string): Form {
  return { root, node: join(root, 'node'), execArgv: [], extension: 'js' };
}

/**
 * Makes everything that this file starts run in compiled form, like `npm start`. Returns the
 * directory of the compiled files: the build of `npm test`, or a build of its own if the sources
 * have changed since.
 */
export function useCompiledNodes(): string {
  if (form() === SOURCE) chosen = compiledIn(compile());
  return form().root;
}

/** A build leaves a mark, because the compiler leaves unchanged files alone. */
function isFresh(root: string): boolean {
  const mark = statSync(join(root, '.built'), { throwIfNoEntry: false });
  if (mark === undefined) return false;
  return FOLDERS.every((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).every(
      (name) => !SOURCES.test(name) || statSync(join(ROOT, folder, name)).mtimeMs < mark.mtimeMs,
    ),
  );
}

function compile(): string {
  const root = buildDirectory();
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  for (const [project, outDir] of [
    [ROOT, root],
    [join(ROOT, 'server/page/app'), join(root, 'page')],
  ] as const) {
    const options = ['--project', project, '--outDir', outDir, '--noCheck'];
    const { status, stdout } = spawnSync(tsc, [...options, '--incremental', 'false']);
    assert.equal(status, 0, String(stdout));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  copyFileSync(join(ROOT, 'package.json'), join(root, 'package.json'));
  const bundled = spawnSync(process.execPath, [join(root, 'build/bundle.js')], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(bundled.status, 0, bundled.stderr);
  return root;
}

function buildDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'node-build-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Arguments for Node that run a file.
 * @param file relative to the repository, without its extension
 */
export function fileArgs(file: string): string[] {
  const { execArgv, extension, node, root } = form();
  const name = `${file}.${extension}`;
  const bundled = join(node, name);
  return [...execArgv, existsSync(bundled) ? bundled : join(root, name)];
}

/**
 * Arguments and directory for Node that run a script.
 * @param script an ES module with imports as in source: `from './storage/log/file-log.ts'`
 */
export function scriptArgs(script: string): { readonly args: string[]; readonly cwd: string } {
  const { execArgv, extension, root } = form();
  const code = script.replaceAll(/(?<=['"]\.\/[\w/-]+\.)ts(?=['"])/g, extension);
  return { args: [...execArgv, '--input-type=module', '--eval', code], cwd: root };
}

/** Starts a thread. @param file below test/, without its extension */
export function startThread(file: string, workerData: unknown): Worker {
  const { extension, root } = form();
  const url = pathToFileURL(join(root, 'test', `${file}.${extension}`));
  // What this process preloads, the loader, is of no use to a compiled file.
  if (extension === 'js') return new Worker(url, { workerData, execArgv: [] });
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const code = `import(${loader}).then((tsx) => { tsx.register(); return import(${JSON.stringify(url)}); });`;
  return new Worker(code, { eval: true, workerData });
}

/**
 * Runs a benchmark with compiled children, which do not need the loader that this process preloads.
 */
export async function withoutPreloads<T>(run: () => Promise<T>): Promise<T> {
  const preloads = process.execArgv.splice(0);
  try {
    return await run();
  } finally {
    process.execArgv.push(...preloads);
  }
}
