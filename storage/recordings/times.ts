/**
 * Times of a recording: which there can be, and their order. Every reader of a recording gets its entries through
 * EntryOrder, so no time that it sees is outside of the range or before an earlier one.
 *
 * Pure; any thread.
 */
import type { RecordingEntry } from './entries.ts';

/** The end of 2099, in unix milliseconds. Whoever walks over days or hours of a recording has a bound by it. */
export const RECORDING_TIME_MAX = Date.UTC(2100, 0, 1) - 1;

/** Returns true for a whole number of unix milliseconds from 1970 to 2099. */
export function isRecordingTime(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= RECORDING_TIME_MAX;
}

/** Entries with a time before that of an earlier entry. */
export interface Decreases {
  readonly count: number;
  /** The longest step back, in milliseconds. */
  readonly longestMs: number;
}

export class EntryOrder implements Decreases {
  count = 0;
  longestMs = 0;
  private newest: number;

  /** @param from time before which no entry can be */
  constructor(from = 0) {
    this.newest = from;
  }

  /**
   * Returns the entries of a batch with times that never decrease: an earlier one is raised, and counted. An entry
   * whose time cannot be is `damaged`.
   */
  batch(entries: readonly RecordingEntry[]): RecordingEntry[] {
    return entries.map((entry) => this.next(entry));
  }

  private next(entry: RecordingEntry): RecordingEntry {
    const { at } = entry;
    if (!isRecordingTime(at)) return this.damaged('its at is no time');
    if (entry.kind === 'gap' && !(isRecordingTime(entry.from) && isRecordingTime(entry.to)))
      return this.damaged('a time of the gap is none');
    if (at >= this.newest) {
      this.newest = at;
      return entry;
    }
    this.count += 1;
    this.longestMs = Math.max(this.longestMs, this.newest - at);
    return { ...entry, at: this.newest };
  }

  private damaged(why: string): RecordingEntry {
    return { at: this.newest, kind: 'damaged', why };
  }
}

/** A line about decreases for a user; undefined where there is none. */
export function decreasesText({ count, longestMs }: Decreases): string | undefined {
  if (count === 0) return undefined;
  return `entries with a time before that of an earlier one: ${count}, by up to ${longestMs} ms; the earlier one's counts`;
}
