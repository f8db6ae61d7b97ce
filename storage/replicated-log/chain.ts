/**
 * Takes groups of records from wherever they were read, and hands on what comes next: each record once, in order,
 * without a gap, and compared with the one before it. Thread: any.
 */
import { LogDamage, type LogEntry } from '../log/log.ts';
import { linkProblem, type StoredRecord } from '../log/record.ts';
import type { Position } from './replicated-log.ts';

export class Chain {
  at: Position;
  private before: StoredRecord | undefined;

  constructor(from: Position) {
    this.at = from;
  }

  /** The next record is compared by its digest alone: a log that was begun anew has other checksums. */
  forget(): void {
    this.before = undefined;
  }

  /** A group that begins with `first` leaves no gap. */
  reaches(first: number): boolean {
    return first <= this.at.sequence + 1;
  }

  /** Those of the records that are new. Throws LogDamage where they do not follow. */
  *take(records: readonly StoredRecord[]): Iterable<LogEntry> {
    for (const record of records) {
      const { sequence } = record;
      if (sequence === this.at.sequence) this.compareEnd(record);
      if (sequence <= this.at.sequence) continue;
      const problem = this.problemOf(record);
      if (problem !== undefined) throw new LogDamage(`batch ${sequence}: ${problem}`);
      this.before = record;
      this.at = { sequence, digest: record.after };
      yield record;
    }
  }

  private problemOf(record: StoredRecord): string | undefined {
    if (this.before !== undefined) return linkProblem(record, this.before);
    if (record.sequence !== this.at.sequence + 1) return `its sequence is ${record.sequence}`;
    return record.before === this.at.digest ? undefined : 'it does not follow the one that is here';
  }

  /** The newest record of the node is the one that the log has there. */
  private compareEnd({ after, sequence }: StoredRecord): void {
    if (after !== this.at.digest) {
      throw new LogDamage(`batch ${sequence}: the one that is here is another one`);
    }
  }
}
