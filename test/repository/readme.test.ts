/**
 * The name of the package is the same everywhere; the examples of test/README.md are copies of
 * tests that run.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import {
  commandsOfReadme,
  FOLLOWED,
  FOLLOWED_BY_FORM,
  FOLLOWED_IN_CLUSTER,
  firstSteps,
  LEFT_OUT,
} from '../common/readme-commands.ts';
import { ROOT } from '../common/root.ts';

const FOLDER = join(ROOT, 'test');

test('each example of a test is in the file that the text before it links to', () => {
  const text = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  const examples = [...text.matchAll(/```ts\n([\s\S]*?)```/g)];
  assert(examples.length >= 4, 'engine, storage, route and catalog have one');
  for (const { 1: example, index } of examples) {
    const [, file] = [...text.slice(0, index).matchAll(/\(([\w/-]+\.test\.ts)\)/g)].at(-1)!;
    assert(readFileSync(join(FOLDER, file!), 'utf8').includes(example!), `${file}: ${example}`);
  }
});

test('the package, README, page, documents, dashboard, containers and service have one name', () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
  const { name } = JSON.parse(read('package.json')) as { readonly name: string };
  for (const [path, text] of [
    ['README.md', `# ${name}\n`],
    ['server/page/desk/index.html', `<title>${name}</title>`],
    ['server/page/desk/desk.tsx', `<span>${name}</span>`],
    ['server/page/desk/icon.svg', `<title>${name}</title>`],
    ['server/routes/openapi.ts', `title: '${name}'`],
    ['server/routes/asyncapi.ts', `title: '${name}: streams'`],
    ['server/routes/viewer.ts', `<title>${name}: API</title>`],
    ['server/deploy/grafana/dashboards/node.json', `"title": "${name}"`],
    ['server/deploy/compose.yaml', `\nname: ${name}\n`],
    ['server/deploy/prediction-market-node.service', `\nDescription=${name}\n`],
  ] as const)
    assert(read(path).includes(text), `${path} says ${text}`);
});

test('the README shows the picture first and says at once that the money is not real', () => {
  const paragraphs = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n\n');
  assert.match(paragraphs[1]!, /^\[!\[.*\]\(server\/page\/app\.webp\)\]/);
  assert.match(paragraphs[2]!, /\*\*for play money: by default\s+there are no balances/);
});

/** Data directories and files that the commands of a document make in the checkout. */
function madeBy(text: string): { readonly directories: string[]; readonly files: string[] } {
  const commands = [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`\n]+)`/g)];
  const all = commands.map(([, block, inline]) => block ?? inline).join('\n');
  const named = [...all.matchAll(/DATA_DIR=\.\/(\w+)|--dir \.\/(\w+)|^mkdir ([\w-]+)/gm)];
  return {
    directories: [...new Set(named.map((match) => match[1] ?? match[2] ?? match[3]!))].sort(),
    files: [...new Set(all.match(/\b[\w-]+\.(?:rec\.gz|rec|html)\b/g))].sort(),
  };
}

test('each command of README and of the guides is followed by a test, or has a reason why not', () => {
  const commands = commandsOfReadme();
  const isFollowed = (line: string): boolean =>
    [...FOLLOWED, ...FOLLOWED_IN_CLUSTER].includes(line) ||
    FOLLOWED_BY_FORM.some((form) => form.test(line));
  assert.deepEqual(
    commands.filter((line) => !isFollowed(line) && !Object.hasOwn(LEFT_OUT, line)),
    [],
    'run it in test/cli/readme.slow.test.ts, or say in test/common/readme-commands.ts why not',
  );
  for (const line of [...FOLLOWED, ...FOLLOWED_IN_CLUSTER, ...Object.keys(LEFT_OUT)])
    assert(commands.includes(line), `no page has such a command any more: ${line}`);
});

test('files that these commands create are ignored by version control and container images', () => {
  const { directories, files } = madeBy(firstSteps());
  assert(directories.length >= 4 && files.length >= 3, 'they name some');
  for (const name of ['.gitignore', '.dockerignore']) {
    const lines = readFileSync(join(ROOT, name), 'utf8').split('\n');
    for (const directory of directories) {
      const numbered = directory.replace(/\d+$/, '[0-9]*');
      const forms = [`/${directory}`, `/${numbered}`].flatMap((form) => [form, `${form}/`]);
      assert(
        forms.some((form) => lines.includes(form)),
        `${name} leaves out ${directory}, at the root alone`,
      );
    }
    assert(
      lines.some((line) => /^(?:\*\*\/)?node\.key$/.test(line)),
      `${name} leaves out keys`,
    );
  }
  if (!existsSync(join(ROOT, '.git'))) return;
  const isIgnored = (path: string): boolean =>
    spawnSync('git', ['check-ignore', '--no-index', '--quiet', path], { cwd: ROOT }).status === 0;
  for (const directory of directories) assert(isIgnored(`${directory}/log/1`), directory);
  for (const file of [...files, 'elsewhere/node.key']) assert(isIgnored(file), file);
  const { stdout } = spawnSync('git', ['ls-files', '-ci', '--exclude-standard'], { cwd: ROOT });
  assert.equal(String(stdout), '', 'no file of the project is left out');
  assert(!isIgnored('server/venue/new.ts') && !isIgnored('server/paper/new.ts'));
});
