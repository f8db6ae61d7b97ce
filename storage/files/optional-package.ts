/** Packages that are installed where the package manager could: a missing one is named to the person who needs it. */

/** Rejects with an error that says how to install the package. @param load imports it */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`the package ${name} is not installed: npm install ${name}`, {
      cause: error,
    });
  }
}
