/**
 * Messages of a market stream, checked and as numbers: prices in pips, sizes in micro-shares. Both dialects: that of
 * this node, whose events have a place in a stream, and the public form, whose changes also come as `changes` of one
 * token.
 *
 * Pure. Not here: what a message means to a book.
 */
import { microOf, pipsOf, sideOf } from '../../engine/paper/messages.ts';
import type { SourceChange, SourceLevel } from '../../engine/paper/source-book.ts';
import { isObject, type JsonObject } from '../../storage/catalog/catalog-json.ts';

interface Timed {
  /** Unix milliseconds, by the clock of the source. */
  readonly at: number;
}
interface OfToken {
  readonly token: string;
}

interface Levels {
  readonly bids: readonly SourceLevel[];
  readonly asks: readonly SourceLevel[];
}

/** A message for one book; `side` of a print is its taker's, and `isSecond` says that it is of the second outcome. */
export type SourceStep =
  /** Nothing is known of the source: its levels leave, and what waited for its queues begins again. */
  | ({ readonly kind: 'clear' } & Timed)
  | ({ readonly kind: 'book' } & Timed & Levels)
  | ({ readonly kind: 'changes'; readonly changes: readonly SourceChange[] } & Timed)
  | ({ readonly kind: 'print'; readonly isSecond: boolean } & Timed & SourceChange);

/** All levels of a token, as a message or as an answer of `POST /books`. */
export interface SourceSnapshot extends Timed, OfToken, Levels {
  readonly kind: 'book';
  /** The object as it came: its hash is made of it. */
  readonly json: JsonObject;
}

export type SourceEvent =
  | SourceSnapshot
  | (Extract<SourceStep, { kind: 'changes' }> & OfToken)
  | ({ readonly kind: 'print' } & Timed & OfToken & SourceChange)
  | ({ readonly kind: 'tick' } & OfToken)
  | { readonly kind: 'resolved'; readonly condition: string }
  | { readonly kind: 'listed' };

/** Where an event lies in a stream of the source; places compare as texts. */
interface SourcePlace {
  readonly stream: string;
  readonly sequence: string;
  readonly previous: string;
}

/** The events of one object of a frame: changes come for each token apart. */
export interface SourceMessage {
  readonly place: SourcePlace | undefined;
  readonly events: readonly SourceEvent[];
}

/** A message that cannot be understood: what it said is lost. */
export class DamagedMessage extends Error {}

/** What one frame says; of events that say nothing about levels, trades and terms, the place alone. */
export function readFrame(text: string): SourceMessage[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new DamagedMessage('it is no JSON');
  }
  return (Array.isArray(json) ? json : [json]).map((event: unknown) => {
    if (!isObject(event)) throw new DamagedMessage('it is no object');
    return { place: placeOf(event), events: readEvents(event) };
  });
}

/** What one message says; nothing where it is none of these. */
export function readEvents(event: JsonObject): SourceEvent[] {
  switch (event.event_type) {
    case 'book':
      return [readBook(event)];
    case 'price_change':
      return readChanges(event);
    case 'last_trade_price': {
      const token = textOf(event, 'asset_id');
      return [{ kind: 'print', token, at: timeOf(event), ...changeOf(event, true) }];
    }
    case 'tick_size_change':
      return [{ kind: 'tick', token: textOf(event, 'asset_id') }];
    case 'new_market':
      return [{ kind: 'listed' }];
    case 'market_resolved':
      return [{ kind: 'resolved', condition: textOf(event, 'market').toLowerCase() }];
    default:
      return [];
  }
}

/** A `book` message, or an item of the answer of `POST /books`. */
export function readBook(json: JsonObject): SourceSnapshot {
  const sideLevels = (name: 'bids' | 'asks'): SourceLevel[] =>
    objectsOf(json, name).map((level) => levelOf(level, name === 'asks'));
  return {
    kind: 'book',
    token: textOf(json, 'asset_id'),
    at: timeOf(json),
    bids: sideLevels('bids'),
    asks: sideLevels('asks'),
    json,
  };
}

function readChanges(event: JsonObject): SourceEvent[] {
  const at = timeOf(event);
  const isOfMany = event.price_changes !== undefined;
  const byToken = new Map<string, SourceChange[]>();
  for (const change of objectsOf(event, isOfMany ? 'price_changes' : 'changes')) {
    const token = textOf(isOfMany ? change : event, 'asset_id');
    const changes = byToken.get(token) ?? [];
    changes.push(changeOf(change));
    byToken.set(token, changes);
  }
  return [...byToken].map(([token, changes]) => ({ kind: 'changes', token, at, changes }));
}

/** Of a print, the price goes to the side on which fewer orders are reached. */
function changeOf(json: JsonObject, isPrint = false): SourceChange {
  const side = textOf(json, 'side').toUpperCase();
  if (side !== 'BUY' && side !== 'SELL') throw new DamagedMessage('a side is none');
  return { side: sideOf(side), ...levelOf(json, side === 'SELL' && !isPrint) };
}

function levelOf(json: JsonObject, roundsUp: boolean): SourceLevel {
  const pips = pipsOf(textOf(json, 'price'), roundsUp);
  const size = microOf(textOf(json, 'size'));
  if (Number.isNaN(pips)) throw new DamagedMessage('a price is none');
  if (!Number.isSafeInteger(size)) throw new DamagedMessage('a size is none');
  return { pips, size };
}

function objectsOf(json: JsonObject, name: string): JsonObject[] {
  const list = json[name];
  if (!Array.isArray(list) || !list.every(isObject)) throw new DamagedMessage(`it has no ${name}`);
  return list;
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

function placeOf({ previous, sequence, stream_id: stream }: JsonObject): SourcePlace | undefined {
  const isThere =
    typeof stream === 'string' && typeof sequence === 'string' && typeof previous === 'string';
  return isThere ? { stream, sequence, previous } : undefined;
}

/** Whether the best bid is not below the best ask. */
export function isCrossed({ asks, bids }: Levels): boolean {
  let bid = 0;
  let ask = Number.POSITIVE_INFINITY;
  for (const { pips, size } of bids) if (size > 0) bid = Math.max(bid, pips);
  for (const { pips, size } of asks) if (size > 0) ask = Math.min(ask, pips);
  return bid >= ask;
}
