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
  const loader = JSON.stringify(loaderModule());
  const source = JSON.stringify(`${file.href}.ts`);
  const code = `import(${loader}).then((tsx) => { tsx.register(); return import(${source}); });`;
  return new Worker(code, { ...options, eval: true });
}

/** URL of the module whose `register` lets a thread load TypeScript. Throws where it is not installed. */
export function loaderModule(): string {
  // Where tsx has made CommonJS of this file, it has no import.meta.resolve.
  const commonJs = createRequire(import.meta.url).resolve('tsx/esm/api');
  return pathToFileURL(commonJs.replace(/\.cjs$/, '.mjs')).href;
}
