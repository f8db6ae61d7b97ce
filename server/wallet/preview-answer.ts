/**
 * Answer of POST /orders/preview: amounts of the engine as decimal texts, with what the order would be worth. Rules:
 * docs/protocol.md#preview-of-an-order
 *
 * Thread: any; pure.
 */
import type { Ticket } from '../../engine/orders/facing-orders.ts';
import type { Payer } from '../../engine/orders/payer.ts';
import type { Preview } from '../../engine/orders/preview.ts';
import {
  type MicroShares,
  mulDivFloor,
  PIPS_PER_UNIT,
  pipsOf,
  type TicksPerUnit,
} from '../../engine/tables/units.ts';
import { microText, pipsText, ratioMicro } from '../common/decimal.ts';
import type { RefusalCode } from '../common/refusals.ts';
import type { Static } from '../common/schema.ts';
import { microsText } from './money.ts';
import type { PreviewAnswer, PreviewBody } from './preview-schemas.ts';
import { wordsOf } from './preview-words.ts';

type Answer = Static<typeof PreviewAnswer>;

/** Everything that one read of the tables found. */
export interface Seen {
  readonly ticket: Ticket;
  readonly preview: Preview;
  readonly payer: Payer | undefined;
  /** Undefined where nothing refuses it. */
  readonly code: RefusalCode | undefined;
  readonly batch: number;
  readonly grid: TicksPerUnit;
  readonly minSize: MicroShares;
  readonly baseFeeBps: number;
  readonly hasSchedule: boolean;
  readonly takerDelay: number;
  readonly isCut: boolean;
  readonly negRisk: boolean;
}

/** Texts of the request and of its market. */
export interface Named {
  readonly tokenId: string;
  readonly conditionId: string;
  readonly orderType: Static<typeof PreviewBody>['orderType'];
  /** Unix seconds; 0 = none. */
  readonly expiration: number;
  /** '' = nobody in particular. */
  readonly wallet: string;
}

export function answerOf(seen: Seen, named: Named): Answer {
  const { baseFeeBps, grid, negRisk, preview, ticket } = seen;
  const { filled, fee, feeShares, shares, ticks, worst } = preview;
  const { isBuy } = ticket;
  const side = isBuy ? 'BUY' : 'SELL';
  const { conditionId, expiration, orderType, tokenId, wallet } = named;
  const price = ticks === 0 ? '' : pipsText(pipsOf(ticks, grid));
  const collateral = String(preview.collateral);
  const held = String(shares);
  const order = {
    tokenId,
    conditionId,
    negRisk,
    side,
    orderType,
    postOnly: ticket.postOnly,
    expiration,
    price,
    size: microText(Math.min(shares, Number.MAX_SAFE_INTEGER)),
    makerAmount: isBuy ? collateral : held,
    takerAmount: isBuy ? held : collateral,
    feeRateBps: baseFeeBps,
  } as const;
  const rest = restCost(seen);
  const total = isBuy ? preview.cost + fee : preview.cost - fee;
  const traded = isBuy ? filled - feeShares : filled;
  return {
    sequence: String(seen.batch),
    wallet,
    wouldBe: wouldBe(seen),
    reason: reasonOf(seen),
    filled: microText(filled),
    averagePrice: filled === 0 ? '' : microText(ratioMicro(preview.cost, filled)),
    worstPrice: worst === 0 ? '' : pipsText(pipsOf(worst, grid)),
    cost: microText(preview.cost),
    fee: microText(fee + feeShares),
    feeIn: isBuy && !seen.hasSchedule ? 'shares' : 'collateral',
    shares: microText(traded),
    ...outcomes(isBuy, total, traded),
    rest: {
      size: microText(Math.min(preview.rests + preview.dropped, Number.MAX_SAFE_INTEGER)),
      fate: preview.rests > 0 ? 'rests' : preview.dropped > 0 ? 'ends' : 'none',
      price: preview.rests > 0 ? price : '',
      cost: microText(rest),
    },
    ifAllFills: outcomes(isBuy, total + rest, traded + preview.rests),
    order: ticks === 0 || shares === 0 || preview.collateral === 0 ? null : order,
    walked: { levels: preview.levels, orders: preview.orders, isWhole: !seen.isCut },
  };
}

/** Collateral that a resting BUY reserves, as ledger/reservations.ts counts it; that of a SELL at its price. */
function restCost({ grid, preview, ticket }: Seen): number {
  const { collateral, cost, rests, ticks } = preview;
  if (rests === 0 || ticks === 0) return 0;
  if (!ticket.isBuy) return mulDivFloor(rests, ticks, grid);
  return Math.min(rests - mulDivFloor(rests, grid - ticks, grid), collateral - cost);
}

/**
 * Worth of shares that were bought or sold for a total. A SELL is right where its outcome does not come, and is compared
 * with keeping the shares.
 */
function outcomes(isBuy: boolean, total: number, shares: number) {
  const [paid, kept] = [BigInt(total), BigInt(shares)];
  return {
    total: microsText(paid),
    payoutIfRight: microsText(isBuy ? kept : paid),
    profitIfRight: microsText(isBuy ? kept - paid : paid),
    lossIfWrong: microsText(isBuy ? paid : kept - paid),
  };
}

function wouldBe({ code, preview, takerDelay }: Seen): Answer['wouldBe'] {
  if (code === 'FOK_NOT_FILLED' || code === 'FAK_NOT_FILLED') return 'unmatched';
  if (code !== undefined) return 'refused';
  if (preview.isCrossing && takerDelay !== 0) return 'delayed';
  return preview.filled > 0 ? 'matched' : 'live';
}

function reasonOf(seen: Seen): Answer['reason'] {
  const { code, grid, minSize, payer, preview, ticket } = seen;
  if (code === undefined) return null;
  const { isBuy } = ticket;
  const asked = preview.ticks === 0 ? (ticket.shares ?? 0) : preview.shares;
  const held = isBuy ? payer?.funds?.cash : payer?.funds?.shares;
  const facts = {
    needed: microText(Math.min(isBuy ? preview.needed : asked, Number.MAX_SAFE_INTEGER)),
    free: microText(held?.free ?? 0),
    reserved: microText(held?.reserved ?? 0),
  };
  const left = microText(Math.max(0, payer?.agent?.left ?? 0));
  const words = wordsOf(code, {
    ...facts,
    left,
    isBuy,
    size: microText(Math.min(asked, Number.MAX_SAFE_INTEGER)),
    filled: microText(preview.filled),
    least: microText(minSize),
    tick: microText((PIPS_PER_UNIT / grid) * MICRO_PER_PIP),
  });
  if (code === 'AGENT_CASH') return { code, words, needed: facts.needed, left };
  return code === 'NOT_ENOUGH_BALANCE' ? { code, words, ...facts } : { code, words };
}

const MICRO_PER_PIP = 100;
