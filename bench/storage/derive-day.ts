/** The follower over a day that lies in a log, in this thread, with an image at its end. */
import { closedCount, fillCount } from '../../engine/reads.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import { LogProjector } from '../../storage/projection/log-projector.ts';
import { CAPACITIES } from './log-day.ts';

export interface Derived {
  /** Milliseconds of all steps, without the snapshot. */
  readonly followMs: number;
  /** Milliseconds of the snapshot. */
  readonly imageMs: number;
  /** Fills and final states that it put into LMDB since the first. */
  readonly rows: number;
}

/** A log to read from while nobody writes it. */
export function readLog(dataDir: string): Promise<FileLog> {
  return FileLog.open({
    dataDir,
    durability: 'committed',
    segmentBytes: 2 ** 24,
    log: () => undefined,
    readOnly: true,
  });
}

/** Applies all but the last `leave` batches, and takes a snapshot there. */
export async function deriveDay(dataDir: string, leave: number): Promise<Derived> {
  const log = await readLog(dataDir);
  const end = log.last - leave;
  const follower = new LogProjector(
    {
      dataDir,
      durability: 'flushed',
      capacities: CAPACITIES,
      imageSeconds: 86_400,
      imageBatches: 2 ** 31,
      logFirst: log.first,
      read: (from) => log.read(from),
      report: () => undefined,
    },
    Date.now(),
  );
  const began = performance.now();
  while (follower.step(end, Date.now()));
  const followed = performance.now();
  const rows = fillCount(follower.tables) + closedCount(follower.tables);
  follower.close(end, Date.now());
  await log.close();
  return { followMs: followed - began, imageMs: performance.now() - followed, rows };
}
