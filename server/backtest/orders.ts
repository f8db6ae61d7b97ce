/** Orders of a strategy, and their translation to commands of the engine. */
import { OrderType } from '../../engine/commands.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { EndReason } from '../../engine/tables/codes.ts';
import { MICRO, PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { REJECTS } from '../common/refusals.ts';
import type { Order, OrderRequest, OrderState, Side } from './strategy.ts';

/** Clients round sizes to hundredths of a share. */
const SIZE_STEP = MICRO / 100;
/** Error that decimal arithmetic may leave: a millionth of a pip or of a step. */
const NOISE = 1e-6;

export class OwnOrder implements Order {
  readonly id: number;
  readonly token: string;
  readonly side: Side;
  readonly price: number;
  readonly request: OrderRequest;
  /** Micro-shares. */
  readonly wanted: number;
  readonly pips: number;
  done = 0;
  state: OrderState = 'sent';
  reason = '';

  constructor(id: number, request: OrderRequest) {
    this.id = id;
    this.request = request;
    this.token = request.token;
    this.side = request.side;
    this.price = request.price;
    this.pips = pipsOfPrice(request.price);
    this.wanted = Math.floor(request.size * (MICRO / SIZE_STEP) + NOISE) * SIZE_STEP;
  }

  get size(): number {
    return this.wanted / MICRO;
  }

  get filled(): number {
    return this.done / MICRO;
  }

  toJSON(): object {
    const { filled, id, price, reason, side, size, state, token } = this;
    return { id, token, side, price, size, filled, state, reason };
  }

  refuse(reason: Exclude<RejectReasonCode, 0>): void {
    this.state = 'refused';
    this.reason = REJECTS[reason].text;
  }

  end(reason: number): void {
    this.state = END_STATES[reason] ?? 'ended';
  }
}

const END_STATES: Readonly<Record<number, OrderState>> = {
  [EndReason.filled]: 'filled',
  [EndReason.fakRemainder]: 'cancelled',
  [EndReason.canceled]: 'cancelled',
  [EndReason.expired]: 'expired',
};

/** Converts a price to pips; 0 if it is no price or no multiple of a pip. */
export function pipsOfPrice(price: number): number {
  const scaled = price * PIPS_PER_UNIT;
  const pips = Math.round(scaled);
  return Math.abs(scaled - pips) <= NOISE && pips > 0 && pips < PIPS_PER_UNIT ? pips : 0;
}

/** Returns the fault of a request that does not depend on the tables; 0 = none. */
export function faultOf(request: OrderRequest): RejectReasonCode {
  const { price, probability = 0.5, side, size, type = 'GTC' } = request;
  if (side !== 'BUY' && side !== 'SELL') throw new TypeError(`a side is BUY or SELL, not ${side}`);
  if (!Object.hasOwn(OrderType, type)) throw new TypeError(`there is no type of order ${type}`);
  if (!(probability >= 0 && probability <= 1))
    throw new TypeError(`a probability is from 0 to 1, not ${probability}`);
  if (!(size > 0) || !(price > 0)) return RejectReason.amountsNotPositive;
  return pipsOfPrice(price) === 0 ? RejectReason.tick : RejectReason.accepted;
}
