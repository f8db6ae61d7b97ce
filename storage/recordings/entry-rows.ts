/**
 * Entries of a recording as rows, and back. An entry that has more than the columns of its rows has it as JSON beside them,
 * so an entry of any shape is the same again.
 *
 *   book     a row for each level, bids first; one row without price for an empty book
 *   change   a row for each change
 *   trade, message, catalog, gap, end   one row
 *
 * Pure; any thread.
 */
import { isObject, type JsonObject } from '../catalog/catalog-json.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';
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

export type RowKind = 'book' | 'change' | 'trade' | 'message' | 'catalog' | 'gap' | 'end';

const SIDES: readonly unknown[] = ['BUY', 'SELL'];

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

/** Returns the entry of its rows. @throws RecordingDamaged for rows that are none */
export function entryOf(rows: readonly RecordingRow[], path: string): RecordingEntry {
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

export function objectIn(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
