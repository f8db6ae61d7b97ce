import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { useCompiledNodes } from '../common/forms.ts';

/** Output of a run of these files, by their names. */
function printed(
  context: TestContext,
  files: Readonly<Record<string, string>>,
  ...options: readonly string[]
) {
  const directory = mkdtempSync(join(tmpdir(), 'reporter-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const reporter = pathToFileURL(join(useCompiledNodes(), 'test/common/reporter.js')).href;
  const names = Object.keys(files).map((name) => join(directory, name));
  Object.values(files).forEach((text, i) => {
    writeFileSync(names[i]!, `import test from 'node:test';\n${text}`);
  });
  // A run inside a run would report to the outer one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = [
    '--test',
    `--test-reporter=${reporter}`,
    '--test-concurrency=1',
    ...options,
    ...names,
  ];
  return spawnSync(process.execPath, args, { encoding: 'utf8', env });
}

test('a run prints its suites, the whole error of each failed test, and at the end their names and the count', (t) => {
  const { status, stdout } = printed(t, {
    'right.mjs': `test('quiet', () => console.log('unread'));`,
    'wrong.mjs': `
      test('outer', (t) => t.test('inner', () => {
        console.log('replay with: SEED=7');
        throw new Error('it broke', { cause: new Error('by that') });
      }));
      test('other', () => {});`,
  });
  assert.equal(status, 1);
  assert.match(stdout, /^ +\d+\.\d s {2}right\.mjs\n/);
  assert.match(stdout, /\nfailed: outer > inner \(.*\)\n +\d+\.\d s {2}wrong\.mjs, FAILED\n/);
  assert.match(stdout, /OUTPUT of wrong\.mjs\nreplay with: SEED=7\n/);
  assert.match(stdout, /FAILED outer > inner \(.*wrong\.mjs:3\)\nError: it broke\n[\s\S]*by that/);
  assert.match(stdout, /\nfailed: outer > inner \(.*\)\ntests 4, .*pass 2, fail 2, .*ms \d+.*\n+$/);
  assert.doesNotMatch(stdout, /quiet|unread|other|subtest failed/);
});

test('the suites that failed are written, those that died too', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'failed-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const list = join(directory, 'list');
  const files = {
    'right.mjs': `test('quiet', () => {});`,
    'wrong.mjs': `test('outer', (t) => t.test('inner', () => { throw new Error('it broke'); }));`,
    'dying.mjs': `test('dies', () => process.exit(3));`,
  };
  const reporter = pathToFileURL(join(useCompiledNodes(), 'test/common/failed-suites.js')).href;
  const { status } = printed(
    t,
    files,
    '--test-reporter-destination=stdout',
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${list}`,
  );
  assert.equal(status, 1);
  const written = readFileSync(list, 'utf8').trim().split('\n');
  assert.deepEqual(written.map((path) => basename(path)).sort(), ['dying.mjs', 'wrong.mjs']);
});

test('a suite that dies says which tests it was running', (t) => {
  const { status, stdout } = printed(t, {
    'dying.mjs': `
      test('done', () => {});
      test('stuck', async () => {
        setTimeout(() => process.exit(3), 50);
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      });`,
  });
  assert.equal(status, 1);
  assert.match(stdout, /FAILED .*dying\.mjs\n[\s\S]*It was running:\nstuck \(.*dying\.mjs:4\)\n/);
  assert.doesNotMatch(stdout, /done/);
});

test('a suite that does not end within its time limit is killed and named, with what it was running', (t) => {
  const files = {
    'hanging.mjs': `
      test('done', () => setInterval(() => {}, 1_000));
      test('stuck', () => new Promise(() => {}));`,
  };
  const { status, stdout } = printed(t, files, '--test-timeout=3000');
  assert.equal(status, 1);
  assert.match(stdout, /FAILED .*hanging\.mjs/);
  assert.match(stdout, /timed out after 3000ms/);
  assert.match(stdout, /stuck \(.*hanging\.mjs:4\)\n/);
});
