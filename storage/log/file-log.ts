/**
 * Log in segment files (segments.ts). Each group of batches (group-commit.ts) is one write to a file opened with
 * O_DSYNC, so that a completed write is on disk. The next segment is prepared early and stays open: a full disk, or
 * a lack of file descriptors, shows before a record is at risk.
 *
 * Thread: the I/O thread writes; the work itself is done by the threads of libuv.
 */
import assert from 'node:assert/strict';
import { constants, promises, write } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from '../files/make-directory.ts';
import { isOutOfFiles } from '../files/out-of-files.ts';
import { cutTorn, findEnd, type LogEnd } from './find-end.ts';
import { GroupCommit } from './group-commit.ts';
import {
  type LentPlace,
  type LoanEnd,
  type Log,
  LogDamage,
  type LogEntry,
  type LogReader,
} from './log.ts';
import { SegmentReader } from './reader.ts';
import { recordBytes, writeRecord } from './record.ts';
import {
  fillZeros,
  listSegments,
  type OpenSegment,
  openDirectory,
  prepareSegment,
  removeUnfinished,
  type Segment,
} from './segments.ts';

export interface FileLogOptions {
  readonly dataDir: string;
  /** flushed: an acknowledged record survives a power cut; committed: a kill only. */
  readonly durability: 'flushed' | 'committed';
  readonly segmentBytes: number;
  readonly log: (line: string) => void;
  readonly readOnly?: boolean;
  /** Batch that a reader of the log has applied. A log that ends before it is damaged, and nothing is cut. */
  readonly seen?: { readonly sequence: number; readonly by: string };
}

const RETRY_MS = 1_000;
/** Size of the first segment at most: the first start of a node waits for its zeros. */
const FIRST_BYTES_MAX = 1 << 20;
/** `undefined` where the system has no O_DSYNC: a write is then followed by a flush. */
const O_DSYNC: number | undefined = constants.O_DSYNC;

export class FileLog extends GroupCommit implements Log {
  first: number;
  onRoom: (problem: string | undefined) => void = () => undefined;
  private readonly o: FileLogOptions;
  private readonly directory: string;
  private segment: Segment | undefined;
  private file: promises.FileHandle | undefined;
  private offset: number;
  private link: number;
  private next: OpenSegment | undefined;
  /** Open directory, with which names of files are flushed. */
  private names: promises.FileHandle | undefined;
  private preparing: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isFull = false;
  private isLent = false;
  private isClosing = false;
  private scratch = Buffer.allocUnsafeSlow(1 << 16);

  private constructor(options: FileLogOptions, directory: string, end: LogEnd) {
    super({ last: end.newest?.sequence ?? 0, digest: end.newest?.after ?? 0 });
    this.o = options;
    this.directory = directory;
    this.first = end.first;
    this.link = end.newest?.crc ?? 0;
    this.segment = end.segment;
    this.offset = end.offset;
  }

  /**
   * Opens a log, or makes one. Rejects with an Error that names the damage, or the reason why it cannot be written.
   * A read-only log need not exist.
   */
  static async open(options: FileLogOptions): Promise<FileLog> {
    const directory = logDirectory(options.dataDir);
    if (options.readOnly !== true) makeDirectory(directory);
    const end = exists(directory) ? findEnd(directory) : NOTHING;
    const last = end.newest?.sequence ?? 0;
    const { seen } = options;
    if (seen !== undefined && seen.sequence > last) {
      throw new LogDamage(
        `it ends with batch ${last}, but ${seen.by} holds batch ${seen.sequence}`,
      );
    }
    if (end.message !== undefined) options.log(end.message);
    const log = new FileLog(options, directory, end);
    if (options.readOnly === true) return log;
    try {
      await log.prove(end);
    } catch (error) {
      await log.close();
      throw error;
    }
    return log;
  }

  read(from: number): LogReader {
    return new SegmentReader(this.directory, from);
  }

  lend(): LentPlace | undefined {
    // Without O_DSYNC a record is durable after a second call.
    const isOneCall = O_DSYNC !== undefined || this.o.durability === 'committed';
    const { file, isClosing, segment } = this;
    if (file === undefined || segment === undefined) return undefined;
    if (isClosing || !isOneCall || !this.hold()) return undefined;
    this.isLent = true;
    return {
      file: file.fd,
      offset: this.offset,
      room: segment.bytes - this.offset,
      link: this.link,
      acknowledged: this.last,
      before: this.digest,
    };
  }

  endLoan(end: LoanEnd): void {
    assert(this.isLent, 'a loan ends once');
    this.isLent = false;
    if (this.isClosing) void this.closeFile();
    if (end.kind === 'failed') this.fail(new Error(end.message));
    if (end.kind !== 'written') {
      this.release(undefined);
      return;
    }
    assert.equal(end.sequence, this.last + 1, 'batches come in their order');
    this.link = end.crc;
    this.offset += end.bytes;
    this.release(end.after);
    if (this.first === 0) this.first = this.last;
    this.prepareAhead();
  }

  private async closeFile(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close();
  }

  async trim(sequence: number): Promise<void> {
    const segments = listSegments(this.directory);
    let hasRemoved = false;
    for (const [i, { path }] of segments.entries()) {
      const next = segments[i + 1];
      if (next === undefined || next.first === 0 || next.first > sequence + 1) break;
      await promises.rm(path, { force: true });
      this.first = next.first;
      hasRemoved = true;
    }
    if (hasRemoved) await this.names?.sync();
  }

  async close(): Promise<void> {
    this.isClosing = true;
    this.stopRetrying();
    await this.preparing;
    this.stopRetrying();
    // A borrower that still writes must not find another file behind the descriptor.
    if (!this.isLent) await this.closeFile();
    for (const file of [this.next?.file, this.names]) await file?.close();
    this.next = undefined;
    this.names = undefined;
  }

  /** Cuts torn records and opens the segment that is written next. */
  private async prove({ torn }: LogEnd): Promise<void> {
    removeUnfinished(this.directory);
    cutTorn(torn);
    this.names = await openDirectory(this.directory);
    const segments = listSegments(this.directory);
    if (this.segment === undefined) {
      const { file, segment } = await this.make(1, Math.min(this.o.segmentBytes, FIRST_BYTES_MAX));
      this.segment = segment;
      this.file = file;
    }
    const present = this.segment;
    const [next, ...others] = segments.filter(({ number }) => number > present.number);
    // The other segments are empty; each is made again when it is needed.
    for (const { path } of others.reverse()) await promises.rm(path);
    this.file ??= await this.openFile(present);
    if (next !== undefined) this.next = { segment: next, file: await this.openFile(next) };
    // A segment that is half full needs the next one before it takes a record.
    else if (2 * this.offset > present.bytes) {
      this.next = await this.make(present.number + 1, this.o.segmentBytes);
    }
  }

  private get syncs(): number {
    return this.o.durability === 'flushed' ? (O_DSYNC ?? 0) : 0;
  }

  private openFile({ path }: Segment): Promise<promises.FileHandle> {
    return promises.open(path, constants.O_RDWR | this.syncs);
  }

  private make(number: number, bytes: number): Promise<OpenSegment> {
    const { directory, names, syncs } = this;
    return prepareSegment({ directory, names, syncs }, number, bytes);
  }

  protected async write(entries: readonly LogEntry[]): Promise<void> {
    let filled = 0;
    for (const entry of entries) {
      assert(entry.payload.buffer instanceof ArrayBuffer, 'the log is handed ordinary memory only');
      const bytes = recordBytes(entry.payload.length);
      if (this.offset + filled + bytes > this.segment!.bytes) {
        await this.flush(filled);
        filled = 0;
        await this.switch(bytes);
      }
      this.reserve(filled, filled + bytes);
      this.link = writeRecord(this.scratch, filled, entry, this.link, this.last);
      filled += bytes;
    }
    await this.flush(filled);
    if (this.first === 0) this.first = entries[0]!.sequence;
    this.prepareAhead();
  }

  private reserve(filled: number, bytes: number): void {
    if (bytes <= this.scratch.length) return;
    const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
    this.scratch.copy(larger, 0, 0, filled);
    this.scratch = larger;
  }

  private async flush(bytes: number): Promise<void> {
    const file = this.file!;
    for (let done = 0; done < bytes; ) {
      done += await writeAt(file.fd, this.scratch, done, bytes - done, this.offset + done);
    }
    if (bytes > 0 && O_DSYNC === undefined && this.o.durability === 'flushed') {
      await file.datasync();
    }
    this.offset += bytes;
  }

  private async switch(bytes: number): Promise<void> {
    await this.preparing;
    // A retry meanwhile would make the same segment, over this one.
    this.stopRetrying();
    this.next ??= await this.makeNow(Math.max(bytes, this.o.segmentBytes));
    const { file, segment } = this.next;
    if (bytes > segment.bytes) await fillZeros(file, segment.bytes, bytes);
    const before = this.file!;
    this.file = file;
    this.segment = { ...segment, bytes: Math.max(bytes, segment.bytes) };
    this.next = undefined;
    this.offset = 0;
    await before.close();
  }

  /** Makes a segment that was not prepared in time. The write waits while no file can be opened. */
  private async makeNow(bytes: number): Promise<OpenSegment> {
    for (;;) {
      try {
        return await this.make(this.segment!.number + 1, bytes);
      } catch (error) {
        if (!isOutOfFiles(error) || this.isClosing) throw error;
        this.lack(error as Error);
        await sleep(RETRY_MS);
      }
    }
  }

  /** Stops intake until the next segment exists. */
  private lack({ message }: Error): void {
    if (!this.isFull) this.onRoom(`the next segment cannot be made: ${message}`);
    this.isFull = true;
  }

  private stopRetrying(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
  }

  /** Makes the next segment from a quarter on, so that it exists before half is used; at once after a full disk. */
  private prepareAhead(): void {
    if (this.isClosing) return;
    const isUnderWay = this.preparing !== undefined || this.retry !== undefined;
    if (isUnderWay || this.next !== undefined) return;
    if (!this.isFull && 4 * this.offset <= this.segment!.bytes) return;
    this.preparing = this.prepare().finally(() => {
      this.preparing = undefined;
    });
  }

  private async prepare(): Promise<void> {
    const { number } = this.segment!;
    try {
      this.next = await this.make(number + 1, this.o.segmentBytes);
      if (this.isFull) this.onRoom(undefined);
      this.isFull = false;
    } catch (error) {
      this.lack(error as Error);
      this.retry = setTimeout(() => {
        this.retry = undefined;
        this.prepareAhead();
      }, RETRY_MS).unref();
    }
  }
}

const NOTHING: LogEnd = {
  segment: undefined,
  offset: 0,
  newest: undefined,
  first: 0,
  torn: [],
  message: undefined,
};

/** Resolves with the bytes written. The method of FileHandle takes a tenth longer. */
function writeAt(
  file: number,
  buffer: Buffer,
  from: number,
  bytes: number,
  offset: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, buffer, from, bytes, offset, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });
}

export function logDirectory(dataDir: string): string {
  return join(dataDir, 'log');
}

function exists(directory: string): boolean {
  try {
    listSegments(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
