import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptArgs } from '../common/forms.ts';
import { until } from '../common/node-harness.ts';
import { logOf } from './log-stage.ts';
import { directoryOf } from './stored-exchange.ts';

/** Appends, trims and switches without a pause; prints each acknowledged sequence. */
const WRITER = `
import { FileLog } from './storage/log/file-log.ts';
const [dataDir] = process.argv.slice(-1);
const log = await FileLog.open({
  dataDir, durability: 'committed', segmentBytes: 8_192, log: () => undefined,
});
for (;;) {
  const entries = [];
  let before = log.digest;
  for (let i = 0; i < 1 + (log.last % 5); i++) {
    const sequence = log.last + 1 + i;
    const payload = Buffer.alloc((sequence * 97) % 1_500, 1 + (sequence % 250));
    entries.push({ sequence, time: sequence, before, after: sequence | 0, payload });
    before = sequence | 0;
  }
  await log.append(entries, log.last);
  process.send(log.last);
  if (log.last % 7 === 0) await log.trim(log.last - 40);
}
`;

test('a process killed while it writes, prepares, switches or trims loses nothing', async (t) => {
  const dataDir = directoryOf(t);
  let announced = 0;
  for (let round = 0; round < 6; round++) {
    const { args, cwd } = scriptArgs(WRITER);
    const child = spawn(process.execPath, [...args, dataDir], {
      cwd,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', (sequence: number) => {
      announced = sequence;
    });
    // So many at least, however slow the machine is.
    const enough = announced + 25;
    await once(child, 'message');
    await until(() => announced >= enough || child.exitCode !== null);
    await sleep(Math.random() * 60);
    child.kill('SIGKILL');
    await once(child, 'close');
    const log = await logOf(t, dataDir, { readOnly: true });
    assert(log.last >= announced, `batch ${announced} was announced, the log ends at ${log.last}`);
    // Trimmed up to the fortieth before the last, which was that of another moment at most.
    assert(log.first <= Math.max(1, log.last - 39), 'no more was trimmed than was asked');
    const reader = log.read(log.first);
    for (let sequence = log.first; sequence <= log.last; sequence++) {
      const { payload } = reader.next(log.last)!;
      assert.deepEqual(payload, Buffer.alloc((sequence * 97) % 1_500, 1 + (sequence % 250)));
    }
    reader.close();
  }
  assert(announced > 100, 'it went through many segments');
});
