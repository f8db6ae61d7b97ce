/** Loads the file of a strategy: its default export, and the parameters that it declares. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loaderModules } from '../../storage/files/thread.ts';
import { declaredParameters, type ParameterValues } from './parameters.ts';
import { NoStrategy, StrategyError } from './strategy-error.ts';
import type { StrategySource } from './strategy-source.ts';

export interface LoadedStrategy {
  readonly source: StrategySource;
  /** Declared parameters with their defaults. */
  readonly declared: ParameterValues;
}

/** Rejects with a NoStrategy for a file without one, and with a StrategyError for what the file throws. */
export async function loadStrategy(file: string): Promise<LoadedStrategy> {
  const { default: strategy, parameters } = await imported(file);
  const isSource = typeof strategy === 'function' || typeof strategy === 'object';
  if (!isSource || strategy === null)
    throw new NoStrategy('its default export must be a strategy, or a function that makes one');
  const declared = declaredParameters(parameters);
  if (Object.keys(declared).length > 0 && typeof strategy !== 'function')
    throw new NoStrategy(
      'its default export must be a function, which gets the values of its parameters',
    );
  return { source: strategy as StrategySource, declared };
}

interface StrategyModule {
  readonly default?: unknown;
  readonly parameters?: unknown;
}

async function imported(file: string): Promise<StrategyModule> {
  try {
    const module: StrategyModule = await import(pathToFileURL(resolve(file)).href);
    // TypeScript without a package.json of type module is loaded as CommonJS, whose exports are the default one.
    const exports = module.default;
    return isCompiledModule(exports) ? exports : module;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new NoStrategy(
        `Node ${process.versions.node} runs no TypeScript; 22.18 and later do, and so does \`npm run cli\` in a checkout`,
      );
    }
    if (code === 'ERR_MODULE_NOT_FOUND') throw new NoStrategy(message);
    const what = error instanceof Error ? message : String(error);
    throw new StrategyError(`it cannot be loaded: ${what}`, { cause: error });
  }
}

function isCompiledModule(exports: unknown): exports is StrategyModule {
  return typeof exports === 'object' && exports !== null && '__esModule' in exports;
}

/**
 * Returns the modules that let another thread load a strategy in TypeScript; none where Node does it by itself, or
 * where they are not installed. A thread does not inherit the loader of its parent.
 */
export function typeScriptLoaders(file: string): readonly string[] {
  const runsTypeScript = 'typescript' in process.features && process.features.typescript !== false;
  if (runsTypeScript || !/\.[cm]?ts$/.test(file)) return [];
  try {
    return Object.values(loaderModules());
  } catch {
    return [];
  }
}

/** Registers such modules for this thread. */
export async function registerLoaders(loaders: readonly string[]): Promise<void> {
  for (const loader of loaders) {
    const { register } = (await import(loader)) as { readonly register: () => void };
    register();
  }
}
