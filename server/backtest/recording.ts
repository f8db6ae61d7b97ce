/** Input of a backtest: a file, an opened recording, or a sequence of entries. */
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import {
  openRecording,
  type ReadEntry,
  type Recording,
} from '../../storage/recordings/recording.ts';
import { type Decreases, EntryOrder } from '../../storage/recordings/times.ts';

/**
 * A path, a recording that openRecording() returned, or entries in the order of their times. A path may also name
 * messages of a market channel, one JSON a line, or CSV of books and trades. A plain sequence of entries is taken to
 * include every trade.
 */
export type RecordingSource =
  | string
  | Recording
  | Iterable<RecordingEntry>
  | AsyncIterable<RecordingEntry>;

export interface Recorded {
  readonly inferred: readonly string[];
  /** Batches, because awaiting each entry costs more than many strategies do. */
  readonly batches: AsyncIterable<readonly ReadEntry[]>;
  readonly decreases: () => Decreases;
}

export async function recordedEntries(source: RecordingSource): Promise<Recorded> {
  const recording = typeof source === 'string' ? await openRecording(source) : source;
  if (!isOpened(recording)) {
    const order = new EntryOrder();
    return { inferred: [], batches: inBatches(recording, order), decreases: () => order };
  }
  const { catalog, header } = recording;
  const known = catalog.events.map(
    (event): ReadEntry => ({ at: header.started, kind: 'catalog', event }),
  );
  return {
    inferred: header.inferred,
    batches: after(known, recording.readBatches()),
    decreases: () => recording.decreases,
  };
}

function isOpened(source: Exclude<RecordingSource, string>): source is Recording {
  return 'batches' in source;
}

async function* after<T>(first: readonly T[], rest: AsyncIterable<readonly T[]>) {
  yield first;
  yield* rest;
}

async function* inBatches(
  entries: Iterable<RecordingEntry> | AsyncIterable<RecordingEntry>,
  order: EntryOrder,
) {
  for await (const entry of entries) yield order.batch([entry]);
}
