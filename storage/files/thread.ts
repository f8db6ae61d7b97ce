/**
 * Starts threads of this project. A thread runs in the same form as this file: compiled, or as
 * source under tsx. A new thread does not inherit the tsx loader and has to register it first.
 *
 * Thread: any. Non-goals: the pool of piscina, which starts its own.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const IS_SOURCE = import.meta.url.endsWith('.ts');

/** @param file the file of the thread, without its extension */
export function startThread(file: URL, options: WorkerOptions): Worker {
  // Without the flags of the parent: compiled code needs no loader.
  if (!IS_SOURCE) return new Worker(new URL(`${file.href}.js`), { ...options, execArgv: [] });
  const loader = JSON.stringify(loaderModules().esm);
  const source = JSON.stringify(`${file.href}.ts`);
  const code = `import(${loader}).then((tsx) => { tsx.register(); return import(${source}); });`;
  return new Worker(code, { ...options, eval: true });
}

/**
 * URLs of the modules whose `register` lets a thread load TypeScript: as ES modules, and as the CommonJS that a file is
 * without a package.json of type module. Throws where they are not installed.
 */
export function loaderModules(): { readonly esm: string; readonly commonJs: string } {
  const { resolve } = createRequire(import.meta.url);
  // Where tsx has made CommonJS of this file, it has no import.meta.resolve.
  const urlOf = (name: string) => pathToFileURL(resolve(name).replace(/\.cjs$/, '.mjs')).href;
  return { esm: urlOf('tsx/esm/api'), commonJs: urlOf('tsx/cjs/api') };
}
