/**
 * Places in streams. The sequence of an event is the log's sequence of its batch and the index of the
 * event among those of its stream in that batch, so it is the same on every node and after a restart.
 * Rules: docs/protocol.md#places-in-streams
 *
 * Thread: the I/O thread.
 */

/** 19 digits, which compare as text and as a 64-bit integer. */
export type Place = string;

const BATCH_DIGITS = 12;
const INDEX_DIGITS = 7;
const PLACE_DIGITS = BATCH_DIGITS + INDEX_DIGITS;
/** No event has it: a batch with more records is not published (engine/events.ts). */
const END_INDEX = 10 ** INDEX_DIGITS - 1;

function placeOf(batch: number, index: number): Place {
  const number = String(batch).padStart(BATCH_DIGITS, '0');
  return number + String(index).padStart(INDEX_DIGITS, '0');
}

/** The place behind all events of a batch, in every stream. */
export function endOf(batch: number): Place {
  return placeOf(batch, END_INDEX);
}

/** The place that a client names by digits. */
export function placeFrom(digits: string): Place {
  return digits.replace(/^0+/, '').padStart(PLACE_DIGITS, '0');
}

/** What the envelope of an event has of its place. */
export interface Numbered {
  readonly id: string;
  readonly sequence: Place;
  /** No event of the stream lies between this place and the event. */
  readonly previous: Place;
}

/** One stream. */
export class Stream implements Numbered {
  readonly id: string;
  sequence: Place;
  previous: Place;
  private batch = 0;
  private index = 0;

  /** @param batch its events are known from the end of this batch on */
  constructor(id: string, batch: number) {
    this.id = id;
    this.sequence = endOf(batch);
    this.previous = this.sequence;
  }

  /** Goes on at the end of a batch: earlier events may be unknown. */
  begin(batch: number): void {
    this.sequence = endOf(batch);
  }

  /** The stream with the place of its next event. */
  next(batch: number): this {
    this.index = batch === this.batch ? this.index + 1 : 1;
    this.batch = batch;
    this.previous = this.sequence;
    this.sequence = placeOf(batch, this.index);
    return this;
  }
}

/** The members that every frame carries, without braces. */
export function envelope({ id, previous, sequence }: Numbered, now: number): string {
  return (
    `"stream_id":"${id}","sequence":"${sequence}","previous":"${previous}"` +
    `,"server_ts_ms":"${now}"`
  );
}
