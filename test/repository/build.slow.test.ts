/**
 * Programs run from the built form, and are built again where their sources have changed
 * (build/run.js).
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';

/** Stands for the compiler: copies server/ and bench/, and counts its runs, without those for the page. */
const COMPILER = `
if (process.argv.includes('-p')) process.exit();
import { appendFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('compiled.txt', 'x');
console.log('the compiler speaks');
if (existsSync('server/broken.ts')) process.exit(1);
cpSync('server/cli.ts', 'dist/node/server/cli.js');
cpSync('bench/load.ts', 'dist/bench/load.js');
mkdirSync('dist/build', { recursive: true });
writeFileSync('dist/build/bundle.js', '');
`;

/** A checkout with two programs, which print their names and arguments. */
class Checkout {
  readonly place = temporaryDirectory();

  constructor() {
    cpSync(join(ROOT, 'build'), join(this.place, 'build'), { recursive: true });
    this.write('node_modules/typescript/bin/tsc', COMPILER);
    this.write('package.json', '{"type": "module"}');
    this.write('server/cli.ts', "console.log('cli 1', ...process.argv.slice(2));");
    this.write('bench/load.ts', "console.log('load 1', ...process.argv.slice(2));");
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.place, path)), { recursive: true });
    writeFileSync(join(this.place, path), text);
  }

  begin(...args: readonly string[]): ChildProcess {
    return spawn(process.execPath, ['build/run.js', ...args], { cwd: this.place });
  }

  run(...args: readonly string[]) {
    const options = { cwd: this.place, encoding: 'utf8' } as const;
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      ['build/run.js', ...args],
      options,
    );
    return { status, stderr, stdout };
  }

  builds(): number {
    return readFileSync(join(this.place, 'compiled.txt'), 'utf8').length;
  }
}

const CLI = 'node/server/cli.js';

test('a program is built before its first run and runs without output of the build from then on', () => {
  const checkout = new Checkout();
  const first = checkout.run(CLI, 'a', 'b');
  assert.match(first.stderr, /^nothing is built yet: building\nthe compiler speaks\nbuilt in /);
  assert.equal(first.stdout, 'cli 1 a b\n');
  assert.deepEqual(checkout.run(CLI), { status: 0, stderr: '', stdout: 'cli 1\n' });
  assert.equal(checkout.run('bench/load.js', 'c').stdout, 'load 1 c\n');
  assert.equal(checkout.builds(), 1);
});

test('a changed, touched or removed source is built again, for the programs that have it', () => {
  const checkout = new Checkout();
  checkout.run(CLI);
  checkout.write('bench/load.ts', "console.log('load 2')");
  assert.equal(checkout.run(CLI).stderr, '', 'the node has no benchmark');
  const load = checkout.run('bench/load.js');
  assert.match(load.stderr, /^sources have changed since the last build: building\n/);
  assert.equal(load.stdout, 'load 2\n');
  const changes: readonly (() => void)[] = [
    () => checkout.write('server/cli.ts', "console.log('cli 2');"),
    () => checkout.write('server/other.ts', ''),
    () => rmSync(join(checkout.place, 'server/other.ts')),
    // An older file of another branch.
    () => utimesSync(join(checkout.place, 'server/cli.ts'), 1_000_000, 1_000_000),
    () => checkout.write('server/page/app/main.tsx', ''),
    () => checkout.write('server/page/app/app.css', ''),
    () => checkout.write('package-lock.json', '{}'),
    () => rmSync(join(checkout.place, 'dist/node'), { recursive: true }),
  ];
  for (const [i, change] of changes.entries()) {
    change();
    assert.equal(checkout.run(CLI).stdout, 'cli 2\n', `change ${i}`);
    assert.equal(checkout.builds(), i + 3, `change ${i} is built`);
  }
  checkout.write('test/some.test.ts', '');
  checkout.write('server/README.md', '');
  assert.equal(checkout.run(CLI).stderr, '');
});

test('a program does not run where the build fails, and the next run builds again', () => {
  const checkout = new Checkout();
  checkout.run(CLI);
  checkout.write('server/broken.ts', '');
  for (let round = 0; round < 2; round++) {
    const { status, stderr, stdout } = checkout.run(CLI);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /the build failed\n$/);
  }
  rmSync(join(checkout.place, 'server/broken.ts'));
  assert.equal(checkout.run(CLI).stdout, 'cli 1\n');
});

test('one of several simultaneous programs builds, and a killed build blocks none', async () => {
  const checkout = new Checkout();
  const children = Array.from({ length: 4 }, () => checkout.begin(CLI));
  const codes = await Promise.all(children.map((child) => once(child, 'close')));
  assert.deepEqual(
    codes.map(([code]) => code),
    [0, 0, 0, 0],
  );
  assert.equal(checkout.builds(), 1);
  const { pid } = spawnSync(process.execPath, ['--version']);
  checkout.write('dist/.building', String(pid));
  checkout.write('server/cli.ts', "console.log('cli 3');");
  assert.equal(checkout.run(CLI).stdout, 'cli 3\n');
});
