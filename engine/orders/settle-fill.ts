/**
 * Settlement of a fill: both payments, and its record. The amounts are in context.legs, because doubles passed as
 * arguments would be allocated. Rules: docs/protocol.md#settlement
 */
import type { EngineContext } from '../context.ts';
import * as coreModule from '../context.ts';
import { recordReserved, settleFunds } from '../ledger/settle-funds.ts';
import * as codes from '../tables/codes.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type {
  BookRow,
  MarketRow,
  MicroCollateral,
  MicroShares,
  OrderRow,
  Ticks,
  TicksPerUnit,
  TokenRow,
} from '../tables/units.ts';
import * as units from '../tables/units.ts';
import { collateralOf, feeOf, fillRowAt, scheduleFeeOf } from '../tables/units.ts';
import { copyId } from '../tables/words.ts';
import { beginUnsettled, holdFill, supersede } from './unsettled.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const { MatchKind } = codes;
const {
  BOOK_I,
  Book,
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  FillTerm,
  Flag,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} = layout;
const { Leg } = coreModule;
const { PIPS_PER_UNIT } = units;

export function settleFill(
  context: EngineContext,
  taker: OrderRow,
  maker: OrderRow,
  book: BookRow,
  tick: Ticks,
  i: number,
): void {
  const { legs, t } = context;
  const { orderF, orderI, tokenI } = t;
  const grid = t.bookI[(book << BOOK_I) | Book.ticksPerUnit]! as TicksPerUnit;
  const market = t.bookI[(book << BOOK_I) | Book.market]! as MarketRow;
  const takerToken = orderI[(taker << ORDER_I) | Order.token]! as TokenRow;
  const makerToken = orderI[(maker << ORDER_I) | Order.token]! as TokenRow;
  const isMirrored = tokenI[(makerToken << TOKEN_I) | Token.mirrored] === 1;
  const makerTicks = (isMirrored ? grid - tick : tick) as Ticks;
  const isSame = takerToken === makerToken;
  const takerTicks = (isSame ? makerTicks : grid - makerTicks) as Ticks;
  legs[Leg.size] = t.matching.sizes[i]!;
  const hasLedger = t.state[State.ledger] !== 0;
  if (hasLedger) recordReserved(context, maker);
  pay(context, taker, maker, market, grid, isSame, makerTicks, takerTicks);

  const perTick = PIPS_PER_UNIT / grid;
  const takerSells = orderI[(taker << ORDER_I) | Order.flags]! & Flag.sell;
  const makerSells = orderI[(maker << ORDER_I) | Order.flags]! & Flag.sell;
  if (context.settleMs !== 0) beginUnsettled(context, taker, maker);
  lastTrade(t, takerToken, takerTicks * perTick, takerSells);
  if (!isSame) lastTrade(t, makerToken, makerTicks * perTick, makerSells);
  record(context, taker, maker, market, takerTicks * perTick, makerTicks * perTick);

  orderF[(taker << ORDER_F) | Order.remaining]! -= legs[Leg.size]!;
  orderF[(maker << ORDER_F) | Order.remaining]! -= legs[Leg.size]!;
  if (hasLedger) {
    settleFunds(context, taker, maker, market);
    if (context.settleMs !== 0) holdFill(context, taker, maker);
  }
  context.mixWord(orderI[(maker << ORDER_I) | Order.id]!);
  context.mix(legs[Leg.size]!);
  context.mix(legs[Leg.maker]!);
  context.mix(legs[Leg.taker]!);
}

/** Computes the payments of both sides and the taker's fee, and takes them from the buyers' budgets. */
function pay(
  context: EngineContext,
  taker: OrderRow,
  maker: OrderRow,
  market: MarketRow,
  grid: TicksPerUnit,
  isSame: boolean,
  makerTicks: Ticks,
  takerTicks: Ticks,
): void {
  const { legs, t } = context;
  const takerBuys = (t.orderI[(taker << ORDER_I) | Order.flags]! & Flag.sell) === 0;
  const makerBuys = (t.orderI[(maker << ORDER_I) | Order.flags]! & Flag.sell) === 0;
  const size = legs[Leg.size]! as MicroShares;
  // The maker's leg is rounded down; in a mint or merge the taker's is the rest of the size.
  const makerLeg = collateralOf(size, makerTicks, grid);
  const takerLeg = (isSame ? makerLeg : size - makerLeg) as MicroCollateral;
  const makerPays = makerBuys ? takeFromBudget(t, maker, makerLeg) : makerLeg;
  const takerPays = takerBuys ? takeFromBudget(t, taker, takerLeg) : takerLeg;
  const missing = makerLeg - makerPays + (takerLeg - takerPays);
  if (missing !== 0) t.marketF[(market << MARKET_F) | Market.rounding]! -= missing;
  legs[Leg.maker] = makerPays;
  legs[Leg.taker] = takerPays;
  context.making += takerBuys ? takerPays : size;
  context.taking += takerBuys ? size : takerPays;
  const rate = t.marketI[(market << MARKET_I) | Market.feeRate]!;
  if (rate !== 0) {
    // The amounts of the answer are those of the trade: the fee stands apart (docs/protocol.md#fees).
    const exponent = t.marketI[(market << MARKET_I) | Market.feeExponent]!;
    legs[Leg.fee] = scheduleFeeOf(size, takerTicks, grid, rate, exponent);
    legs[Leg.feeShares] = 0;
    return;
  }
  const baseFeeBps = t.marketI[(market << MARKET_I) | Market.baseFeeBps]!;
  const fee = feeOf(takerBuys, size, takerTicks, grid, baseFeeBps);
  context.taking -= fee;
  legs[Leg.fee] = fee;
  legs[Leg.feeShares] = takerBuys ? fee : 0;
}

function takeFromBudget(t: Tables, order: OrderRow, leg: MicroCollateral): MicroCollateral {
  const at = (order << ORDER_F) | Order.budget;
  const budget = t.orderF[at]! as MicroCollateral;
  const paid = Math.min(leg, budget) as MicroCollateral;
  t.orderF[at] = budget - paid;
  return paid;
}

export function lastTrade(t: Tables, token: TokenRow, pips: number, sells: number): void {
  const offset = token << TOKEN_I;
  if (t.state[State.unsettled] !== 0) supersede(t, token);
  t.tokenI[offset | Token.lastPrice] = pips;
  t.tokenI[offset | Token.lastSide] = sells === 0 ? 0 : 1;
}

function record(
  context: EngineContext,
  takerOrder: OrderRow,
  makerOrder: OrderRow,
  market: MarketRow,
  takerPips: number,
  makerPips: number,
): void {
  const { legs, t } = context;
  const { fillF, fillI, orderI } = t;
  const taker = takerOrder << ORDER_I;
  const maker = makerOrder << ORDER_I;
  const sequence = t.state[State.fills]!;
  const at = fillRowAt(sequence, t.fillRows);
  const f = at * FILL_DOUBLES;
  fillF[f + Fill.time] = context.time;
  fillF[f + Fill.size] = legs[Leg.size]!;
  fillF[f + Fill.match] = context.firstFill;
  fillF[f + Fill.takerCollateral] = legs[Leg.taker]!;
  fillF[f + Fill.makerCollateral] = legs[Leg.maker]!;
  fillF[f + Fill.fee] = legs[Leg.fee]!;
  const i = at * FILL_WORDS;
  const takerSells = (orderI[taker | Order.flags]! & Flag.sell) !== 0;
  const isSame = orderI[taker | Order.token] === orderI[maker | Order.token];
  const across = takerSells ? MatchKind.merge : MatchKind.mint;
  fillI[i + Fill.kind] = isSame ? MatchKind.complementary : across;
  fillI[i + Fill.takerSide] = takerSells ? 1 : 0;
  fillI[i + Fill.takerToken] = orderI[taker | Order.token]!;
  fillI[i + Fill.makerToken] = orderI[maker | Order.token]!;
  fillI[i + Fill.takerPrice] = takerPips;
  fillI[i + Fill.makerPrice] = makerPips;
  fillI[i + Fill.taker] = orderI[taker | Order.maker]!;
  fillI[i + Fill.maker] = orderI[maker | Order.maker]!;
  fillI[i + Fill.takerOwner] = orderI[taker | Order.owner]!;
  fillI[i + Fill.makerOwner] = orderI[maker | Order.owner]!;
  copyId(orderI, taker | Order.id, fillI, i + Fill.takerId);
  copyId(orderI, maker | Order.id, fillI, i + Fill.makerId);
  fillI[i + Fill.terms] =
    t.marketI[(market << MARKET_I) | Market.feeRate] === 0 ? 0 : FillTerm.scheduled;
  fillI[i + Fill.rebate] = t.marketI[(market << MARKET_I) | Market.feeRebate]!;
  t.state[State.fills] = sequence + 1;
  context.events.fill(sequence);
}
