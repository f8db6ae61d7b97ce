/**
 * Range and order of the times of a recording. Every reader gets its entries through EntryOrder, so each time is in
 * the range and none decreases.
 *
 * Pure; any thread.
 */
import type { RecordingEntry } from './entries.ts';

/** The end of 2099 in unix milliseconds: a bound for walks over days or hours of a recording. */
export const RECORDING_TIME_MAX = Date.UTC(2100, 0, 1) - 1;

/** Returns true for a whole number of unix milliseconds from 1970 to 2099. */
export function isRecordingTime(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= RECORDING_TIME_MAX;
}

/** Entries with a time before that of an earlier entry. */
export interface Decreases {
  readonly count: number;
  readonly longestMs: number;
}

type Damaged = Extract<RecordingEntry, { kind: 'damaged' }>;

interface Timed {
  readonly at: number;
  readonly kind: string;
  /** Times of a gap. */
  readonly from?: number;
  readonly to?: number;
}

export class EntryOrder implements Decreases {
  count = 0;
  longestMs = 0;
  private newest: number;

  /** @param from time before which no entry can be */
  constructor(from = 0) {
    this.newest = from;
  }

  /** Raises times that decrease, and counts them. An entry with an impossible time becomes `damaged`. */
  batch<Entry extends Timed>(entries: readonly Entry[]): (Entry | Damaged)[] {
    return entries.map((entry) => this.next(entry));
  }

  private next<Entry extends Timed>(entry: Entry): Entry | Damaged {
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

  private damaged(why: string): Damaged {
    return { at: this.newest, kind: 'damaged', why };
  }
}

export function decreasesText({ count, longestMs }: Decreases): string | undefined {
  if (count === 0) return undefined;
  return `entries with a time before that of an earlier one: ${count}, by up to ${longestMs} ms; the earlier one's counts`;
}
