/**
 * Writes a recording. Entries wait in memory until they make a member (members.ts); `flush` ends one earlier, so
 * that a kill loses no more than what came since. What is flushed is on disk.
 *
 * Thread: any; one at a time. Non-goals: going on with a file that is there.
 */
import { type FileHandle, open } from 'node:fs/promises';
import {
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordingEntry,
  type RecordingHeader,
} from './entries.ts';
import { encodeMember } from './members.ts';

/** Characters of a member: it deflates well, and a reader has one of them in memory. */
const MEMBER_LENGTH = 2 ** 20;

export type RecordingStart = Pick<RecordingHeader, 'venue' | 'started' | 'markets'> &
  Partial<Pick<RecordingHeader, 'inferred'>>;

export class RecordingWriter {
  private readonly file: FileHandle;
  private lines: string[] = [];
  private length = 0;
  private written = 0;
  /** The newest write; they follow one another. */
  private writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.file = file;
  }

  /** Bytes of the file. */
  get bytes(): number {
    return this.written;
  }

  /** Rejects when the file is there already: a recording is not begun over another one. */
  static async create(path: string, start: RecordingStart): Promise<RecordingWriter> {
    const writer = new RecordingWriter(await open(path, 'wx'));
    const format = { format: RECORDING_FORMAT, version: RECORDING_VERSION } as const;
    const header: RecordingHeader = { inferred: [], ...start, ...format };
    writer.add(JSON.stringify(header));
    return writer;
  }

  /** Resolves at once, except when a member is full: then when it is written. */
  async write(entry: RecordingEntry): Promise<void> {
    this.add(JSON.stringify(entry));
    if (this.length >= MEMBER_LENGTH) await this.flush();
  }

  /** Rejects when a write has failed: the recording ends there. */
  flush(): Promise<void> {
    const { lines } = this;
    this.lines = [];
    this.length = 0;
    if (lines.length === 0) return this.writing;
    const member = encodeMember(lines.join(''));
    this.writing = this.writing.then(async () => {
      const bytes = await member;
      await this.file.appendFile(bytes);
      await this.file.datasync();
      this.written += bytes.length;
    });
    return this.writing;
  }

  /** Ends the recording in order. */
  async close(at: number): Promise<void> {
    this.add(JSON.stringify({ at, kind: 'end' } satisfies RecordingEntry));
    try {
      await this.flush();
    } finally {
      await this.file.close();
    }
  }

  private add(line: string): void {
    this.lines.push(line, '\n');
    this.length += line.length;
  }
}
