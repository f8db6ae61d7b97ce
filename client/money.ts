/**
 * Money of answers in one form, decimal text. The trading API writes decimals as text, the data API and the
 * catalog as JSON numbers, the ledger whole millionths; numbers are taken from the bytes of the answer, so no
 * digit passes through floating point.
 * Pure.
 */
import { fromMicro } from './decimal.ts';

/** Members that the data API and the catalog write as JSON numbers: amounts, prices, and shares of a whole. */
const NUMBER_MEMBERS = [
  // Data API: positions, their value, trades, price history.
  'size',
  'avgPrice',
  'initialValue',
  'currentValue',
  'cashPnl',
  'percentPnl',
  'totalBought',
  'realizedPnl',
  'percentRealizedPnl',
  'curPrice',
  'value',
  'price',
  'usdcSize',
  'p',
  // Catalog: figures and terms of a market.
  'volume',
  'volume24hr',
  'liquidity',
  'volumeNum',
  'liquidityNum',
  'bestBid',
  'bestAsk',
  'spread',
  'lastTradePrice',
  'orderPriceMinTickSize',
  'orderMinSize',
  'line',
] as const;
type NumberMember = (typeof NUMBER_MEMBERS)[number];

/** A name between quotes cannot stand inside a text, where every quote follows a backslash. */
const NUMBERS = new RegExp(`"(${NUMBER_MEMBERS.join('|')})":\\s*(-?[0-9][0-9.eE+-]*)`, 'g');

type AsText<Name, Value> = Name extends NumberMember
  ? Value extends number
    ? string
    : TextMoney<Value>
  : TextMoney<Value>;

export type TextMoney<Answer> = Answer extends readonly (infer Row)[]
  ? readonly TextMoney<Row>[]
  : Answer extends object
    ? { readonly [Name in keyof Answer]: AsText<Name, Answer[Name]> }
    : Answer;

export function parseMoney<Answer>(body: string): TextMoney<Answer> {
  return JSON.parse(body.replace(NUMBERS, '"$1":"$2"')) as TextMoney<Answer>;
}

/** Whole millionths as text, with a sign where negative, to decimal text. */
export function decimalOf(micro: string): string {
  return fromMicro(BigInt(micro));
}
