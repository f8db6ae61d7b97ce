/**
 * Books and trades of one token as an array of hftbacktest 2. A member of the zip beside the array has the header and the
 * catalog event of the market, so that a file of this project is a recording again.
 *
 *   exch_ts    time of the message in nanoseconds, never decreasing: an earlier one is raised
 *   local_ts   arrival, never before exch_ts
 *   px, qty    price and size as doubles; a size of 0 ends the level
 *   ev         kind and flags below
 *
 * A book is DEPTH_CLEAR of both sides, then DEPTH_SNAPSHOT for each level. The side of a trade is that of its taker.
 *
 * Thread: any.
 */
import { Side } from '../../engine/commands.ts';
import { MICRO, PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import type { JsonObject } from '../catalog/catalog-json.ts';
import type { NpyField } from '../columns/npz.ts';
import type { Cells } from './csv-columns.ts';
import type { RecordingEntry } from './entries.ts';
import { type Level, RowReader } from './row-reader.ts';
import type { SourceEvent } from './source-message.ts';

export const NPZ_FIELDS: readonly NpyField[] = [
  { name: 'ev', type: '<u8' },
  { name: 'exch_ts', type: '<i8' },
  { name: 'local_ts', type: '<i8' },
  { name: 'px', type: '<f8' },
  { name: 'qty', type: '<f8' },
  { name: 'order_id', type: '<u8' },
  { name: 'ival', type: '<i8' },
  { name: 'fval', type: '<f8' },
];
/** Name of the member with the header and the market. */
export const NPZ_ABOUT = 'recording.json';

/** Kinds and flags of `ev`. */
const EVENT = {
  depth: 1,
  trade: 2,
  clear: 3,
  snapshot: 4,
  sell: 2 ** 28,
  buy: 2 ** 29,
  local: 2 ** 30,
  exchange: 2 ** 31,
} as const;
const KIND_MASK = 0xff;

export const RECORD_BYTES = 8 * NPZ_FIELDS.length;
const NS_PER_MS = 1_000_000n;
const EXCHANGE_AT = 8;
const LOCAL_AT = 16;
const PRICE_AT = 24;
const SIZE_AT = 32;

/** Events that become rows. */
export type NpzEvent = Extract<SourceEvent, { kind: 'book' | 'changes' | 'print' }>;

/** Rows of an event. */
export function npzRowCount(event: NpzEvent): number {
  switch (event.kind) {
    case 'book':
      return 2 + event.bids.length + event.asks.length;
    case 'changes':
      return event.changes.length;
    case 'print':
      return 1;
  }
}

/** Encodes the events of one token, in their order. */
export class NpzEncoder {
  /** Rows with a time that was raised. */
  raised = 0;
  private exchange = 0;
  private local = 0;

  /** Writes the rows of an event. Returns the offset behind them. @param at unix milliseconds of the arrival */
  encode(event: NpzEvent, at: number, out: Buffer, offset: number): number {
    this.exchange = Math.max(this.exchange, event.at);
    this.local = Math.max(this.local, this.exchange, at);
    if (this.exchange > event.at || this.local > at) this.raised += 1;
    let end = offset;
    const row = (kind: number, side: number, pips: number, size: number): void => {
      this.row(kind, side, pips, size, out, end);
      end += RECORD_BYTES;
    };
    switch (event.kind) {
      case 'book':
        row(EVENT.clear, Side.buy, 0, 0);
        row(EVENT.clear, Side.sell, PIPS_PER_UNIT, 0);
        for (const { pips, size } of event.bids) row(EVENT.snapshot, Side.buy, pips, size);
        for (const { pips, size } of event.asks) row(EVENT.snapshot, Side.sell, pips, size);
        break;
      case 'changes':
        for (const { pips, side, size } of event.changes) row(EVENT.depth, side, pips, size);
        break;
      case 'print':
        row(EVENT.trade, event.side, event.pips, event.size);
        break;
    }
    return end;
  }

  private row(
    kind: number,
    side: number,
    pips: number,
    size: number,
    out: Buffer,
    at: number,
  ): void {
    const ofSide = side === Side.buy ? EVENT.buy : EVENT.sell;
    out.fill(0, at, at + RECORD_BYTES);
    out.writeUInt32LE(EVENT.exchange + EVENT.local + ofSide + kind, at);
    out.writeBigInt64LE(BigInt(this.exchange) * NS_PER_MS, at + EXCHANGE_AT);
    out.writeBigInt64LE(BigInt(this.local) * NS_PER_MS, at + LOCAL_AT);
    out.writeDoubleLE(pips / PIPS_PER_UNIT, at + PRICE_AT);
    out.writeDoubleLE(size / MICRO, at + SIZE_AT);
  }
}

/** Header and market of the rows of a file. */
export interface NpzAbout {
  readonly header: JsonObject;
  readonly event: JsonObject;
  readonly market: string;
  readonly token: string;
}

/**
 * Yields the messages of rows. A row of the exchange alone has another one for its arrival, which counts.
 * @param of market and token of the rows
 */
export async function* npzEntries(
  records: AsyncIterable<Buffer>,
  of: Pick<NpzAbout, 'market' | 'token'>,
  path: string,
): AsyncGenerator<RecordingEntry[]> {
  const reader = new RowReader({
    market: of.market,
    nameOf: (column) => FIELD_OF[column] ?? column,
  });
  const books = new BookRows();
  let number = 0;
  for await (const bytes of records) {
    const entries: RecordingEntry[] = [];
    for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
      number += 1;
      const where = `${path}: row ${number}`;
      const row = rowAt(bytes, at);
      if (row.isOfExchangeAlone) continue;
      const isBook = row.kind === EVENT.clear || row.kind === EVENT.snapshot;
      const cells: Cells = { ...NO_CELLS, ...of, ...row.cells };
      if (!books.fits(row, isBook)) entries.push(...books.end(reader, where));
      if (isBook) books.add(row, cells);
      else entries.push(...reader.read(cells, where));
    }
    yield entries;
  }
  yield [...books.end(reader, `${path}: row ${number}`), ...reader.end()];
}

const NO_CELLS = { outcome: '' };
const FIELD_OF: Readonly<Partial<Record<keyof Cells, string>>> = {
  time: 'exch_ts',
  at: 'local_ts',
  type: 'ev',
  side: 'ev',
  price: 'px',
  size: 'qty',
};
const TYPES: Readonly<Record<number, string>> = { [EVENT.depth]: 'change', [EVENT.trade]: 'trade' };

type Row = ReturnType<typeof rowAt>;

function rowAt(bytes: Buffer, at: number) {
  const flags = bytes.readUInt32LE(at);
  const kind = flags & KIND_MASK;
  const has = (flag: number): boolean => Math.floor(flags / flag) % 2 === 1;
  const side = has(EVENT.buy) ? 'BUY' : has(EVENT.sell) ? 'SELL' : '';
  return {
    kind,
    side,
    isOfExchangeAlone: has(EVENT.exchange) && !has(EVENT.local),
    cells: {
      time: timeText(bytes.readBigInt64LE(at + EXCHANGE_AT)),
      at: timeText(bytes.readBigInt64LE(at + LOCAL_AT)),
      type: TYPES[kind] ?? String(kind),
      side,
      price: decimalText(bytes.readDoubleLE(at + PRICE_AT)),
      size: decimalText(bytes.readDoubleLE(at + SIZE_AT)),
    },
  };
}

/**
 * Rows of a book until its last one: those of one time, of which none clears a side twice. The last one of a price counts.
 */
class BookRows {
  private cells: Cells | undefined;
  private cleared = '';
  private readonly bids = new Map<string, Level>();
  private readonly asks = new Map<string, Level>();

  fits({ cells, kind, side }: Row, isBook: boolean): boolean {
    const { at, time } = this.cells ?? cells;
    const isSameTime = at === cells.at && time === cells.time;
    return isBook && isSameTime && !(kind === EVENT.clear && this.cleared.includes(`${side};`));
  }

  add({ kind, side }: Row, cells: Cells): void {
    this.cells = cells;
    if (kind === EVENT.clear) this.cleared += `${side};`;
    else {
      const { price, size } = cells;
      (side === 'SELL' ? this.asks : this.bids).set(price, { price, size });
    }
  }

  end(reader: RowReader, where: string): RecordingEntry[] {
    const { cells } = this;
    const [bids, asks] = [[...this.bids.values()], [...this.asks.values()]];
    this.cells = undefined;
    this.cleared = '';
    this.bids.clear();
    this.asks.clear();
    return cells === undefined ? [] : reader.readBook(cells, { bids, asks }, where);
  }
}

/** Milliseconds with the twelve digits that tell them from seconds. */
function timeText(ns: bigint): string {
  return String(ns / NS_PER_MS).padStart(12, '0');
}

function decimalText(value: number): string {
  const text = value.toFixed(6);
  return text.replace(/\.?0+$/, '');
}
