/**
 * The naive source of a paper venue, written from docs/guides/paper-and-backtests.md. A source
 * level is an open BUY of the source's wallet without an id, in the list of all orders of its
 * market.
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import type { NaiveMarket, NaiveOrder, Settlement } from './naive-book.ts';
import type { NaiveExchange } from './naive-exchange.ts';
import { type LevelLine, SOURCE, type SourceLine } from './naive-types.ts';

const AMOUNT_MAX = 2n ** 53n - 1n;
const PIPS = 10_000;
/** Id of orders without one; other ids count from 1. */
export const NO_ID = 0;

export function runSource(
  exchange: NaiveExchange,
  command: SourceLine,
  time: number,
  out: Settlement,
): RejectReasonCode {
  if (exchange.purse === undefined) return RejectReason.ledgerOff;
  if (command.kind === 'fill') return fillOrder(exchange, command, time, out);
  const market = exchange.marketOf(command.token);
  if (market === undefined) return RejectReason.tokenUnknown;
  if (market.outcomes !== 2) return RejectReason.notBinary;
  const { kind, pips, size } = command;
  if (pips < 1 || pips >= PIPS) return RejectReason.tick;
  const isAmount = Number.isInteger(size) && size >= 0 && BigInt(size) <= AMOUNT_MAX;
  if (!isAmount || (kind === 'print' && size === 0)) return RejectReason.amountInvalid;
  if (kind === 'level') return setLevel(exchange, market, command, time, out);
  if (market.terms.ended) return RejectReason.marketNotReady;
  print(exchange, market, command, out);
  market.touchAll(time);
  return RejectReason.accepted;
}

/** Source order as a BUY: a sale of a token is a BUY of the complement. */
function purchase(market: NaiveMarket, line: LevelLine): NaiveOrder {
  const sells = line.side === 'SELL';
  const token = sells ? 2 * market.firstToken + 1 - line.token : line.token;
  const price = sells ? PIPS - line.pips : line.pips;
  const shares = BigInt(line.size);
  return {
    line: {
      kind: 'order',
      id: NO_ID,
      token,
      side: 'BUY',
      type: 'GTC',
      postOnly: false,
      shares,
      collateral: (shares * BigInt(price) + BigInt(PIPS) - 1n) / BigInt(PIPS),
      expiration: 0,
      feeRateBps: 0,
      maker: SOURCE,
      signer: SOURCE,
      signatureType: 0,
      faults: [],
    },
    price,
    arrival: 0,
    remaining: shares,
    paid: 0n,
  };
}

function setLevel(
  exchange: NaiveExchange,
  market: NaiveMarket,
  command: LevelLine,
  time: number,
  out: Settlement,
): RejectReasonCode {
  const level = purchase(market, command);
  const { price } = level;
  const { side, token } = level.line;
  const place = market.open.findIndex(
    ({ line, price: other }) => line.id === NO_ID && line.token === token && other === price,
  );
  if (command.size === 0) {
    if (place === -1) return RejectReason.accepted;
    market.open.splice(place, 1);
    market.touchAll(time);
    return RejectReason.accepted;
  }
  if (market.terms.ended) return RejectReason.marketNotReady;
  if (price % (PIPS / market.terms.grid) !== 0) return RejectReason.tick;
  const before = market.open[place];
  if (before?.remaining === level.remaining) return RejectReason.accepted;
  if (before !== undefined) return replace(exchange, market, level, place, time);
  if (!exchange.purse!.covers(level.line)) return RejectReason.notEnough;
  const plan = market.plan(level, 'allow', false);
  const reach = { ...level, remaining: AMOUNT_MAX * AMOUNT_MAX };
  const isCrossed = market
    .plan(reach, 'allow', false)
    .steps.some(({ maker }) => maker.line.id === NO_ID);
  if (isCrossed) return RejectReason.sourceCrossed;
  if (plan.steps.length > 0 && !market.terms.tradable) return RejectReason.marketNotReady;
  const isPaid = plan.steps.length === 0 || covers(exchange, market, level);
  if (!isPaid) return RejectReason.notEnough;
  const total = market.levelTotal(token, side, price);
  if (total + level.remaining > AMOUNT_MAX) return RejectReason.sizeAboveMaximum;
  const match = exchange.fills;
  for (const { maker, size } of plan.steps) {
    market.fill(level, maker, size, match, out);
    exchange.fills += 1;
  }
  if (level.remaining > 0n) market.open.push(level);
  market.touchAll(time);
  return RejectReason.accepted;
}

/** True when the source can pay a purchase and the largest fee of it. */
function covers(
  exchange: NaiveExchange,
  market: NaiveMarket,
  { line, price }: NaiveOrder,
): boolean {
  return exchange.purse!.covers(line, market.largestFee(line.shares, price));
}

/** Changes the size and keeps the queue position. */
function replace(
  exchange: NaiveExchange,
  market: NaiveMarket,
  level: NaiveOrder,
  place: number,
  time: number,
): RejectReasonCode {
  const before = market.open[place]!;
  const total = market.levelTotal(level.line.token, level.line.side, level.price);
  if (total - before.remaining + level.remaining > AMOUNT_MAX) return RejectReason.sizeAboveMaximum;
  market.open.splice(place, 1);
  const isPaid = exchange.purse!.covers(level.line);
  market.open.splice(place, 0, isPaid ? level : before);
  if (!isPaid) return RejectReason.notEnough;
  market.touchAll(time);
  return RejectReason.accepted;
}

function fillOrder(
  exchange: NaiveExchange,
  command: Extract<SourceLine, { kind: 'fill' }>,
  time: number,
  out: Settlement,
): RejectReasonCode {
  if (!Number.isInteger(command.size) || command.size < 1) return RejectReason.amountInvalid;
  const isNamed = ({ line }: NaiveOrder): boolean => line.id === command.id;
  const market = exchange.markets.find(({ open }) => open.some(isNamed));
  if (market === undefined || command.id === NO_ID) return RejectReason.orderNotFound;
  if (market.outcomes !== 2) return RejectReason.notBinary;
  if (!market.terms.tradable) return RejectReason.marketNotReady;
  const order = market.open.find(isNamed)!;
  const wanted = BigInt(command.size);
  const size = Number(wanted < order.remaining ? wanted : order.remaining);
  const { token, side } = order.line;
  // The other side of what the order wants.
  const taker = purchase(market, {
    kind: 'level',
    token,
    side: side === 'BUY' ? 'SELL' : 'BUY',
    pips: order.price,
    size,
  });
  if (!covers(exchange, market, taker)) return RejectReason.notEnough;
  market.fill(taker, order, BigInt(size), exchange.fills, out);
  exchange.fills += 1;
  market.touchAll(time);
  return RejectReason.accepted;
}

function print(
  exchange: NaiveExchange,
  market: NaiveMarket,
  { pips, side, size, token }: LevelLine,
  out: Settlement,
): void {
  const collateral = (BigInt(size) * BigInt(pips)) / BigInt(PIPS);
  market.trade(token, { price: pips, side, sequence: exchange.fills });
  out.fills.push({
    kind: 'fills',
    match: exchange.fills,
    size: BigInt(size),
    taker: NO_ID,
    takerAccount: SOURCE,
    takerOwner: SOURCE,
    takerToken: token,
    takerSide: side,
    takerPrice: pips,
    takerCollateral: collateral,
    fee: 0n,
    isScheduled: false,
    rebate: 0,
    maker: NO_ID,
    makerAccount: SOURCE,
    makerOwner: SOURCE,
    makerToken: token,
    makerPrice: pips,
    makerCollateral: collateral,
  });
  exchange.fills += 1;
}
