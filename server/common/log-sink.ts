/**
 * Lines out of the process, without ever waiting for who reads them: one write is under way at a time, what
 * comes meanwhile is held, and what a stalled reader leaves no room for is dropped and counted.
 *
 * Thread: I/O. Readers may go away (EPIPE): then lines go nowhere, and the node stays.
 */
import { write, writeSync } from 'node:fs';

/** Thousands of lines: a reader that is merely slow loses none. */
const HELD_BYTES_MAX = 2 ** 20;
/** A pipe that takes nothing now is tried again after so long. */
const RETRY_MS = 50;
/** A write that has been under way for longer is not going to end. */
const STALLED_MS = 1_000;
/** For the end of a write that is under way when the process ends. */
const LAST_WAIT_MS = 20;

type Done = (error: NodeJS.ErrnoException | null, written: number) => void;

export interface SinkOptions {
  readonly fd: number;
  /** The line that tells of so many that were dropped. */
  readonly dropped: (lines: number) => string;
  /** As fs.write; another one for tests. */
  readonly write?: (fd: number, bytes: Buffer, done: Done) => void;
  readonly heldBytesMax?: number;
}

export class LogSink {
  private readonly o: SinkOptions;
  private readonly heldBytesMax: number;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private droppedLines = 0;
  /** When the write that is under way began; undefined = there is none. */
  private since: number | undefined;
  private idle: (() => void)[] = [];

  constructor(options: SinkOptions) {
    this.o = options;
    this.heldBytesMax = options.heldBytesMax ?? HELD_BYTES_MAX;
  }

  /** Takes a line with its end. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.heldBytes + bytes.length > this.heldBytesMax) {
      this.droppedLines += 1;
      return;
    }
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    if (this.since === undefined) this.next();
  }

  /** Resolves when all of it is out, or after a while. */
  async flushed(): Promise<void> {
    if (this.since === undefined) return;
    await new Promise<void>((resolve) => {
      this.idle.push(resolve);
      setTimeout(resolve, STALLED_MS);
    });
  }

  /** The process ends now: writes what is held, unless nobody reads. */
  finish(): void {
    if (this.since !== undefined) {
      if (performance.now() - this.since > STALLED_MS) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WAIT_MS);
    }
    try {
      for (const bytes of this.held.splice(0)) writeSync(this.o.fd, bytes);
    } catch {
      // Nobody reads any more.
    }
  }

  private next(): void {
    if (this.droppedLines > 0) {
      this.held.push(Buffer.from(this.o.dropped(this.droppedLines)));
      this.droppedLines = 0;
    }
    if (this.held.length === 0) {
      this.since = undefined;
      for (const resolve of this.idle.splice(0)) resolve();
      return;
    }
    const bytes = Buffer.concat(this.held);
    this.held = [];
    this.heldBytes = bytes.length;
    this.since = performance.now();
    this.put(bytes);
  }

  private put(bytes: Buffer): void {
    const done: Done = (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(() => this.put(bytes), RETRY_MS).unref();
      else if (error === null && written < bytes.length) this.put(bytes.subarray(written));
      else {
        this.heldBytes = this.held.reduce((sum, { length }) => sum + length, 0);
        this.next();
      }
    };
    (this.o.write ?? write)(this.o.fd, bytes, done);
  }
}
