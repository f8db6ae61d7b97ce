import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { takePidLock } from '../../storage/files/pid-lock.ts';
import { scriptArgs } from '../common/forms.ts';
import { directoryOf } from './stored-exchange.ts';

const TAKER = `
import { takePidLock } from './storage/files/pid-lock.ts';
const [directory] = process.argv.slice(-1);
process.on('message', () => {
  const lock = takePidLock(directory);
  process.send(lock.ok ? 'taken' : lock.detail);
});
process.send('ready');
`;

async function startTaker(t: TestContext, directory: string): Promise<ChildProcess> {
  const { args, cwd } = scriptArgs(TAKER);
  const child = spawn(process.execPath, [...args, directory], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.after(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

async function take(child: ChildProcess): Promise<string> {
  child.send('take');
  return ((await once(child, 'message')) as [string])[0];
}

function taken(directory: string): () => void {
  const lock = takePidLock(directory);
  assert(lock.ok, 'the lock is free');
  return lock.release;
}

test('a second process is refused while the first runs, and not after it was killed', async (t) => {
  const directory = directoryOf(t);
  const child = await startTaker(t, directory);
  assert.equal(await take(child), 'taken');
  const refused = takePidLock(directory);
  assert.deepEqual(refused, {
    ok: false,
    detail: `DATA_DIR ${directory} is in use by process ${child.pid}`,
  });
  child.kill('SIGKILL');
  await once(child, 'close');
  taken(directory)();
});

test('the lock is taken once, and free again after its release', (t) => {
  const directory = directoryOf(t);
  const release = taken(directory);
  assert.equal(takePidLock(directory).ok, false);
  release();
  assert(!existsSync(join(directory, 'node.pid')));
  taken(directory)();
});

test('a file of a process that is gone, of a recycled pid, or of nonsense is replaced', (t) => {
  for (const text of ['999999999 5\n', `${process.pid} 5\n`, '', 'x', '-1 0', `${process.pid}\n`]) {
    const directory = directoryOf(t);
    writeFileSync(join(directory, 'node.pid'), text);
    const release = taken(directory);
    const refused = takePidLock(directory);
    assert(!refused.ok && refused.detail.endsWith(` is in use by process ${process.pid}`));
    release();
    assert(!existsSync(join(directory, 'node.pid')));
  }
});

test('the lock excludes nobody in a directory that cannot be written, and leaves nothing', (t) => {
  const missing = join(directoryOf(t), 'missing');
  const first = taken(missing);
  const second = taken(missing);
  first();
  second();
  assert(!existsSync(missing));
});

test('a release keeps the lock of another process', (t) => {
  const directory = directoryOf(t);
  const path = join(directory, 'node.pid');
  const release = taken(directory);
  writeFileSync(path, '1 77\n');
  release();
  assert.equal(readFileSync(path, 'utf8'), '1 77\n');
});

test('one of several processes that find a stale file at once gets the lock', async (t) => {
  const directory = directoryOf(t);
  const children = await Promise.all(Array.from({ length: 3 }, () => startTaker(t, directory)));
  for (let round = 0; round < 20; round++) {
    writeFileSync(join(directory, 'node.pid'), '999999999 5\n');
    const answers = await Promise.all(children.map(take));
    const winners = answers.filter((answer) => answer === 'taken');
    assert.equal(winners.length, 1, answers.join('; '));
  }
});
