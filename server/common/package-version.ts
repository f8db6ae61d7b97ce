/** The name and version of this package. Thread: any. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { nearest } from './nearest.ts';

export function packageName(): string {
  return manifest().name;
}

export function packageVersion(): string {
  return manifest().version;
}

function manifest(): { readonly name: string; readonly version: string } {
  const path = nearest(import.meta.url, 'package.json');
  assert(path !== undefined, 'the package has a manifest');
  return JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string };
}
