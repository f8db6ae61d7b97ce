/**
 * Reader of records in order, from any stored sequence, also while a writer in another thread continues. Every
 * record is compared with the one before it.
 *
 * Thread: any, synchronously; each has a reader of its own.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { LogDamage, type LogEntry, type LogReader } from './log.ts';
import { linkProblem, PREFIX_BYTES, readRecord, type StoredRecord, storedBytes } from './record.ts';
import { listSegments, lookAt, type Segment } from './segments.ts';

const WINDOW_BYTES = 1 << 18;
/** Bytes read again at the end: some records written since, then zeros. */
const FRESH_BYTES = 1 << 15;

export class SegmentReader implements LogReader {
  private readonly directory: string;
  private segment: Segment;
  private file: number;
  /** Bytes [start, start + filled) of the segment; the next record begins at byte `at`. */
  private window = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  private start = 0;
  private filled = 0;
  private at = 0;
  private sequence: number;
  private before: StoredRecord | undefined;

  /** Throws an Error when the record `from` neither exists nor is the next one. */
  constructor(directory: string, from: number) {
    this.directory = directory;
    const holding = listSegments(directory).filter(({ first }) => first > 0 && first <= from);
    const segment = holding.at(-1) ?? lookAt(directory, listSegments(directory)[0]?.number ?? 1);
    if (segment === undefined || (segment.first > from && segment.first !== 0)) {
      const first = segment === undefined ? 'nothing' : `batch ${segment.first}`;
      throw new LogDamage(`batch ${from} is not there any more, it begins with ${first}`);
    }
    this.segment = segment;
    this.file = openSync(segment.path, 'r');
    this.sequence = segment.first === 0 ? from : segment.first;
    while (this.sequence < from && this.next(from - 1) !== undefined);
  }

  next(end: number): LogEntry | undefined {
    if (this.sequence > end) return undefined;
    const record = this.find();
    if (typeof record === 'string') {
      throw new LogDamage(`batch ${this.sequence}: ${record}`);
    }
    this.at += record.bytes;
    this.sequence += 1;
    this.before = record;
    return record;
  }

  close(): void {
    closeSync(this.file);
  }

  private find(): StoredRecord | string {
    const seen = this.parse();
    if (typeof seen !== 'string') return seen;
    // Bytes read before may have been overwritten with records since.
    this.fill(FRESH_BYTES);
    const fresh = this.parse();
    if (typeof fresh !== 'string' || !this.enterNext()) return fresh;
    return this.parse();
  }

  private parse(): StoredRecord | string {
    this.need(PREFIX_BYTES);
    const at = this.at - this.start;
    if (at + PREFIX_BYTES > this.filled) return 'it is missing';
    this.need(storedBytes(this.window, at));
    const record = readRecord(this.window.subarray(0, this.filled), this.at - this.start);
    if (typeof record === 'string') return record;
    if (this.before !== undefined) return linkProblem(record, this.before) ?? record;
    return record.sequence === this.sequence ? record : `its sequence is ${record.sequence}`;
  }

  /** Reads up to `bytes` from the current byte on into the window. */
  private need(bytes: number): void {
    if (this.at >= this.start && this.at + bytes <= this.start + this.filled) return;
    if (this.at + bytes <= this.segment.bytes) this.fill(Math.max(WINDOW_BYTES, bytes));
  }

  private fill(bytes: number): void {
    if (this.window.length < bytes) this.window = Buffer.allocUnsafeSlow(bytes);
    this.start = this.at;
    this.filled = readSync(this.file, this.window, 0, bytes, this.at);
  }

  private enterNext(): boolean {
    const next = lookAt(this.directory, this.segment.number + 1);
    if (next === undefined || next.first !== this.sequence) return false;
    // First of all: where it cannot be opened, nothing has changed.
    const file = openSync(next.path, 'r');
    closeSync(this.file);
    this.segment = next;
    this.file = file;
    this.at = 0;
    this.filled = 0;
    return true;
  }
}
