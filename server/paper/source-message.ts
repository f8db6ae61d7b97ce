/**
 * Messages of a market stream as numbers: prices in pips, sizes in micro-shares. Both dialects: that of this node,
 * whose events have a place in a stream, and the public form, whose changes also come as `changes` of one token.
 *
 * Pure. Not here: what a message means to a book.
 */
import { isObject, type JsonObject } from '../../storage/catalog/catalog-json.ts';

export type SideText = 'BUY' | 'SELL';

export interface SourceLevel {
  readonly pips: number;
  /** Micro-shares. */
  readonly size: number;
}

export interface SourceChange extends SourceLevel {
  readonly token: string;
  readonly side: SideText;
}

/** All levels of a token, as a message or as an answer of `POST /books`. */
export interface SourceSnapshot {
  readonly kind: 'book';
  readonly token: string;
  /** Unix milliseconds, by the clock of the source. */
  readonly at: number;
  readonly bids: readonly SourceLevel[];
  readonly asks: readonly SourceLevel[];
  /** The object as it came: its hash is made of it. */
  readonly json: JsonObject;
}

type SourceEvent =
  | SourceSnapshot
  | { readonly kind: 'changes'; readonly at: number; readonly changes: readonly SourceChange[] }
  | (SourceChange & { readonly kind: 'print'; readonly at: number })
  | { readonly kind: 'tick'; readonly token: string }
  | { readonly kind: 'resolved'; readonly condition: string }
  | { readonly kind: 'listed' };

/** Where an event lies in a stream of the source; places compare as texts. */
interface SourcePlace {
  readonly stream: string;
  readonly sequence: string;
  readonly previous: string;
}

export type SourceMessage = SourceEvent & { readonly place?: SourcePlace };

/** A message that cannot be understood: what it said is lost. */
export class DamagedMessage extends Error {}

const DECIMAL = /^(\d{0,10})(?:\.(\d*))?$/;
const PIPS_DECIMALS = 4;
const MICRO_DECIMALS = 6;
const PIPS_PER_UNIT = 10_000;

/** The events of one frame, of which those that say nothing about levels, trades and terms are left out. */
export function readFrame(text: string): SourceMessage[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new DamagedMessage('it is no JSON');
  }
  const events = Array.isArray(json) ? json : [json];
  return events.flatMap((event) => {
    if (!isObject(event)) throw new DamagedMessage('it is no object');
    const read = readEvent(event);
    return read === undefined ? [] : [{ ...read, ...placeOf(event) }];
  });
}

function readEvent(event: JsonObject): SourceEvent | undefined {
  switch (event.event_type) {
    case 'book':
      return readBook(event);
    case 'price_change':
      return { kind: 'changes', at: timeOf(event), changes: changesOf(event) };
    case 'last_trade_price': {
      const change = changeOf(event, textOf(event, 'asset_id'));
      return { kind: 'print', at: timeOf(event), ...change };
    }
    case 'tick_size_change':
      return { kind: 'tick', token: textOf(event, 'asset_id') };
    case 'new_market':
      return { kind: 'listed' };
    case 'market_resolved':
      return { kind: 'resolved', condition: textOf(event, 'market').toLowerCase() };
    default:
      return undefined;
  }
}

/** A `book` message, or an item of the answer of `POST /books`. */
export function readBook(json: JsonObject): SourceSnapshot {
  const sideOf = (name: 'bids' | 'asks'): SourceLevel[] => {
    const levels = json[name];
    if (!Array.isArray(levels)) throw new DamagedMessage(`it has no ${name}`);
    return levels.map((level: unknown) => {
      if (!isObject(level)) throw new DamagedMessage('a level is no object');
      return levelOf(level, name === 'asks');
    });
  };
  return {
    kind: 'book',
    token: textOf(json, 'asset_id'),
    at: timeOf(json),
    bids: sideOf('bids'),
    asks: sideOf('asks'),
    json,
  };
}

function changesOf(event: JsonObject): SourceChange[] {
  const { changes, price_changes } = event;
  const list = price_changes ?? changes;
  if (!Array.isArray(list)) throw new DamagedMessage('it has no changes');
  return list.map((change: unknown) => {
    if (!isObject(change)) throw new DamagedMessage('a change is no object');
    return changeOf(change, textOf(price_changes === undefined ? event : change, 'asset_id'));
  });
}

function changeOf(json: JsonObject, token: string): SourceChange {
  const { side } = json;
  if (side !== 'BUY' && side !== 'SELL') throw new DamagedMessage('it has no side');
  return { token, side, ...levelOf(json, side === 'SELL') };
}

/** Prices finer than a pip go away from the spread, sizes finer than a micro-share are cut. */
function levelOf(json: JsonObject, roundsUp: boolean): SourceLevel {
  const pips = decimal(textOf(json, 'price'), PIPS_DECIMALS, roundsUp);
  if (pips <= 0 || pips >= PIPS_PER_UNIT) throw new DamagedMessage('a price is out of bounds');
  return { pips, size: decimal(textOf(json, 'size'), MICRO_DECIMALS, false) };
}

function decimal(text: string, decimals: number, roundsUp: boolean): number {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined || whole + fraction === '') {
    throw new DamagedMessage('a number is no decimal');
  }
  const value = Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  if (!Number.isSafeInteger(value)) throw new DamagedMessage('a number is too large');
  return roundsUp && /[1-9]/.test(fraction.slice(decimals)) ? value + 1 : value;
}

function textOf(json: JsonObject, name: string): string {
  const value = json[name];
  if (typeof value !== 'string') throw new DamagedMessage(`it has no ${name}`);
  return value;
}

function timeOf(json: JsonObject): number {
  const at = Number(json.timestamp);
  if (!Number.isSafeInteger(at)) throw new DamagedMessage('it has no timestamp');
  return at;
}

function placeOf({ previous, sequence, stream_id: stream }: JsonObject) {
  const isThere =
    typeof stream === 'string' && typeof sequence === 'string' && typeof previous === 'string';
  return isThere ? { place: { stream, sequence, previous } } : {};
}
