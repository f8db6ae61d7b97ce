/**
 * The log as a node of a cluster sees it: its own files, and, while it leads, the shared log before them. A record
 * is appended there first, and goes to the files once it is committed; so the files have committed records only.
 * Readers, recovery and trimming use the files alone.
 *
 * Thread: the I/O thread. Not here: who leads, and where records of another leader come from (server/cluster).
 */
import { type Log, type LogReader, type NewEntry, OutcomeUnknown } from '../log/log.ts';
import type { LogWriter } from './replicated-log.ts';

export class ClusterLog implements Log {
  onStored: (sequence: number) => void = () => undefined;
  private readonly files: Log;
  private writer: LogWriter | undefined;

  constructor(files: Log) {
    this.files = files;
  }

  /** From now on this node writes; undefined = only what others have committed. */
  lead(writer: LogWriter | undefined): void {
    this.writer = writer;
  }

  get first(): number {
    return this.files.first;
  }

  get last(): number {
    return this.files.last;
  }

  get digest(): number {
    return this.files.digest;
  }

  get failure(): Error | undefined {
    return this.files.failure ?? this.writer?.failure;
  }

  get onRoom(): (problem: string | undefined) => void {
    return this.files.onRoom;
  }

  set onRoom(onRoom: (problem: string | undefined) => void) {
    this.files.onRoom = onRoom;
  }

  /** Resolves once the entries are committed, and sent to the files. A leader that is none rejects with OutcomeUnknown. */
  append(entries: readonly NewEntry[], expected: number): Promise<void> {
    if (this.writer === undefined) return this.store(entries, expected);
    if (this.files.failure !== undefined) return Promise.reject(this.files.failure);
    return this.writer.append(entries, expected).then(() => {
      // What the files cannot take is found by the next append.
      this.store(entries, expected).catch(() => undefined);
    }, unknown);
  }

  whenDurable(): Promise<void> {
    return this.writer?.whenDurable().catch(unknown) ?? this.files.whenDurable();
  }

  read(from: number): LogReader {
    return this.files.read(from);
  }

  trim(sequence: number): Promise<void> {
    return this.files.trim(sequence);
  }

  close(): Promise<void> {
    return this.files.close();
  }

  private async store(entries: readonly NewEntry[], expected: number): Promise<void> {
    await this.files.append(entries, expected);
    this.onStored(this.files.last);
  }
}

/** Whatever ended the writer: a batch that was under way may be in the log, or may appear there. */
function unknown(error: Error): never {
  throw error instanceof OutcomeUnknown ? error : new OutcomeUnknown(error.message);
}
