/**
 * Runs compiled tests, several files in each process.
 *
 *   npm test                          every file but those that end in .slow.test.ts
 *   npm run test:all                  every file
 *   npm test -- orders                the files of a folder, slow ones too
 *   npm test -- test/orders/pool.test.ts
 *
 * TEST_CONCURRENCY is the number of processes at a time. The exit code is that of `node --test`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selectFiles, suitesOf } from './common/suites.ts';

const CONCURRENCY = process.env.TEST_CONCURRENCY ?? '4';
const FOLDER = join(import.meta.dirname, `suites-${process.pid}`);

const args = process.argv.slice(2);
const selected = selectFiles(
  args.filter((arg) => arg !== '--all'),
  args.includes('--all'),
);
if ('unknown' in selected) {
  process.stderr.write(`no folder and no file of test/ is named ${selected.unknown}\n`);
  process.exit(2);
}

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
const paths = suitesOf(selected.files).map(({ name, files }) => {
  const path = join(FOLDER, `${name}.js`);
  const names = JSON.stringify(files.map((file) => file.replace(/\.ts$/, '.js')));
  writeFileSync(
    path,
    `import { importFiles } from '../common/import-files.js';\n\nawait importFiles(${names});\n`,
  );
  return path;
});

const reporter = join(import.meta.dirname, 'common/reporter.js');
const options = ['--test', `--test-reporter=${reporter}`, `--test-concurrency=${CONCURRENCY}`];
const { status } = spawnSync(process.execPath, [...options, ...paths], { stdio: 'inherit' });
rmSync(FOLDER, { recursive: true });
process.exitCode = status ?? 1;
