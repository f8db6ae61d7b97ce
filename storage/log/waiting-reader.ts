/**
 * Reader of the log that waits while no file can be opened. Until then there is no next record, as if none had been
 * written.
 *
 * Thread: that of its reader.
 */
import { isOutOfFiles } from '../files/out-of-files.ts';
import type { LogEntry, LogReader } from './log.ts';

export class WaitingReader implements LogReader {
  private readonly reader: LogReader;
  private readonly warn: (line: string) => void;
  private isWaiting = false;

  /** @param warn called once when it begins to wait */
  constructor(reader: LogReader, warn: (line: string) => void) {
    this.reader = reader;
    this.warn = warn;
  }

  next(end: number): LogEntry | undefined {
    try {
      const entry = this.reader.next(end);
      this.isWaiting = false;
      return entry;
    } catch (error) {
      if (!isOutOfFiles(error)) throw error;
      if (!this.isWaiting) this.warn(`the log is read on later: ${(error as Error).message}`);
      this.isWaiting = true;
      return undefined;
    }
  }

  close(): void {
    this.reader.close();
  }
}
