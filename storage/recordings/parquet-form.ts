/**
 * A recording as one Parquet file: rows of its entries in their order. The row of a level, of a change or of a trade has its
 * columns, and an entry that has more than its columns has it as JSON beside them, so that the recording can be made again.
 * The header is JSON in the metadata of the file.
 *
 *   book     a row for each level, bids first; one row without price for an empty book
 *   change   a row for each change
 *   trade, message, catalog, gap, end   one row
 *
 * Thread: any. Memory: the rows of a row group.
 */
import { isObject, type JsonObject } from '../catalog/catalog-json.ts';
import type { ParquetFile, ParquetGroup } from '../columns/parquet-reader.ts';
import {
  type ParquetColumn,
  type ParquetColumns,
  parquetChunks,
} from '../columns/parquet-writer.ts';
import { RecordingDamaged, type RecordingEntry, type RecordingHeader } from './entries.ts';
import { timeIn } from './source-message.ts';

export interface RecordingRow {
  readonly entry: number;
  readonly kind: RowKind;
  /** Unix milliseconds. */
  readonly at: number;
  readonly time?: number | undefined;
  readonly market?: string | undefined;
  readonly token?: string | undefined;
  readonly outcome?: string | undefined;
  readonly side?: string | undefined;
  readonly price?: string | undefined;
  readonly size?: string | undefined;
  readonly json?: string | undefined;
  readonly more?: string | undefined;
}

type RowKind = 'book' | 'change' | 'trade' | 'message' | 'catalog' | 'gap' | 'end';

interface RecordingColumn extends ParquetColumn<RecordingRow> {
  readonly means: string;
}

/** Columns of the file. docs/guides/data.md has this table. */
export const RECORDING_COLUMNS: Readonly<Record<keyof RecordingRow, RecordingColumn>> = {
  entry: {
    type: 'integer',
    read: ({ entry }) => entry,
    means: 'number of the entry, from 0; its rows stand together',
  },
  kind: {
    type: 'text',
    read: ({ kind }) => kind,
    means:
      '`book`: a level of a whole book; `change`: a level has this size from now on; `trade`; `message`: another message; `catalog`, `gap`, `end`',
  },
  at: { type: 'time', read: ({ at }) => at, means: 'arrival, by the clock of the recorder' },
  time: { type: 'time', read: ({ time }) => time, means: 'time of the message' },
  market: {
    type: 'text',
    read: ({ market }) => market,
    means: 'condition id or name of the market',
  },
  token: { type: 'text', read: ({ token }) => token, means: 'token id' },
  outcome: { type: 'text', read: ({ outcome }) => outcome, means: 'name of the outcome, if sent' },
  side: {
    type: 'text',
    read: ({ side }) => side,
    means: '`BUY` or `SELL`: of a level its side, of a trade that of its taker',
  },
  price: { type: 'decimal', read: ({ price }) => price, means: 'as it was sent' },
  size: {
    type: 'decimal',
    read: ({ size }) => size,
    means: 'shares; 0 = a `change` ends the level',
  },
  json: {
    type: 'text',
    read: ({ json }) => json,
    means:
      'JSON. `catalog`: the event with its markets, their fees, ticks, times and results. `gap`: `from` and `to`. `message`: the message. Else, on the first row of an entry, members of the message that have no column',
  },
  more: {
    type: 'text',
    read: ({ more }) => more,
    means: 'JSON: members of the level or change that have no column, such as `best_bid`',
  },
};

const HEADER_KEY = 'recording';
const BATCH = 128;
const SIDES: readonly unknown[] = ['BUY', 'SELL'];

/** Yields the bytes of the file. @param batches all entries, those of the catalog included */
export function recordingParquet(
  header: RecordingHeader,
  batches: AsyncIterable<readonly RecordingEntry[]>,
): AsyncGenerator<Uint8Array> {
  const metadata = { [HEADER_KEY]: JSON.stringify(header) };
  return parquetChunks(COLUMNS, rowBatches(batches), { metadata });
}

const COLUMNS: ParquetColumns<RecordingRow> = RECORDING_COLUMNS;

async function* rowBatches(
  batches: AsyncIterable<readonly RecordingEntry[]>,
): AsyncGenerator<RecordingRow[]> {
  let number = 0;
  for await (const batch of batches) {
    const rows: RecordingRow[] = [];
    for (const entry of batch) {
      // No file has one that could not be read.
      if (entry.kind === 'damaged') continue;
      rows.push(...rowsOf(entry, number));
      number += 1;
    }
    yield rows;
  }
}

export function rowsOf(
  entry: Exclude<RecordingEntry, { kind: 'damaged' }>,
  number: number,
): readonly RecordingRow[] {
  const { at, kind } = entry;
  const of = { entry: number, kind, at } as const;
  switch (entry.kind) {
    case 'message':
      return messageRows({ entry: number, at }, entry.message);
    case 'catalog':
      return [{ ...of, kind: 'catalog', json: JSON.stringify(entry.event) }];
    case 'gap':
      return [{ ...of, kind: 'gap', json: JSON.stringify({ from: entry.from, to: entry.to }) }];
    case 'end':
      return [{ ...of, kind: 'end' }];
  }
}

type Of = Pick<RecordingRow, 'entry' | 'at'>;

function messageRows(of: Of, message: JsonObject): readonly RecordingRow[] {
  const { asset_id, event_type, market, timestamp, ...rest } = message;
  const time = timeIn(message);
  const common = { ...of, time, market: isText(market) ? market : undefined };
  const isPlain = isText(market) && time !== undefined && timestamp === String(time);
  const rows =
    !isPlain || (asset_id !== undefined && !isText(asset_id))
      ? undefined
      : event_type === 'book'
        ? bookRows(common, asset_id, rest)
        : event_type === 'price_change'
          ? changeRows(common, asset_id, rest)
          : event_type === 'last_trade_price'
            ? tradeRows(common, asset_id, rest)
            : undefined;
  if (rows !== undefined) return rows;
  const token = isText(asset_id) ? asset_id : undefined;
  return [{ ...common, kind: 'message', token, json: JSON.stringify(message) }];
}

function bookRows(of: Of, token: string | undefined, rest: JsonObject) {
  const { asks, bids, outcome, ...others } = rest;
  if (token === undefined || !isOutcome(outcome)) return undefined;
  if (!Array.isArray(bids) || !Array.isArray(asks)) return undefined;
  const first = { ...of, kind: 'book' as const, token, outcome };
  const rows: RecordingRow[] = [];
  for (const [side, levels] of [['BUY', bids] as const, ['SELL', asks] as const]) {
    for (const level of levels) {
      const columns = levelColumns(level);
      if (columns === undefined) return undefined;
      rows.push({ ...first, side, ...columns });
    }
  }
  return withJson(rows.length === 0 ? [first] : rows, others);
}

/** With `price_changes`, or `changes` of one token. */
function changeRows(of: Of, token: string | undefined, rest: JsonObject) {
  const { changes, outcome, price_changes, ...others } = rest;
  const isOlder = token !== undefined;
  const list = isOlder ? changes : price_changes;
  if ((isOlder ? price_changes : (changes ?? outcome)) !== undefined) return undefined;
  if (!Array.isArray(list) || list.length === 0 || !isOutcome(outcome)) return undefined;
  const rows: RecordingRow[] = [];
  for (const change of list as unknown[]) {
    if (!isObject(change)) return undefined;
    const { asset_id, outcome: own, side, ...level } = change;
    const columns = levelColumns(level);
    if (columns === undefined || !SIDES.includes(side)) return undefined;
    const named = isOlder ? { token, outcome } : { token: asset_id, outcome: own };
    if (isOlder && (asset_id ?? own) !== undefined) return undefined;
    if (!isText(named.token) || !isOutcome(named.outcome)) return undefined;
    const { outcome: name, token: id } = named;
    rows.push({
      ...of,
      kind: 'change',
      token: id,
      outcome: name,
      side: side as string,
      ...columns,
    });
  }
  return withJson(rows, isOlder ? { ...others, asset_id: token } : others);
}

function tradeRows(of: Of, token: string | undefined, rest: JsonObject) {
  const { outcome, price, side, size, ...others } = rest;
  const columns = levelColumns({ price, size });
  if (token === undefined || !isOutcome(outcome) || columns === undefined) return undefined;
  if (!SIDES.includes(side)) return undefined;
  const row = { ...of, kind: 'trade' as const, token, outcome, side: side as string, ...columns };
  return withJson([row], others);
}

function levelColumns(level: unknown) {
  if (!isObject(level)) return undefined;
  const { price, size, ...more } = level;
  if (!isText(price) || !isText(size)) return undefined;
  return { price, size, more: jsonOf(more) };
}

function withJson([first, ...rest]: readonly RecordingRow[], members: JsonObject) {
  return [{ ...first!, json: jsonOf(members) }, ...rest];
}

function jsonOf(members: JsonObject): string | undefined {
  for (const _ in members) return JSON.stringify(members);
  return undefined;
}

/** A lone surrogate would become another character. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function isOutcome(value: unknown): value is string | undefined {
  return value === undefined || isText(value);
}

/** Returns the header of a recording; `undefined` for another file. @throws RecordingDamaged if it is no JSON */
export function parquetHeader({ metadata }: ParquetFile, path: string): JsonObject | undefined {
  const text = metadata.get(HEADER_KEY);
  if (text === undefined) return undefined;
  const header = objectIn(text);
  if (header === undefined) throw new RecordingDamaged(`${path}: its header is no JSON`);
  return header;
}

/** Yields the entries of a recording, without checks of their times. */
export async function* parquetEntries(
  file: ParquetFile,
  path: string,
): AsyncGenerator<RecordingEntry[]> {
  const wanted = Object.keys(RECORDING_COLUMNS);
  const missing = wanted.find((name) => !file.columns.includes(name));
  if (missing !== undefined) throw new RecordingDamaged(`${path}: it lacks the column ${missing}`);
  /** Rows of the newest entry, which may go on in the next group. */
  let rows: RecordingRow[] = [];
  let entries: RecordingEntry[] = [];
  for await (const group of file.groups(wanted)) {
    for (let i = 0; i < group.length; i++) {
      const row = rowAt(group, i);
      if (rows.length > 0 && rows[0]!.entry !== row.entry) {
        entries.push(entryOf(rows, path));
        rows = [];
        if (entries.length >= BATCH) {
          yield entries;
          entries = [];
        }
      }
      rows.push(row);
    }
  }
  if (rows.length > 0) entries.push(entryOf(rows, path));
  yield entries;
}

function rowAt({ columns }: ParquetGroup, i: number): RecordingRow {
  const text = (name: keyof RecordingRow): string | undefined => {
    const value = columns.get(name)![i];
    return value == null ? undefined : String(value);
  };
  const time = (name: keyof RecordingRow): number | undefined => {
    const value = columns.get(name)![i];
    return value instanceof Date ? value.getTime() : undefined;
  };
  return {
    entry: Number(text('entry') ?? Number.NaN),
    kind: text('kind') as RowKind,
    at: time('at') ?? Number.NaN,
    time: time('time'),
    market: text('market'),
    token: text('token'),
    outcome: text('outcome'),
    side: text('side'),
    price: text('price'),
    size: text('size'),
    json: text('json'),
    more: text('more'),
  };
}

function entryOf(rows: readonly RecordingRow[], path: string): RecordingEntry {
  const [first] = rows;
  const { at, entry, json, kind } = first!;
  const damaged = (what: string) => new RecordingDamaged(`${path}: entry ${entry} ${what}`);
  const object = json === undefined ? {} : objectIn(json);
  if (object === undefined) throw damaged('has a text that is no JSON object');
  switch (kind) {
    case 'catalog':
      return { at, kind, event: object };
    case 'gap':
      return { at, kind, from: Number(object.from), to: Number(object.to) };
    case 'end':
      return { at, kind };
    case 'message':
      return { at, kind, message: object };
    case 'book':
    case 'change':
    case 'trade':
      return { at, kind: 'message', message: messageOf(rows, object) };
    default:
      throw damaged(`is of an unknown kind, ${kind}`);
  }
}

function messageOf(rows: readonly RecordingRow[], rest: JsonObject): JsonObject {
  const first = rows[0]!;
  const of = { market: first.market, timestamp: String(first.time) };
  const token = { asset_id: first.token, ...named(first) };
  if (first.kind === 'trade') {
    const { price, side, size } = first;
    return { event_type: 'last_trade_price', ...of, ...token, price, size, side, ...rest };
  }
  if (first.kind === 'book') {
    const levels = (wanted: string) =>
      rows.filter(({ side }) => side === wanted).map((row) => levelOf(row));
    const sides = { bids: levels('BUY'), asks: levels('SELL') };
    return { event_type: 'book', ...of, ...token, ...sides, ...rest };
  }
  if (rest.asset_id !== undefined) {
    const changes = rows.map((row) => ({ ...levelOf(row), side: row.side }));
    return { event_type: 'price_change', ...of, ...named(first), changes, ...rest };
  }
  const changes = rows.map((row) => ({
    asset_id: row.token,
    ...named(row),
    ...levelOf(row),
    side: row.side,
  }));
  return { event_type: 'price_change', ...of, price_changes: changes, ...rest };
}

function named({ outcome }: RecordingRow) {
  return outcome === undefined ? {} : { outcome };
}

function levelOf({ more, price, size }: RecordingRow): JsonObject {
  return { price, size, ...(more === undefined ? {} : objectIn(more)) };
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
