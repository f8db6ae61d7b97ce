/**
 * Draws the orders of a load run and signs them: prices around a mid that wanders, so that about
 * half of the orders cross; GTC with exact amounts, FOK partly with the amounts of a market client.
 * Thread: the tool's only one.
 * Non-goals: GTD, FAK, post-only and cancels; orders that are meant to be refused.
 */

import type {
  Signer as OrderSigner,
  SignedOrder as Sent,
  SigningDomain,
} from '../../client/exchange.ts';
import { signOrder as sign } from '../../client/exchange.ts';
import type { Random } from '../random.ts';
import { MICRO, notional, SIZE_STEP, sharesForCollateral } from './load-amounts.ts';
import { BUY, type Order, SELL } from './load-book.ts';
import type { LoadMarket, LoadToken } from './load-market.ts';

/** An order as the ledger follows it. */
export interface LoadOrder extends Order {
  readonly token: LoadToken;
  readonly type: 'GTC' | 'FOK';
  readonly makerAmount: number;
  readonly takerAmount: number;
}

/** A drawn order with its id and the submission item that carries it. */
export interface SignedOrder extends LoadOrder, Sent {}

/** Returns the signing domain of orders, by the configuration of a node. */
export function exchangeOf(config: {
  readonly domainName: string;
  readonly domainVersion: string;
  readonly chainId: number;
  readonly exchangeAddress: string;
  readonly negRiskExchangeAddress: string;
}): SigningDomain {
  const { domainName: name, domainVersion: version, chainId } = config;
  return {
    version: 1,
    normal: { name, version, chainId, verifyingContract: config.exchangeAddress },
    negRisk: { name, version, chainId, verifyingContract: config.negRiskExchangeAddress },
  };
}

/** Wallet that signs, and its API key. */
export interface Signer {
  readonly wallet: OrderSigner<string>;
  readonly owner: string;
}

const FOK_IN_TEN = 3;
const SHARES_SPREAD = 60; // sizes go from the minimum to this many shares above it

/** The mids of one connection's books; each wanders by a tick now and then. */
export class OrderSource {
  readonly #random: Random;
  readonly #tokens: readonly LoadToken[];
  readonly #mids = new Map<LoadToken['book'], number>();

  constructor(random: Random, markets: readonly LoadMarket[]) {
    this.#random = random;
    this.#tokens = markets.flatMap((market) => market.tokens);
  }

  /** The next order of an account. */
  draw(account: number): LoadOrder {
    const random = this.#random;
    const token = random.pick(this.#tokens);
    const { ticksPerUnit, minSizeMicro } = token.market;
    const reach = Math.max(1, Math.floor((ticksPerUnit * 3) / 100));
    const price = this.#mid(token) + random.between(-reach, reach);
    const inBook = Math.min(ticksPerUnit - 1, Math.max(1, price));
    const ticks = token.slot === 0 ? inBook : ticksPerUnit - inBook;
    const steps =
      Math.ceil(minSizeMicro / SIZE_STEP) + random.below((SHARES_SPREAD * MICRO) / SIZE_STEP);
    const micro = Math.max(1, steps) * SIZE_STEP;
    const side = random.below(2) === 0 ? BUY : SELL;
    const type = random.below(10) < FOK_IN_TEN ? 'FOK' : 'GTC';
    if (type === 'FOK' && side === BUY && random.below(2) === 0) {
      const bought = marketBuy(token, account, ticks, micro);
      if (bought !== undefined) return bought;
    }
    const collateral = notional(micro, ticks, ticksPerUnit);
    const [makerAmount, takerAmount] = side === BUY ? [collateral, micro] : [micro, collateral];
    return order(token, account, { type, side, ticks, micro, makerAmount, takerAmount });
  }

  #mid(token: LoadToken): number {
    const random = this.#random;
    const { ticksPerUnit } = token.market;
    const low = Math.ceil(ticksPerUnit / 5);
    const mid = this.#mids.get(token.book) ?? random.between(low, ticksPerUnit - low);
    const step = random.below(8) === 0 ? random.between(-1, 1) : 0;
    const moved = Math.min(ticksPerUnit - low, Math.max(low, mid + step));
    this.#mids.set(token.book, moved);
    return moved;
  }
}

/**
 * A market BUY as clients round it: whole cents of collateral, and the shares that they
 * buy. Undefined where the shares would fall below one or below the minimum.
 * Rules: docs/protocol.md#client-rounding
 */
export function marketBuy(
  token: LoadToken,
  account: number,
  ticks: number,
  micro: number,
): LoadOrder | undefined {
  const { ticksPerUnit, minSizeMicro } = token.market;
  const wanted = notional(micro, ticks, ticksPerUnit);
  const makerAmount = wanted - (wanted % SIZE_STEP);
  const takerAmount = sharesForCollateral(makerAmount, ticks, ticksPerUnit);
  if (takerAmount < Math.max(minSizeMicro, MICRO)) return undefined;
  const terms = { type: 'FOK', side: BUY, ticks, micro: takerAmount } as const;
  return order(token, account, { ...terms, makerAmount, takerAmount });
}

type Terms = Pick<LoadOrder, 'type' | 'side' | 'ticks' | 'micro' | 'makerAmount' | 'takerAmount'>;

function order(token: LoadToken, account: number, terms: Terms): LoadOrder {
  return { token, slot: token.slot, account, collateralMax: terms.makerAmount, ...terms };
}

/** Signs the order and writes its submission item. `salt` makes the id unique. */
export function signOrder(
  order: LoadOrder,
  { owner, wallet }: Signer,
  context: SigningDomain,
  salt: string,
): SignedOrder {
  const { makerAmount, takerAmount, token, type } = order;
  const { conditionId, negRisk } = token.market;
  const side = order.side === BUY ? 'BUY' : 'SELL';
  const market = { tokenId: token.tokenId, conditionId, negRisk };
  const signed = sign(wallet, context, {
    ...market,
    side,
    makerAmount,
    takerAmount,
    type,
    salt,
    owner,
  });
  return { ...order, ...signed };
}
