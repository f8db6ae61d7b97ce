/**
 * Writes npm-shrinkwrap.json for `npm pack`: the lock file without what only a checkout needs. Who
 * installs the package gets the versions that were tested; the overrides of package.json would not
 * reach them.
 *
 *   node dist/build/shrinkwrap.js     in the folder of package.json
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Lock {
  readonly packages: Readonly<Record<string, { dev?: boolean; devDependencies?: object }>>;
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
delete lock.packages['']?.devDependencies;
const packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => !dev));
writeFileSync('npm-shrinkwrap.json', JSON.stringify({ ...lock, packages }, undefined, 2));
