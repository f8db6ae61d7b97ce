/**
 * Prices of tokens over time: the last trade price of every minute, and of every 5, 30, 180 and 720
 * minutes, in rows of 256 buckets in LMDB (storage/projection/history-rows.ts).
 *
 * A fill costs two stores: the open minute of its token, which is folded into the five rows when the
 * minute ends, when somebody reads, and when it is written. Rows in memory belong to tokens that
 * traded since the last write but one; they hold all that LMDB holds of them.
 *
 * Thread: I/O. Non-goals: when to write (history-keeper.ts), text (history-render.ts).
 */
import { assert } from '../../engine/book/matching.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Pips, TokenRow } from '../../engine/tables/units.ts';
import type { HistorySink, HistoryStore } from '../../storage/projection/history.ts';
import {
  CHUNK_BUCKETS,
  CHUNK_BUCKETS_LOG2,
  chunkOf,
  DAMAGED,
  decodePrices,
  encodePrices,
  priceKey,
} from '../../storage/projection/history-rows.ts';

/** Lengths of a bucket (docs/protocol.md#price-history). */
export const STEP_MINUTES = [1, 5, 30, 180, 720] as const;
export type Step = 0 | 1 | 2 | 3 | 4;
const STEPS = STEP_MINUTES.length;
const CHUNK_MAX = 2 ** 32 - 1;
const ENTRIES_FIRST = 4;

/** One row; `entries[0..count)` as they are stored: place in the chunk << 16 | pips. */
interface Row {
  readonly chunk: number;
  entries: Uint32Array;
  count: number;
  isDirty: boolean;
}

export class PriceHistory {
  private readonly store: HistoryStore;
  private readonly onDamage: () => void;
  /** By token: its open minute since 1970 and the price in it, while it is in `dirty`. */
  private readonly minute: Int32Array;
  private readonly pips: Uint16Array;
  private readonly isDirty: Uint8Array;
  /** Tokens that traded since the last write began, and in the time before it. */
  private dirty: TokenRow[] = [];
  private before: readonly TokenRow[] = [];
  /** By token x 5 + step: rows in memory, ascending. */
  private readonly rows = new Map<number, Row[]>();
  /** Tokens with a stored row that is not what was written. */
  private readonly damaged = new Set<TokenRow>();

  /** @param onDamage told when a row that was read back is not what was written */
  constructor(tables: Tables, store: HistoryStore, onDamage: () => void) {
    const tokens = tables.capacities.tokens + 1;
    this.store = store;
    this.onDamage = onDamage;
    this.minute = new Int32Array(tokens);
    this.pips = new Uint16Array(tokens);
    this.isDirty = new Uint8Array(tokens);
  }

  /** A fill of the token at this price; those of one token come in the order of time. */
  add(token: TokenRow, minute: number, pips: Pips): void {
    if (this.isDirty[token] === 0) {
      this.isDirty[token] = 1;
      this.dirty.push(token);
    } else if (this.minute[token] !== minute) {
      this.fold(token);
    }
    this.minute[token] = minute;
    this.pips[token] = pips;
  }

  /**
   * Pips of the buckets [first, last] (counted in steps since 1970), each the last trade price in it
   * or before it; 0 = there was none yet. Throws an Error when a row that it needs is damaged.
   */
  series(token: TokenRow, step: Step, first: number, last: number): Uint16Array {
    assert(first <= last, 'a series has a bucket');
    this.settle(token);
    const out = new Uint16Array(last - first + 1);
    let carried = 0;
    let hasBefore = false;
    for (const { chunk, count, entries } of this.rowsBetween(token, step, first, last)) {
      for (let i = 0; i < count; i++) {
        const entry = entries[i]!;
        const bucket = chunk * CHUNK_BUCKETS + (entry >>> 16);
        if (bucket < first) {
          carried = entry & 0xffff;
          hasBefore = true;
        } else if (bucket <= last) {
          out[bucket - first] = entry & 0xffff;
        }
      }
    }
    if (!hasBefore) carried = this.lastBefore(token, step, first >>> CHUNK_BUCKETS_LOG2);
    for (let i = 0; i < out.length; i++) {
      if (out[i] === 0) out[i] = carried;
      else carried = out[i]!;
    }
    return out;
  }

  /** Minute of the token's first trade; undefined = never traded. */
  firstMinute(token: TokenRow): number | undefined {
    this.settle(token);
    const start = priceKey(token, 0, 0);
    const end = priceKey(token, 0, CHUNK_MAX);
    const range = this.store.tables?.prices.getRange({ start, end, limit: 1 }) ?? [];
    let first = this.rows.get(token * STEPS)?.[0];
    for (const { key, value } of range) {
      const stored = this.decode(key, value);
      if (first === undefined || stored.chunk < first.chunk) first = stored;
    }
    if (first === undefined) return undefined;
    return first.chunk * CHUNK_BUCKETS + (first.entries[0]! >>> 16);
  }

  /** Tokens to be written, each with put(); what trades after its put() is the next write's. */
  beginWrite(): readonly TokenRow[] {
    // What the last write wrote LMDB has by now.
    for (const token of this.before) this.forget(token);
    const tokens = this.dirty;
    this.dirty = [];
    this.before = tokens;
    return tokens;
  }

  /** Puts the changed rows of a token; only inside a transaction of the store. */
  put(token: TokenRow, into: HistorySink): void {
    this.fold(token);
    this.isDirty[token] = 0;
    for (let step = 0; step < STEPS; step++) {
      for (const row of this.rows.get(token * STEPS + step) ?? []) {
        if (!row.isDirty) continue;
        row.isDirty = false;
        const key = priceKey(token, step, row.chunk);
        into.prices.put(key, encodePrices(key, row.entries, row.count));
      }
    }
  }

  /** Drops the rows of a token that LMDB has, but for the newest ones of a token that trades on. */
  private forget(token: TokenRow): void {
    const trades = this.isDirty[token] === 1;
    for (let step = 0; step < STEPS; step++) {
      const at = token * STEPS + step;
      const list = this.rows.get(at);
      if (list === undefined) continue;
      const kept = list.filter((row, i) => row.isDirty || (trades && i === list.length - 1));
      if (kept.length === 0) this.rows.delete(at);
      else this.rows.set(at, kept);
    }
  }

  /** Makes the rows of a token complete, to be read. */
  private settle(token: TokenRow): void {
    if (this.isDirty[token] === 1) this.fold(token);
    if (this.damaged.has(token)) throw new Error('price history: a stored row is damaged');
  }

  /** Takes the open minute of a token into its rows. */
  private fold(token: TokenRow): void {
    const minute = this.minute[token]!;
    const pips = this.pips[token]!;
    for (let step = 0; step < STEPS; step++) {
      const bucket = Math.floor(minute / STEP_MINUTES[step]!);
      const row = this.rowOf(token, step, bucket >>> CHUNK_BUCKETS_LOG2);
      setPrice(row, bucket % CHUNK_BUCKETS, pips);
    }
  }

  /** The row in memory, brought there first if LMDB has it. */
  private rowOf(token: TokenRow, step: number, chunk: number): Row {
    const at = token * STEPS + step;
    let list = this.rows.get(at);
    if (list === undefined) {
      list = [];
      this.rows.set(at, list);
    }
    let i = list.length;
    while (i > 0 && list[i - 1]!.chunk > chunk) i -= 1;
    const known = list[i - 1];
    if (known?.chunk === chunk) return known;
    const row = this.load(token, step, chunk) ?? newRow(chunk);
    list.splice(i, 0, row);
    return row;
  }

  /** For writing: a damaged row begins anew, because all of them are derived again at the next start. */
  private load(token: TokenRow, step: number, chunk: number): Row | undefined {
    const key = priceKey(token, step, chunk);
    const value = this.store.tables?.prices.get(key);
    if (value === undefined) return undefined;
    const entries = decodePrices(key, value);
    if (entries !== DAMAGED) return { chunk, entries, count: entries.length, isDirty: false };
    this.damaged.add(token);
    this.onDamage();
    return undefined;
  }

  /** Rows of the chunks that hold the buckets [first, last], ascending. */
  private rowsBetween(token: TokenRow, step: Step, first: number, last: number): Row[] {
    const firstChunk = first >>> CHUNK_BUCKETS_LOG2;
    const lastChunk = last >>> CHUNK_BUCKETS_LOG2;
    const inMemory = this.rows.get(token * STEPS + step) ?? [];
    const found = inMemory.filter(({ chunk }) => chunk >= firstChunk && chunk <= lastChunk);
    const known = new Set(found.map(({ chunk }) => chunk));
    const range = this.store.tables?.prices.getRange({
      start: priceKey(token, step, firstChunk),
      end: priceKey(token, step, lastChunk + 1),
    });
    for (const { key, value } of range ?? []) {
      if (!known.has(chunkOf(key))) found.push(this.decode(key, value));
    }
    return found.sort((a, b) => a.chunk - b.chunk);
  }

  /** Pips of the last trade in a chunk before this one; 0 = none. */
  private lastBefore(token: TokenRow, step: Step, chunk: number): number {
    if (chunk === 0) return 0;
    let newest = this.rows.get(token * STEPS + step)?.findLast((row) => row.chunk < chunk);
    const range = this.store.tables?.prices.getRange({
      start: priceKey(token, step, chunk - 1),
      end: priceKey(token, step, 0),
      reverse: true,
      limit: 1,
    });
    for (const { key, value } of range ?? []) {
      if (newest === undefined || chunkOf(key) > newest.chunk) newest = this.decode(key, value);
    }
    return newest === undefined ? 0 : newest.entries[newest.count - 1]! & 0xffff;
  }

  private decode(key: Buffer, value: Buffer): Row {
    const entries = decodePrices(key, value);
    if (entries === DAMAGED || entries.length === 0) {
      this.onDamage();
      throw new Error('price history: a stored row is damaged');
    }
    return { chunk: chunkOf(key), entries, count: entries.length, isDirty: false };
  }
}

function newRow(chunk: number): Row {
  return { chunk, entries: new Uint32Array(ENTRIES_FIRST), count: 0, isDirty: true };
}

/** Sets one bucket. It is the last one, but for fills that are derived again after a kill. */
function setPrice(row: Row, place: number, pips: number): void {
  const entry = (place << 16) | pips;
  let i = row.count;
  while (i > 0 && row.entries[i - 1]! >>> 16 > place) i -= 1;
  if (i > 0 && row.entries[i - 1]! >>> 16 === place) {
    if (row.entries[i - 1] === entry) return;
    row.entries[i - 1] = entry;
  } else {
    if (row.count === row.entries.length) row.entries = larger(row.entries);
    row.entries.copyWithin(i + 1, i, row.count);
    row.entries[i] = entry;
    row.count += 1;
  }
  row.isDirty = true;
}

function larger(entries: Uint32Array): Uint32Array {
  const more = new Uint32Array(
    Math.min(CHUNK_BUCKETS, Math.max(ENTRIES_FIRST, entries.length * 2)),
  );
  more.set(entries);
  return more;
}
