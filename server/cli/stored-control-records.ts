/**
 * Control records of a DATA_DIR, also while a node runs there: the rows of keys/, and those of the log after their
 * position.
 */

import { withControlRecords } from '../../storage/control-records/control-record-store.ts';
import type { ControlRecord } from '../../storage/control-records/control-records.ts';
import { readControlRecords } from '../../storage/control-records/read-control-records.ts';
import { logDirectory } from '../../storage/log/file-log.ts';
import { wholeEnd } from '../../storage/log/readable-end.ts';
import { SegmentReader } from '../../storage/log/reader.ts';

export async function storedControlRecords(dataDir: string): Promise<ControlRecord[]> {
  const records: ControlRecord[] = [];
  await withControlRecords(dataDir, { durability: 'flushed', readOnly: true }, (store) => {
    const directory = logDirectory(dataDir);
    const end = wholeEnd(directory) ?? { digest: 0, first: 0, last: 0 };
    const read = (from: number) => new SegmentReader(directory, from);
    readControlRecords(store, { ...end, read }, (record) => records.push(record));
  });
  return records;
}
