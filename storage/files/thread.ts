/**
 * Starts threads of this project's own. They run in the form in which this file does: compiled, or
 * as source under tsx, whose loader a new thread does not inherit and has to register first.
 *
 * Thread: any. Non-goals: the pool of piscina, which starts its own.
 */
import { Worker, type WorkerOptions } from 'node:worker_threads';

const IS_SOURCE = import.meta.url.endsWith('.ts');

/** @param file of the thread, without its extension */
export function startThread(file: URL, options: WorkerOptions): Worker {
  // Without the flags of the parent: a loader that it was started with is not needed.
  if (!IS_SOURCE) return new Worker(new URL(`${file.href}.js`), { ...options, execArgv: [] });
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const source = JSON.stringify(`${file.href}.ts`);
  const code = `import(${loader}).then((tsx) => { tsx.register(); return import(${source}); });`;
  return new Worker(code, { ...options, eval: true });
}
