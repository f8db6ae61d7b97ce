/**
 * Sequences of events: every stream counts its own from 1 without a gap. Its id also names the run
 * of the node, because a node that starts again counts from 1.
 *
 * Thread: the I/O thread.
 */

/** One stream. */
export interface Numbered {
  readonly id: string;
  /** The sequence of its last event; 0 = there was none. */
  sequence: number;
}

/** The members that every frame carries, without braces. */
export function envelope({ id, sequence }: Numbered, now: number): string {
  return `"stream_id":"${id}","sequence":"${sequence}","server_ts_ms":"${now}"`;
}

/** A name that distinguishes the streams of this run from those of another. */
export function runName(startedAt: number): string {
  return startedAt.toString(36);
}

/**
 * The streams of a run, by name. They stay for the whole run: a stream that is followed again
 * continues.
 */
export class Numbering {
  private readonly run: string;
  private readonly streams = new Map<string, Numbered>();

  constructor(run: string) {
    this.run = run;
  }

  get(name: string): Numbered {
    let stream = this.streams.get(name);
    if (stream === undefined) {
      stream = { id: `${name}:${this.run}`, sequence: 0 };
      this.streams.set(name, stream);
    }
    return stream;
  }

  /** The stream with the number of its next event. */
  next(name: string): Numbered {
    const stream = this.get(name);
    stream.sequence += 1;
    return stream;
  }
}
