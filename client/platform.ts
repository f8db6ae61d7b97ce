/**
 * Optional parts of Node: built-in modules, and packages that may be installed beside the client. Elsewhere both
 * are undefined. Bundlers for browsers see no import.
 */

const { process } = globalThis as {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
};

export function builtin<Module>(name: `node:${string}`): Module | undefined {
  return process?.getBuiltinModule?.(name) as Module | undefined;
}

/** @returns undefined where it is not installed, or cannot be loaded */
export function optionalPackage<Package>(name: string): Package | undefined {
  const module = builtin<typeof import('node:module')>('node:module');
  try {
    return module?.createRequire(import.meta.url)(name) as Package | undefined;
  } catch {
    return undefined;
  }
}
