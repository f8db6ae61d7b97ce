/**
 * Messages of a market channel, checked and converted to numbers, for the book mirror and for recordings. Both
 * dialects: that of this node, and the public form, whose changes also come as `changes` of one token.
 *
 * Pure; any thread. Not here: the effect of a message on a book (engine/paper).
 */

import { Side } from '../../engine/commands.ts';
import type { SourceChange, SourceLevel } from '../../engine/paper/source-book.ts';
import type { SourceStep } from '../../engine/paper/source-step.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { isObject, type JsonObject, textList } from '../catalog/catalog-json.ts';
import { wholeCondition } from '../catalog/condition-ids.ts';
import { type Payout, weightsOf } from '../catalog/payout.ts';
import { isRecordingTime } from './times.ts';

/** All levels of a token, from a message or an answer of `POST /books`. */
export type SourceSnapshot = Extract<SourceStep, { kind: 'book' }> & {
  /** Unchanged object, of which its hash is made. */
  readonly json: JsonObject;
};

export type SourceEvent =
  | SourceSnapshot
  | Exclude<SourceStep, { kind: 'book' | 'clear' }>
  | {
      readonly kind: 'resolved';
      readonly condition: string;
      readonly tokens: readonly string[];
      readonly payout: Payout | undefined;
    }
  | { readonly kind: 'listed' };

const SCALES = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
/** Length of a price that is not between two pips, whatever its digits: .1234. */
const EXACT_LENGTH = 5;
const ZERO = '0'.charCodeAt(0);

export class DamagedMessage extends Error {}

/** Returns the events of a message; none for unknown types. Changes of each token are an event of their own. */
export function readEvents(message: JsonObject): SourceEvent[] {
  if (!isObject(message)) throw new DamagedMessage('it is no object');
  switch (message.event_type) {
    case 'book':
      return [readBook(message)];
    case 'price_change':
      return message.price_changes === undefined ? [changesOf(message)] : changesByToken(message);
    case 'last_trade_price':
      return [{ kind: 'print', ...saidIn(message), ...changeOf(message) }];
    case 'tick_size_change':
      return [{ kind: 'tick', ...saidIn(message), pips: priceOf(message, 'new_tick_size', false) }];
    case 'new_market':
      checkTime(message);
      return [{ kind: 'listed' }];
    case 'market_resolved': {
      checkTime(message);
      const condition = wholeCondition(textOf(message, 'market').toLowerCase());
      const tokens = textList(message.assets_ids) ?? [];
      return [{ kind: 'resolved', condition, tokens, payout: payoutOf(message, tokens) }];
    }
    default:
      checkTime(message);
      return [];
  }
}

/** Checks the time of a message that may have none: it may be absent, but not wrong. */
function checkTime(message: JsonObject): void {
  if (message.timestamp !== undefined) timeOf(message);
}

/** Returns the events of a message; none if it is damaged. */
export function understoodEvents(
  message: JsonObject,
  onDamaged: (why: string) => void,
): readonly SourceEvent[] {
  try {
    return readEvents(message);
  } catch (error) {
    if (!(error instanceof DamagedMessage)) throw error;
    onDamaged(error.message);
    return [];
  }
}

export function readBook(json: JsonObject): SourceSnapshot {
  const levels = (name: 'bids' | 'asks'): SourceLevel[] =>
    objectsOf(json, name).map((level) => ({
      pips: priceOf(level, 'price', name === 'asks'),
      size: sizeOf(level),
    }));
  return { kind: 'book', ...saidIn(json), bids: levels('bids'), asks: levels('asks'), json };
}

function changesOf(message: JsonObject): SourceEvent {
  const changes = objectsOf(message, 'changes').map(changeOf);
  return { kind: 'changes', ...saidIn(message), changes };
}

/** Reads the form with several tokens in one message. */
function changesByToken(message: JsonObject): SourceEvent[] {
  const at = timeOf(message);
  const events: SourceEvent[] = [];
  const byToken = new Map<string, SourceChange[]>();
  for (const change of objectsOf(message, 'price_changes')) {
    const token = textOf(change, 'asset_id');
    let changes = byToken.get(token);
    if (changes === undefined) {
      changes = [];
      byToken.set(token, changes);
      events.push({ kind: 'changes', token, at, changes });
    }
    changes.push(changeOf(change));
  }
  return events;
}

/** Reads a level or a trade print. Rounding makes a seller offer less, and a selling taker reach fewer orders. */
function changeOf(json: JsonObject): SourceChange {
  const side = sideOf(textOf(json, 'side'));
  return { side, pips: priceOf(json, 'price', side === Side.sell), size: sizeOf(json) };
}

function sideOf(text: string): 0 | 1 {
  if (text === 'BUY') return Side.buy;
  if (text === 'SELL') return Side.sell;
  const upper = text.toUpperCase();
  if (upper === text) throw new DamagedMessage('a side is none');
  return sideOf(upper);
}

/** Reads the payout. Nodes of this project send weights, others the winner. */
function payoutOf(message: JsonObject, tokens: readonly string[]): Payout | undefined {
  const { is_void: isVoid, payouts, winning_asset_id: winner } = message;
  if (isVoid === true) return 'void';
  const weights = Array.isArray(payouts)
    ? payouts
    : tokens.map((token) => Number(token === winner));
  const isSound = weights.every((weight) => Number.isSafeInteger(weight) && weight >= 0);
  return isSound && weights.some((weight) => weight > 0) ? weightsOf(weights) : undefined;
}

/**
 * Pips of a price strictly between 0 and 1. Digits beyond the fourth are rounded to the price that offers less: down
 * for a bid and up for an ask.
 */
function priceOf(json: JsonObject, name: string, roundsUp: boolean): number {
  const text = textOf(json, name);
  const isBetween = text.length > EXACT_LENGTH && /\.\d{4}\d*[1-9]/.test(text);
  const pips = scaled(text, 4) + (roundsUp && isBetween ? 1 : 0);
  if (pips > 0 && pips < PIPS_PER_UNIT) return pips;
  throw new DamagedMessage(`a ${name} is none`);
}

/** Returns true for a decimal from 0.0001 to 0.9999, which is a price whichever way it is rounded. */
export function isPrice(text: string): boolean {
  const pips = scaled(text, 4);
  if (!(pips > 0 && pips < PIPS_PER_UNIT)) return false;
  return pips < PIPS_PER_UNIT - 1 || !/\.\d{4}\d*[1-9]/.test(text);
}

/** Returns true for a decimal of at most nine digits before its point. */
export function isSize(text: string): boolean {
  return /^\d{0,9}(\.|$)/.test(text) && !Number.isNaN(scaled(text, 6));
}

/** Micro-shares; digits beyond the sixth are dropped. */
function sizeOf(json: JsonObject): number {
  const size = scaled(textOf(json, 'size'), 6);
  if (Number.isSafeInteger(size)) return size;
  throw new DamagedMessage('a size is none');
}

/** Whole units of 10^-decimals, exactly; digits beyond are dropped. NaN = the text is no decimal. */
function scaled(text: string, decimals: number): number {
  let value = 0;
  /** Digits after the point; -1 before it. */
  let places = -1;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - ZERO;
    if (digit >= 0 && digit <= 9) {
      if (places === decimals) continue;
      value = 10 * value + digit;
      if (places >= 0) places += 1;
    } else if (text[i] === '.' && places === -1) places = 0;
    else return Number.NaN;
  }
  if (text === '' || places === 0) return Number.NaN;
  return value * SCALES[decimals - Math.max(places, 0)]!;
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

function saidIn(json: JsonObject): { readonly token: string; readonly at: number } {
  return { token: textOf(json, 'asset_id'), at: timeOf(json) };
}

function timeOf(json: JsonObject): number {
  const at = timeIn(json);
  if (at !== undefined) return at;
  const isThere = json.timestamp !== undefined;
  throw new DamagedMessage(isThere ? 'its timestamp is no time' : 'it has no timestamp');
}

/** Time of a message in unix milliseconds; undefined outside the range of recordings. */
export function timeIn({ timestamp }: JsonObject): number | undefined {
  const at = typeof timestamp === 'string' ? scaled(timestamp, 0) : timestamp;
  return isRecordingTime(at) ? at : undefined;
}
