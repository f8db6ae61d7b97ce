/**
 * The contract of the log: the one total order of batches, append-only, numbered without a gap. Every
 * implementation (segment files here, a replicated log elsewhere) guarantees:
 *
 * - append() resolves when every record of the call would survive what the durability promises, and
 *   rejects when that is not certain. After the first rejection the log takes nothing more, each later call
 *   rejects, and `failure` has the reason. What the first rejected call wrote may be there at the next start, or not.
 * - `expected` is the sequence of the last record that was appended, as the writer knows it; the new records are
 *   numbered expected + 1, + 2, ... If another writer is ahead, append() rejects with WrongSequence and has
 *   written nothing. This writer must stop at once.
 * - Calls need not wait for one another. They resolve in their order, and one write may hold several of them.
 * - A reader gets records in order from any sequence that the log holds, each one whole and following the
 *   one before, also while the log is written, and from any thread. Its caller gives the end, which is
 *   never beyond what was acknowledged.
 * - trim() gives up records up to a sequence, from the oldest on; some of them may stay. Those after it
 *   stay, and so does the last record of all, so that a log which was written never looks empty.
 * - lend(), where a log has it, gives the place of the next record to another thread. Appended records wait until
 *   endLoan() is told what became of it: a written record is then durable, and counts as appended and acknowledged.
 * - A log that soon cannot take more calls onRoom with the reason while there is still room for what is in
 *   flight, and calls it again, with undefined, once it can.
 */

export interface LogEntry {
  readonly sequence: number;
  readonly time: number;
  /** Digests of the engine before and after it. */
  readonly before: number;
  readonly after: number;
  /** Memory that nobody changes until the append is settled. */
  readonly payload: Buffer;
}

export type NewEntry = Omit<LogEntry, 'before'>;

/** Place of the next record, lent to another thread (lent-place.ts). */
export interface LentPlace {
  /** Descriptor of a file whose writes are as durable as the log promises. */
  readonly file: number;
  readonly offset: number;
  /** Bytes of the file from there on. */
  readonly room: number;
  /** Header fields of the record (record.ts). */
  readonly link: number;
  readonly acknowledged: number;
  readonly before: number;
}

/** Outcome of a loan. */
export type LoanEnd =
  | { readonly kind: 'unused' }
  | {
      readonly kind: 'written';
      readonly sequence: number;
      readonly bytes: number;
      readonly crc: number;
      readonly after: number;
    }
  | { readonly kind: 'failed'; readonly message: string };

export interface Log {
  /** Sequences of the oldest and of the newest durable record, and the digest after the newest; 0 = none. */
  readonly first: number;
  readonly last: number;
  readonly digest: number;
  onRoom: (problem: string | undefined) => void;
  readonly failure: Error | undefined;
  append(entries: readonly NewEntry[], expected: number): Promise<void>;
  /** Resolves when everything appended before this call is durable. Rejects as append() does. */
  whenDurable(): Promise<void>;
  /** Returns `undefined` where anything is being written. */
  lend?(): LentPlace | undefined;
  endLoan?(end: LoanEnd): void;
  /** Throws an Error that names the sequence when the log no longer holds `from`. */
  read(from: number): LogReader;
  trim(sequence: number): Promise<void>;
  close(): Promise<void>;
}

export interface LogReader {
  /**
   * Next record, unless it lies beyond `end`. Its payload is valid until the next call. Throws an Error that names
   * the sequence of a damaged or missing record.
   */
  next(end: number): LogEntry | undefined;
  close(): void;
}

export class WrongSequence extends Error {
  constructor(expected: number, last: number) {
    super(`log: wrong last sequence: expected ${expected}, it is at ${last}`);
  }
}

/**
 * The writer ended before the fate of its append was certain. The records may be in the log or appear later, so the
 * request is neither acknowledged nor refused.
 */
export class OutcomeUnknown extends Error {
  constructor(why: string) {
    super(`log: the outcome is unknown: ${why}`);
  }
}

/** A log on other machines does not answer. A later try may succeed. */
export class Unreachable extends Error {
  readonly why: string;

  constructor(why: string) {
    super(`log: no answer: ${why}`);
    this.why = why;
  }
}

/** The log is damaged or cannot be read. A second try does not help. */
export class LogDamage extends Error {
  constructor(what: string) {
    super(`log: ${what}; what to do: docs/guides/operations.md, "A damaged log"`);
  }
}

/** Yields the entries of a reader up to `end`, and closes it. A payload is valid until the next entry. */
export function* entriesOf(reader: LogReader, end: number): Generator<LogEntry> {
  try {
    for (let entry = reader.next(end); entry !== undefined; entry = reader.next(end)) yield entry;
  } finally {
    reader.close();
  }
}
