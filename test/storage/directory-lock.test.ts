import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { foreignHolder, takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { scriptArgs } from '../common/forms.ts';
import { until } from '../common/node-harness.ts';
import { directoryOf } from './stored-exchange.ts';

const hasFlock = process.platform === 'linux' && spawnSync('flock', ['--version']).status === 0;
const hasNamespaces = hasFlock && spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;
const LOCKING = { skip: hasFlock ? false : 'there is no command flock' };

const HOLDER = `
import { takeDirectoryLock } from './storage/files/directory-lock.ts';
const [directory] = process.argv.slice(-1);
const lock = takeDirectoryLock(directory);
process.stdout.write(lock.ok ? 'taken' : lock.detail);
setInterval(() => undefined, 1_000);
`;

/** Runs a process that takes the lock and keeps it; resolves with its output. */
async function holding(t: TestContext, directory: string, before: readonly string[] = []) {
  const { args, cwd } = scriptArgs(HOLDER);
  const [command, ...rest] = [...before, process.execPath, ...args, directory];
  const child = spawn(command!, rest, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => void child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: said.toString() };
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

function take(directory: string): () => void {
  const lock = takeDirectoryLock(directory);
  assert(lock.ok && lock.isLocked, 'the lock is free');
  return lock.release;
}

test('the lock is taken once in a process, and is free again after its release', LOCKING, (t) => {
  const directory = directoryOf(t);
  const release = take(directory);
  assert.deepEqual(takeDirectoryLock(directory), {
    ok: false,
    detail: `DATA_DIR ${directory} is in use by process ${process.pid}`,
  });
  release();
  const again = take(directory);
  // A second release of the first one must not free it.
  release();
  assert(!takeDirectoryLock(directory).ok);
  again();
});

test(
  'a process keeps the lock while it is stopped, and loses it by a kill at once',
  LOCKING,
  async (t) => {
    const directory = directoryOf(t);
    writeFileSync(join(directory, 'node.lock'), 'nonsense');
    const { child, said } = await holding(t, directory);
    assert.equal(said, 'taken');
    child.kill('SIGSTOP');
    const refused = takeDirectoryLock(directory);
    assert(!refused.ok && refused.detail.endsWith(`in use by process ${child.pid}`));
    assert.equal(foreignHolder(directory), undefined, 'it is of this namespace');
    await killed(child);
    take(directory)();
  },
);

test('a process of another PID namespace keeps the lock, and is distinguished', {
  skip: hasNamespaces ? false : 'no PID namespaces here',
}, async (t) => {
  const directory = directoryOf(t);
  const release = take(directory);
  const inside = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const outer = await holding(t, directory, inside);
  assert.match(outer.said, /is in use by process \d+ of another container/);
  await killed(outer.child);
  release();
  const { child, said } = await holding(t, directory, inside);
  assert.equal(said, 'taken');
  const refused = takeDirectoryLock(directory);
  assert(!refused.ok);
  assert.match(refused.detail, /is in use by process 1 of another container \(.+\)$/);
  assert.match(foreignHolder(directory) ?? '', /run the command there/);
  await killed(child);
  // It may take the kernel a moment to end the namespace.
  await until(() => takeFreed(directory));
  assert.equal(foreignHolder(directory), undefined);
});

function takeFreed(directory: string): boolean {
  const lock = takeDirectoryLock(directory);
  if (lock.ok) lock.release();
  return lock.ok;
}

test('a directory that cannot be written excludes nobody, and a message says so', LOCKING, (t) => {
  const lock = takeDirectoryLock(join(directoryOf(t), 'missing'));
  assert(lock.ok && !lock.isLocked);
  lock.release();
});

test('the lock covers this container only without the command', LOCKING, (t) => {
  const directory = directoryOf(t);
  const { PATH } = process.env;
  process.env.PATH = '';
  try {
    const lock = takeDirectoryLock(directory);
    assert(lock.ok && lock.isLocked);
    assert.match(lock.warning ?? '', /no command flock/);
    assert(!takeDirectoryLock(directory).ok);
    lock.release();
  } finally {
    process.env.PATH = PATH;
  }
});
