/** The package of the client, as `npm pack ./client` makes it, installed in an empty folder. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';

function run(command: string, words: readonly string[], cwd: string): string {
  const { status, stderr, stdout } = spawnSync(command, words, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${words.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

export function installClient(): { readonly files: readonly string[]; readonly place: string } {
  // A copy, because packing compiles into the folder.
  const checkout = temporaryDirectory();
  for (const name of ['client', 'tsconfig.json', 'package.json']) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  const [file = ''] = run('npm', ['pack', './client', '--silent'], checkout).trim().split('\n');
  const files = run('tar', ['tzf', file], checkout).trim().split('\n');
  const place = temporaryDirectory();
  writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  run('npm', [...install, join(checkout, file)], place);
  return { files: files.map((name) => name.replace('package/', '')), place };
}

/** Compiles a program in that folder, which must have no type error, and runs it. */
export function compileAndRun(place: string, program: string): string {
  writeFileSync(join(place, 'bot.ts'), program);
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', ''];
  run(join(ROOT, 'node_modules/.bin/tsc'), [...options, 'bot.ts'], place);
  return run(process.execPath, ['bot.js'], place);
}
