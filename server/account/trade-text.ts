/**
 * An own trade as JSON: the taker's view at the top, each maker order with its own token,
 * side and price. API keys of others are never told.
 * Rules: docs/protocol.md#own-orders-and-trades
 *
 * Thread: I/O.
 */
import {
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  ID_WORDS,
  MARKET_I,
  Market,
  MatchKind,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import { MICRO, PIPS_PER_UNIT, type Pips } from '../../engine/tables/units.ts';
import { microText, pipsText, ratioMicro } from '../common/decimal.ts';
import { wordsToHex } from '../common/uint256.ts';
import { type AccountTexts, NIL_UUID } from '../market-data/account-texts.ts';
import { tradeIdOf, transactionHash } from '../market-data/match-ids.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { OwnTrade } from './own-trades.ts';

/** Maker orders of others that a trade lists; own ones come beside them up to the same number. */
const MAKERS_MAX = 500;
const MS = 1_000;
const MICRO_PER_PIP = MICRO / PIPS_PER_UNIT;
const SIDES = ['BUY', 'SELL'] as const;

/** Who is told. */
export interface TradeReader {
  /** Account slot. */
  readonly owner: number;
  readonly apiKey: string;
}

export class TradeTexts {
  private readonly texts: AccountTexts;
  private readonly index: TradesIndex;
  private readonly makersMax: number;

  constructor(texts: AccountTexts, index: TradesIndex, makersMax = MAKERS_MAX) {
    this.texts = texts;
    this.index = index;
    this.makersMax = makersMax;
  }

  /** `listed`: how many maker orders are in it. */
  text(
    { isTaker, match }: OwnTrade,
    reader: TradeReader,
  ): { readonly text: string; readonly listed: number } {
    const { index } = this;
    const { fillF, fillI, fillRows, marketI, tokenI } = this.texts.t;
    const row = match % fillRows;
    const i = row * FILL_WORDS;
    const slot = match & index.mask;
    const token = fillI[i + Fill.takerToken]!;
    const market = tokenI[(token << TOKEN_I) + Token.market]!;
    const size = index.size[slot]!;
    const pips = index.price[slot]!;
    const price = pips !== 0 ? pips * MICRO_PER_PIP : ratioMicro(index.collateral[slot]!, size);
    const seconds = String(Math.floor(fillF[row * FILL_DOUBLES + Fill.time]! / MS));
    const side = isTaker ? 'TAKER' : 'MAKER';
    const makers = this.makers(match, reader);
    const text = JSON.stringify({
      id: tradeIdOf(match),
      taker_order_id: wordsToHex(fillI, i + Fill.takerId, ID_WORDS),
      ...this.texts.token(token),
      side: SIDES[fillI[i + Fill.takerSide]!],
      size: microText(size),
      fee_rate_bps: String(marketI[(market << MARKET_I) + Market.baseFeeBps]!),
      price: microText(price),
      status: 'CONFIRMED',
      match_time: seconds,
      last_update: seconds,
      bucket_index: 0,
      owner: isTaker ? reader.apiKey : NIL_UUID,
      maker_address: this.texts.wallet(fillI[i + Fill.taker]!),
      transaction_hash: transactionHash(match),
      trader_side: side,
      type: side,
      maker_orders: makers,
    });
    return { text, listed: makers.length };
  }

  private makers(match: number, reader: TradeReader): object[] {
    const { index } = this;
    const { fillI, fillRows } = this.texts.t;
    const makers: object[] = [];
    let own = 0;
    for (let fill = match; fill < index.end; fill++) {
      if (index.toMatch[fill & index.mask] !== fill - match || own > this.makersMax) break;
      const row = fill % fillRows;
      const isOwn = fillI[row * FILL_WORDS + Fill.makerOwner] === reader.owner;
      if (fill - match >= this.makersMax && !isOwn) continue;
      if (isOwn) own += 1;
      makers.push(this.maker(row, isOwn ? reader.apiKey : NIL_UUID));
    }
    return makers;
  }

  private maker(row: number, owner: string): object {
    const { fillF, fillI } = this.texts.t;
    const i = row * FILL_WORDS;
    const isOpposite = fillI[i + Fill.kind] === MatchKind.complementary;
    const takerSide = fillI[i + Fill.takerSide]!;
    const { asset_id, outcome } = this.texts.token(fillI[i + Fill.makerToken]!);
    return {
      order_id: wordsToHex(fillI, i + Fill.makerId, ID_WORDS),
      owner,
      maker_address: this.texts.wallet(fillI[i + Fill.maker]!),
      matched_amount: microText(fillF[row * FILL_DOUBLES + Fill.size]!),
      price: pipsText(fillI[i + Fill.makerPrice]! as Pips),
      // The maker pays no fee (docs/protocol.md#fees).
      fee_rate_bps: '0',
      asset_id,
      outcome,
      side: SIDES[isOpposite ? 1 - takerSide : takerSide],
    };
  }
}
