/** What this package calls itself. Thread: any. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

/** The version of its manifest; compiled files lie one folder deeper than their sources. */
export function packageVersion(): string {
  const nearest = ['../../package.json', '../../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find((file) => existsSync(file));
  assert(nearest !== undefined, 'the package has a manifest');
  return (JSON.parse(readFileSync(nearest, 'utf8')) as { version: string }).version;
}
