/**
 * Writes a recording. Entries wait in memory for a whole member (members.ts); `flush` ends one earlier, so that a
 * kill loses only newer entries. Flushed members are on disk.
 *
 * Thread: any; one writer of a file at a time. Non-goals: continuing an existing file.
 */
import { type FileHandle, open } from 'node:fs/promises';
import {
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordingEntry,
  type RecordingHeader,
} from './entries.ts';
import { encodeMember } from './members.ts';

/** Characters of a member: enough to deflate well, few enough to stay in memory. */
const MEMBER_LENGTH = 2 ** 20;

export type RecordingStart = Pick<RecordingHeader, 'venue' | 'started' | 'markets'> &
  Partial<Pick<RecordingHeader, 'inferred'>>;

export class RecordingWriter {
  private readonly file: FileHandle;
  private lines: string[] = [];
  private length = 0;
  private written = 0;
  /** The newest write. Writes follow one another. */
  private writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.file = file;
  }

  get bytes(): number {
    return this.written;
  }

  /** Rejects if the file exists. */
  static async create(path: string, start: RecordingStart): Promise<RecordingWriter> {
    const writer = new RecordingWriter(await open(path, 'wx'));
    const format = { format: RECORDING_FORMAT, version: RECORDING_VERSION } as const;
    const header: RecordingHeader = { inferred: [], ...start, ...format };
    writer.add(JSON.stringify(header));
    return writer;
  }

  /** Resolves at once, or after the write of a full member. */
  async write(entry: RecordingEntry): Promise<void> {
    this.add(JSON.stringify(entry));
    if (this.length >= MEMBER_LENGTH) await this.flush();
  }

  /** Rejects when a write has failed. The recording ends there. */
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

  /** @param at unix milliseconds of the end; without it the recording has none, as after a kill */
  async close(at?: number): Promise<void> {
    if (at !== undefined) this.add(JSON.stringify({ at, kind: 'end' } satisfies RecordingEntry));
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
