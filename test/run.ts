/**
 * Runs compiled tests, several files in each process.
 *
 *   npm test                          every file but those that end in .slow.test.ts
 *   npm run test:all                  every file
 *   npm run test:slow                 every file that ends in .slow.test.ts
 *   npm test -- orders                the files of a folder, slow ones too
 *   npm test -- test/orders/pool.test.ts
 *
 * TEST_CONCURRENCY is the number of processes at a time. The exit code is that of `node --test`. A suite that does not end
 * within its time limit is killed, and fails with its name and the tests that it was running.
 *
 * A suite of whole clusters or browsers that failed in a run of all slow tests runs once more, alone on the machine: its
 * time limits are of the wall clock, and the first run starts several at once. Both runs are reported.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isSlow, selectFiles, suitesOf } from './common/suites.ts';

const CONCURRENCY = Number(process.env.TEST_CONCURRENCY ?? '4');
/** Folders whose slow tests start whole clusters or browsers, which take the processors from one another. */
const HEAVY = /^(?:cluster|page)\//;
/** Suites of these folders at a time. */
const HEAVY_MAX = 2;
/** Time limit of one suite, in milliseconds. A long form takes longer. */
const SUITE_MS_MAX = (process.env.TEST_LONG === undefined ? 20 : 60) * 60_000;
const FOLDER = join(import.meta.dirname, `suites-${process.pid}`);
const FAILED = join(FOLDER, 'failed');

const args = process.argv.slice(2);
const wishes = args.filter((arg) => !arg.startsWith('--'));
const speed = args.includes('--all') ? 'all' : args.includes('--slow') ? 'slow' : 'fast';
const selected = selectFiles(wishes, speed);
if ('unknown' in selected) {
  process.stderr.write(`no folder and no file of test/ is named ${selected.unknown}\n`);
  process.exit(2);
}

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
const suites = suitesOf(selected.files).map(({ name, files }) => {
  const path = join(FOLDER, `${name}.js`);
  const names = JSON.stringify(files.map((file) => file.replace(/\.ts$/, '.js')));
  writeFileSync(
    path,
    `import { importFiles } from '../common/import-files.js';\n\nawait importFiles(${names});\n`,
  );
  return { path, isHeavy: files.some((file) => HEAVY.test(file) && isSlow(file)) };
});

function run(paths: readonly string[], concurrency: number): number {
  if (paths.length === 0) return 0;
  const options = [
    '--test',
    `--test-reporter=${join(import.meta.dirname, 'common/reporter.js')}`,
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'common/failed-suites.js')}`,
    `--test-reporter-destination=${FAILED}`,
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${SUITE_MS_MAX}`,
  ];
  const { status } = spawnSync(process.execPath, [...options, ...paths], { stdio: 'inherit' });
  return status ?? 1;
}

function runHeavy(): number {
  const code = run(pathsOf(true), Math.min(CONCURRENCY, HEAVY_MAX));
  if (code === 0 || speed === 'fast' || wishes.length > 0) return code;
  const failed = readFileSync(FAILED, 'utf8').split('\n');
  const paths = pathsOf(true).filter((path) => failed.includes(path));
  process.stdout.write(`once more, alone: ${paths.map((path) => basename(path)).join(', ')}\n`);
  return paths.length === 0 ? code : run(paths, 1);
}

function pathsOf(isHeavy: boolean): readonly string[] {
  return suites.filter((suite) => suite.isHeavy === isHeavy).map(({ path }) => path);
}

const codes = [run(pathsOf(false), CONCURRENCY), runHeavy()];
rmSync(FOLDER, { recursive: true });
process.exitCode = Math.max(...codes);
