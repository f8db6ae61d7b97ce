/**
 * The signing domain of an order, and the item of a request that contains the order. Synchronous,
 * so that orders can be signed in advance.
 */
import type { OrderDomain, UnsignedOrder, UnsignedOrder2 } from './typed-data.ts';
import type { ExchangeInfoAnswer } from './types.ts';
import type { Signed } from './wallet.ts';

export type OrderType = 'GTC' | 'GTD' | 'FOK' | 'FAK';

export interface SigningDomain {
  readonly version: 1 | 2;
  readonly normal: OrderDomain;
  readonly negRisk: OrderDomain;
}

/** An order before it is signed; amounts in millionths. */
export interface OrderFields {
  readonly tokenId: string;
  readonly conditionId: string;
  /** Flag of the market, which decides for which contract the order is signed. */
  readonly negRisk: boolean;
  readonly side: 'BUY' | 'SELL';
  readonly makerAmount: bigint | number;
  readonly takerAmount: bigint | number;
  readonly type: OrderType;
  /** Makes the id unique: decimal text below 2^53, as some clients send it as a number. */
  readonly salt: string;
  readonly owner: string;
  /** At least the market's; version 1 only. */
  readonly feeRateBps?: number;
  /** Unix seconds, of a GTD order. */
  readonly expiration?: number;
  readonly postOnly?: boolean;
  /** Version 2 only: unix milliseconds; absent = now. */
  readonly timestampMs?: number;
}

export interface OrderSigner {
  readonly address: string;
  signOrder(domain: OrderDomain, order: UnsignedOrder | UnsignedOrder2): Signed;
}

/** Bytes that may be sent any number of times: the node places the order once. */
export interface SignedOrder {
  /** The digest, which is the order's id: 0x + 64 lower-case hex digits. */
  readonly id: string;
  /** JSON text: the body of POST /order, an item of POST /orders. */
  readonly item: string;
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const ZERO_WORD = `0x${'0'.repeat(64)}`;
const VERSION_2 = '2';

/** @param version absent: 1 if the node accepts it. @throws Error if it does not */
export function signingDomainOf(info: ExchangeInfoAnswer, version?: 1 | 2): SigningDomain {
  const taken = info.order_versions ?? [1];
  const chosen = version ?? (taken.includes(1) ? 1 : 2);
  if (!taken.includes(chosen)) throw new Error(`the node takes no orders of version ${chosen}`);
  const { chain_id: chainId, domain } = info;
  const of = (verifyingContract: string): OrderDomain => ({
    name: domain.name,
    version: chosen === 1 ? domain.version : VERSION_2,
    chainId,
    verifyingContract,
  });
  return chosen === 1
    ? { version: 1, normal: of(info.exchange_address), negRisk: of(info.neg_risk_exchange_address) }
    : {
        version: 2,
        normal: of(info.exchange_address_2!),
        negRisk: of(info.neg_risk_exchange_address_2!),
      };
}

export function signOrder(
  signer: OrderSigner,
  signing: SigningDomain,
  fields: OrderFields,
): SignedOrder {
  const { expiration = 0, feeRateBps = 0, salt, side, tokenId } = fields;
  const common = {
    salt,
    maker: signer.address,
    signer: signer.address,
    tokenId,
    makerAmount: String(fields.makerAmount),
    takerAmount: String(fields.takerAmount),
    side: side === 'BUY' ? (0 as const) : (1 as const),
    signatureType: 0,
  };
  const own = { taker: ZERO_ADDRESS, expiration: String(expiration), nonce: '0' };
  const order =
    signing.version === 1
      ? { ...common, ...own, feeRateBps: String(feeRateBps) }
      : {
          ...common,
          timestamp: String(fields.timestampMs ?? Date.now()),
          metadata: ZERO_WORD,
          builder: ZERO_WORD,
        };
  const domain = fields.negRisk ? signing.negRisk : signing.normal;
  const { digest, signature } = signer.signOrder(domain, order);
  const { conditionId, owner, postOnly, type } = fields;
  const sent = { ...order, side, expiration: String(expiration), conditionId, signature };
  return { id: digest, item: JSON.stringify({ order: sent, orderType: type, owner, postOnly }) };
}
