/**
 * Messages of a market channel as a source sends them, and their decimals. Only what the fill model reads is
 * named; both forms of `price_change` that are in use are known.
 *
 * Thread: any.
 */
import { Side } from '../commands.ts';
import { MICRO, PIPS_PER_UNIT } from '../tables/units.ts';

export interface LevelText {
  readonly price: string;
  readonly size: string;
}

export interface ChangeText extends LevelText {
  /** BUY or SELL; with the asset in the form that names both tokens in one message. */
  readonly side: string;
  readonly asset_id?: string;
}

interface OfMarket {
  readonly market: string;
  readonly asset_id: string;
  /** Unix milliseconds. */
  readonly timestamp: string;
}

export interface BookMessage extends OfMarket {
  readonly event_type: 'book';
  readonly hash?: string;
  readonly bids: readonly LevelText[];
  readonly asks: readonly LevelText[];
}

export interface PriceChangeMessage extends Omit<OfMarket, 'asset_id'> {
  readonly event_type: 'price_change';
  readonly asset_id?: string;
  readonly changes?: readonly ChangeText[];
  readonly price_changes?: readonly ChangeText[];
}

export interface LastTradePriceMessage extends OfMarket, LevelText {
  readonly event_type: 'last_trade_price';
  /** Of the taker. */
  readonly side: string;
}

export interface TickSizeMessage extends OfMarket {
  readonly event_type: 'tick_size_change';
  readonly old_tick_size: string;
  readonly new_tick_size: string;
}

/** Another one is passed on as it is and means nothing to a book. */
export type MarketMessage =
  | BookMessage
  | PriceChangeMessage
  | LastTradePriceMessage
  | TickSizeMessage;

export function sideOf(text: string): 0 | 1 {
  return text.toUpperCase() === 'SELL' ? Side.sell : Side.buy;
}

/** Micro-shares of a decimal; digits beyond the sixth are dropped. NaN = it is no size. */
export function microOf(text: string): number {
  return scaled(text, 6, MICRO);
}

/**
 * Pips of a decimal; NaN = it is no price strictly between 0 and 1. A price beyond the fourth digit is rounded to
 * the one that offers less: down for a bid and up for an ask.
 */
export function pipsOf(text: string, roundUp: boolean): number {
  const down = scaled(text, 4, PIPS_PER_UNIT);
  const isExact = !/\.\d{4}\d*[1-9]/.test(text);
  const pips = isExact || !roundUp ? down : down + 1;
  return pips > 0 && pips < PIPS_PER_UNIT ? pips : Number.NaN;
}

/** Exact: whole part and fraction are scaled apart, by their digits. */
function scaled(text: string, digits: number, scale: number): number {
  const point = text.indexOf('.');
  if (point === -1) return isDigits(text) ? Number(text) * scale : Number.NaN;
  const whole = text.slice(0, point);
  const fraction = text.slice(point + 1, point + 1 + digits);
  if (!isDigits(fraction) || (whole !== '' && !isDigits(whole))) return Number.NaN;
  return Number(whole) * scale + Number(fraction) * 10 ** (digits - fraction.length);
}

function isDigits(text: string): boolean {
  return /^\d+$/.test(text);
}
