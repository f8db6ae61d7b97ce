/** A copy of the checkout whose scripts run the compiled form, with directories of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { useCompiledNodes } from './forms.ts';
import { temporaryDirectory } from './node-harness.ts';
import { ROOT } from './root.ts';

/** @param further files and folders of the checkout, beside those that scripts need */
export function checkoutCopy(...further: readonly string[]): string {
  const compiled = useCompiledNodes();
  const place = temporaryDirectory();
  copyFileSync(join(ROOT, 'package.json'), join(place, 'package.json'));
  cpSync(join(ROOT, 'build'), join(place, 'build'), { recursive: true });
  mkdirSync(join(place, 'dist'));
  for (const name of readdirSync(compiled).filter((file) => !file.startsWith('.')))
    symlinkSync(join(compiled, name), join(place, 'dist', name));
  for (const name of ['node_modules', ...further]) symlinkSync(join(ROOT, name), join(place, name));
  // What lies there is the build of these sources.
  const mark = "import { writeMark } from './build/compile.js'; writeMark();";
  const args = ['--input-type=module', '--eval', mark];
  assert.equal(spawnSync(process.execPath, args, { cwd: place }).status, 0);
  return place;
}
