/**
 * The recording of the newest job, with its entries in memory where there are few, so that the next runs over it read
 * and parse nothing. The counts of such a recording are those of all its entries.
 *
 * Thread: one of a sweep's pool.
 */
import {
  openRecording,
  type ReadEntry,
  type Recording,
} from '../../../storage/recordings/recording.ts';

/** Entries that are retained: some 100 MB of memory for each thread. */
const ENTRIES_MAX = 100_000;

let newest: { readonly path: string; readonly recording: Recording } | undefined;

export async function retainedRecording(path: string): Promise<Recording> {
  if (newest?.path !== path)
    newest = { path, recording: await retained(await openRecording(path)) };
  return newest.recording;
}

async function retained(recording: Recording): Promise<Recording> {
  const batches: (readonly ReadEntry[])[] = [];
  let count = 0;
  for await (const entries of recording.readBatches()) {
    count += entries.length;
    if (count > ENTRIES_MAX) return recording;
    batches.push(entries);
  }
  async function* again(): AsyncGenerator<readonly ReadEntry[]> {
    yield* batches;
  }
  return Object.create(recording, { readBatches: { value: again } }) as Recording;
}
