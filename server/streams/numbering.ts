/**
 * Cursors of streams. The stream sequence of a message is the batch sequence and its index among those of its stream
 * in that batch, so it is the same on every node and after a restart. Rules: docs/protocol.md#places-in-streams
 *
 * Thread: the I/O thread.
 */

/** Stream sequence of 19 digits, which compare as text and as a 64-bit integer. */
export type Place = string;

const BATCH_DIGITS = 12;
const INDEX_DIGITS = 7;
const PLACE_DIGITS = BATCH_DIGITS + INDEX_DIGITS;
/** Unused index: a batch with more records is not published (engine/events.ts). */
const END_INDEX = 10 ** INDEX_DIGITS - 1;

function placeOf(batch: number, index: number): Place {
  const number = String(batch).padStart(BATCH_DIGITS, '0');
  return number + String(index).padStart(INDEX_DIGITS, '0');
}

/** Cursor behind all messages of a batch, in every stream. */
export function endOf(batch: number): Place {
  return placeOf(batch, END_INDEX);
}

export function placeFrom(digits: string): Place {
  return digits.replace(/^0+/, '').padStart(PLACE_DIGITS, '0');
}

export interface Numbered {
  readonly id: string;
  readonly sequence: Place;
  /** No message of the stream lies between this cursor and the message. */
  readonly previous: Place;
}

export class Stream implements Numbered {
  readonly id: string;
  sequence: Place;
  previous: Place;
  private batch = 0;
  private index = 0;

  constructor(id: string, batch: number) {
    this.id = id;
    this.sequence = endOf(batch);
    this.previous = this.sequence;
  }

  /** Continues at the end of a batch: earlier messages may be unknown. */
  begin(batch: number): void {
    this.sequence = endOf(batch);
  }

  /** Returns the stream with the cursor of its next message. */
  next(batch: number): this {
    this.index = batch === this.batch ? this.index + 1 : 1;
    this.batch = batch;
    this.previous = this.sequence;
    this.sequence = placeOf(batch, this.index);
    return this;
  }
}

export function envelope({ id, previous, sequence }: Numbered, now: number): string {
  return (
    `"stream_id":"${id}","sequence":"${sequence}","previous":"${previous}"` +
    `,"server_ts_ms":"${now}"`
  );
}
