/**
 * Starts threads of this project. A thread runs in the same form as this file: compiled, or as
 * source under tsx. A new thread does not inherit the tsx loader and has to register it first.
 *
 * Thread: any. Non-goals: the pool of piscina, which starts its own.
 */
import { Worker, type WorkerOptions } from 'node:worker_threads';

const IS_SOURCE = import.meta.url.endsWith('.ts');

/** @param file the file of the thread, without its extension */
export function startThread(file: URL, options: WorkerOptions): Worker {
  // Without the flags of the parent: compiled code needs no loader.
  if (!IS_SOURCE) return new Worker(new URL(`${file.href}.js`), { ...options, execArgv: [] });
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const source = JSON.stringify(`${file.href}.ts`);
  const code = `import(${loader}).then((tsx) => { tsx.register(); return import(${source}); });`;
  return new Worker(code, { ...options, eval: true });
}
