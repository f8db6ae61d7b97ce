/**
 * An own trade as JSON: the taker's view at the top, and each maker order with its own token, side and price. API
 * keys of other callers are never shown. Rules: docs/protocol.md#own-orders-and-trades
 *
 * Thread: I/O.
 */
import {
  fillKind,
  fillMaker,
  fillMakerIdAt,
  fillMakerOwner,
  fillMakerPrice,
  fillMakerToken,
  fillRow,
  fillSize,
  fillTaker,
  fillTakerIdAt,
  fillTakerSide,
  fillTakerToken,
  fillTime,
  marketFeeBps,
  tokenMarket,
} from '../../engine/reads.ts';
import { ID_WORDS, MatchKind } from '../../engine/tables/codes.ts';
import { type FillRow, MICRO, PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { microText, pipsText, ratioMicro } from '../common/decimal.ts';
import { tradeIdOf } from '../common/trade-ids.ts';
import { wordsToHex } from '../common/uint256.ts';
import { type AccountTexts, NIL_UUID } from '../market-data/account-texts.ts';
import { transactionHash } from '../market-data/match-ids.ts';
import { tradeStatus } from '../market-data/trade-status.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { OwnTrade } from './own-trades.ts';

/** Maker orders of other owners that a trade lists. Own ones are added up to the same number. */
const MAKERS_MAX = 500;
const MS = 1_000;
const MICRO_PER_PIP = MICRO / PIPS_PER_UNIT;
const SIDES = ['BUY', 'SELL'] as const;

export interface TradeReader {
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

  text(
    { isTaker, match }: OwnTrade,
    reader: TradeReader,
  ): { readonly text: string; readonly listed: number } {
    const { index } = this;
    const { tables } = this.texts;
    const row = fillRow(tables, match);
    const slot = match & index.mask;
    const token = fillTakerToken(tables, row);
    const market = tokenMarket(tables, token);
    const size = index.size[slot]!;
    const pips = index.price[slot]!;
    const price = pips !== 0 ? pips * MICRO_PER_PIP : ratioMicro(index.collateral[slot]!, size);
    const seconds = String(Math.floor(fillTime(tables, row) / MS));
    const side = isTaker ? 'TAKER' : 'MAKER';
    const makers = this.makers(match, reader);
    const status = tradeStatus(tables, row, match);
    const text = JSON.stringify({
      id: tradeIdOf(match),
      taker_order_id: wordsToHex(tables.fillI, fillTakerIdAt(row), ID_WORDS),
      ...this.texts.token(token),
      side: SIDES[fillTakerSide(tables, row)],
      size: microText(size),
      fee_rate_bps: String(marketFeeBps(tables, market)),
      price: microText(price),
      status,
      match_time: seconds,
      last_update: seconds,
      bucket_index: 0,
      owner: isTaker ? reader.apiKey : NIL_UUID,
      maker_address: this.texts.wallet(fillTaker(tables, row)),
      transaction_hash: status === 'CONFIRMED' ? transactionHash(match) : '',
      trader_side: side,
      type: side,
      maker_orders: makers,
    });
    return { text, listed: makers.length };
  }

  private makers(match: number, reader: TradeReader): object[] {
    const { index } = this;
    const { tables } = this.texts;
    const makers: object[] = [];
    let own = 0;
    for (let fill = match; fill < index.end; fill++) {
      if (index.toMatch[fill & index.mask] !== fill - match || own > this.makersMax) break;
      const row = fillRow(tables, fill);
      const isOwn = fillMakerOwner(tables, row) === reader.owner;
      if (fill - match >= this.makersMax && !isOwn) continue;
      if (isOwn) own += 1;
      makers.push(this.maker(row, isOwn ? reader.apiKey : NIL_UUID));
    }
    return makers;
  }

  private maker(row: FillRow, owner: string): object {
    const { tables } = this.texts;
    const isOpposite = fillKind(tables, row) === MatchKind.complementary;
    const takerSide = fillTakerSide(tables, row);
    const { asset_id, outcome } = this.texts.token(fillMakerToken(tables, row));
    return {
      order_id: wordsToHex(tables.fillI, fillMakerIdAt(row), ID_WORDS),
      owner,
      maker_address: this.texts.wallet(fillMaker(tables, row)),
      matched_amount: microText(fillSize(tables, row)),
      price: pipsText(fillMakerPrice(tables, row)),
      // The maker pays no fee (docs/protocol.md#fees).
      fee_rate_bps: '0',
      asset_id,
      outcome,
      side: SIDES[isOpposite ? 1 - takerSide : takerSide],
    };
  }
}
