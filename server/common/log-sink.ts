/**
 * Writes log lines out of the process without ever waiting for their reader: one write is in flight
 * at a time, further lines are buffered, and lines for which a stalled reader leaves no room are
 * dropped and counted.
 *
 * Thread: I/O. When the reader disconnects (EPIPE), lines are discarded and the node continues.
 */
import { write, writeSync } from 'node:fs';

/** Room for thousands of lines: a reader that is only slow loses none. */
const BUFFERED_BYTES_MAX = 2 ** 20;
/** The time after which a pipe that took nothing is tried again. */
const RETRY_MS = 50;
/** A write that takes longer than this is regarded as stalled. */
const STALLED_MS = 1_000;
/** Wait for a write that is in flight when the process ends. */
const LAST_WAIT_MS = 20;

type Done = (error: NodeJS.ErrnoException | null, written: number) => void;

export interface SinkOptions {
  readonly fd: number;
  readonly dropped: (lines: number) => string;
  readonly write?: (fd: number, bytes: Buffer, done: Done) => void;
  readonly bufferedBytesMax?: number;
}

export class LogSink {
  private readonly options: SinkOptions;
  private readonly bufferedBytesMax: number;
  private buffered: Buffer[] = [];
  private bufferedBytes = 0;
  private droppedLines = 0;
  droppedInAll = 0;
  /** Start of the current write; `undefined` without one. */
  private since: number | undefined;
  private idle: (() => void)[] = [];

  constructor(options: SinkOptions) {
    this.options = options;
    this.bufferedBytesMax = options.bufferedBytesMax ?? BUFFERED_BYTES_MAX;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.bufferedBytes + bytes.length > this.bufferedBytesMax) {
      this.droppedLines += 1;
      this.droppedInAll += 1;
      return;
    }
    this.buffered.push(bytes);
    this.bufferedBytes += bytes.length;
    if (this.since === undefined) this.next();
  }

  /** Resolves when all lines are written, or one write has taken too long. */
  async flushed(): Promise<void> {
    while (this.since !== undefined) {
      const { since } = this;
      await new Promise<void>((resolve) => {
        this.idle.push(resolve);
        // After a stop of this process the timer comes before the end of a write that has ended long ago.
        setTimeout(() => setImmediate(resolve), STALLED_MS);
      });
      if (this.since === since) return;
    }
  }

  /** The process ends now: writes the buffered lines, unless the reader has stalled. */
  finish(): void {
    if (this.since !== undefined) {
      if (performance.now() - this.since > STALLED_MS) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WAIT_MS);
    }
    try {
      for (const bytes of this.buffered.splice(0)) writeSync(this.options.fd, bytes);
    } catch {
      // The reader has disconnected.
    }
  }

  private next(): void {
    if (this.droppedLines > 0) {
      this.buffered.push(Buffer.from(this.options.dropped(this.droppedLines)));
      this.droppedLines = 0;
    }
    if (this.buffered.length === 0) {
      this.since = undefined;
      for (const resolve of this.idle.splice(0)) resolve();
      return;
    }
    const bytes = Buffer.concat(this.buffered);
    this.buffered = [];
    this.bufferedBytes = bytes.length;
    this.since = performance.now();
    this.put(bytes);
  }

  private put(bytes: Buffer): void {
    const done: Done = (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(() => this.put(bytes), RETRY_MS).unref();
      else if (error === null && written < bytes.length) this.put(bytes.subarray(written));
      else {
        this.bufferedBytes = this.buffered.reduce((sum, { length }) => sum + length, 0);
        this.next();
      }
    };
    (this.options.write ?? write)(this.options.fd, bytes, done);
  }
}
