import type { TestContext } from 'node:test';
import { FileLog, type FileLogOptions } from '../../storage/log/file-log.ts';
import type { Log, LogEntry } from '../../storage/log/log.ts';
import type { Random } from '../common/random.ts';

export async function logOf(
  t: TestContext,
  dataDir: string,
  options: Partial<FileLogOptions> = {},
): Promise<FileLog> {
  const log = await FileLog.open({
    dataDir,
    durability: 'committed',
    segmentBytes: 1 << 16,
    log: () => undefined,
    ...options,
  });
  t.after(() => log.close());
  return log;
}

/** The next `count` records of a log, of all lengths, now and then larger than a small segment. */
export function chain(log: Log, random: Random, count: number): LogEntry[] {
  let before = log.digest;
  return Array.from({ length: count }, (_, i) => {
    const length = random.chance(2) ? random.between(4_000, 9_000) : random.between(0, 700);
    const after = random.between(-(2 ** 31), 2 ** 31 - 1);
    const sequence = log.last + 1 + i;
    const payload = Buffer.alloc(length, random.between(0, 255));
    const entry = { sequence, time: 1_000 + sequence, before, after, payload };
    before = after;
    return entry;
  });
}
