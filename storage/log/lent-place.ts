/**
 * The place of the next record of a log, lent to another thread: it writes the record of one batch there by itself,
 * which spares two changes of thread where one batch is under way. The log (file-log.ts) writes nothing until the
 * loan ends. A record that was written twice, by the borrower and then by the log, has the same bytes in the same
 * place.
 *
 * Thread: the borrower's.
 */
import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import type { LentPlace, LoanEnd, NewEntry } from './log.ts';
import { recordBytes, writeRecord } from './record.ts';

let scratch = Buffer.allocUnsafeSlow(1 << 16);

/** Returns its bytes and checksum once it is durable; `unused` = it has no room. Throws what the system reports. */
export function writeLent(place: LentPlace, entry: NewEntry): LoanEnd {
  assert.equal(entry.sequence, place.acknowledged + 1, 'a record follows the one before its place');
  const bytes = recordBytes(entry.payload.length);
  if (bytes > place.room) return { kind: 'unused' };
  if (bytes > scratch.length) scratch = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
  const whole = { ...entry, before: place.before };
  const crc = writeRecord(scratch, 0, whole, place.link, place.acknowledged);
  for (let done = 0; done < bytes; ) {
    done += writeSync(place.file, scratch, done, bytes - done, place.offset + done);
  }
  return { kind: 'written', sequence: entry.sequence, bytes, crc, after: entry.after };
}
