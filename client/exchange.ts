/**
 * The signing domain of an order, and the item of a request that contains the order. Synchronous but for the
 * signature, so that orders can be signed in advance.
 */
import { DEPOSIT_WALLET, type OrderDomain, orderData, type TypedData } from './typed-data.ts';
import type { ExchangeInfoAnswer } from './types.ts';

export type OrderType = 'GTC' | 'GTD' | 'FOK' | 'FAK';

export interface SigningDomain {
  readonly version: 1 | 2;
  readonly normal: OrderDomain;
  readonly negRisk: OrderDomain;
  /** Domain of version 3, for positions of both kinds of markets; absent: they are tokens like others. */
  readonly position?: OrderDomain;
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
  /** Versions 2 and 3 only: unix milliseconds; absent = now. */
  readonly timestampMs?: number;
  /** Deposit wallet of the signer, which pays; versions 2 and 3 only. */
  readonly depositWallet?: string;
  /** Wallet that pays, whose agent the signer is. */
  readonly agentOf?: string;
}

/** Signer of orders and level-1 requests: a `Wallet`, or a `ProviderWallet`, which answers later. */
export interface Signer<Signature extends string | Promise<string> = string | Promise<string>> {
  /** 0x + 40 hex digits, checksummed. */
  readonly address: string;
  /** Returns 0x + 130 hex digits r, s, v. */
  sign(data: TypedData): Signature;
}

/** An order that waits for its signature. */
interface PreparedOrder {
  readonly data: TypedData;
  /** @param signature of the data */
  signed(signature: string): SignedOrder;
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
const VERSION_3 = '3';
const PLAIN = 0;
/** Bits that are zero in every position, and the place of its module. */
const POSITION_ZEROS = ((1n << 64n) - 1n) << 40n;
const MODULE_AT = 248n;
const MODULE_MAX = 4n;

/** @param version absent: 1 if the node accepts it. @throws Error if it does not */
export function signingDomainOf(info: ExchangeInfoAnswer, version?: 1 | 2): SigningDomain {
  const taken = info.order_versions ?? [1];
  const chosen = version ?? (taken.includes(1) ? 1 : 2);
  if (!taken.includes(chosen)) throw new Error(`the node takes no orders of version ${chosen}`);
  const { chain_id: chainId, domain } = info;
  const usual = chosen === 1 ? domain.version : VERSION_2;
  const of = (verifyingContract: string, version = usual): OrderDomain => ({
    name: domain.name,
    version,
    chainId,
    verifyingContract,
  });
  const third = info.exchange_address_3;
  const position = third === undefined ? {} : { position: of(third, VERSION_3) };
  return chosen === 1
    ? {
        version: 1,
        normal: of(info.exchange_address),
        negRisk: of(info.neg_risk_exchange_address),
        ...position,
      }
    : {
        version: 2,
        normal: of(info.exchange_address_2!),
        negRisk: of(info.neg_risk_exchange_address_2!),
        ...position,
      };
}

function isPosition(tokenId: string): boolean {
  const id = BigInt(tokenId);
  const module = id >> MODULE_AT;
  return (id & POSITION_ZEROS) === 0n && module >= 1n && module <= MODULE_MAX;
}

export function signOrder(
  signer: Signer<string>,
  signing: SigningDomain,
  fields: OrderFields,
): SignedOrder {
  const { data, signed } = prepareOrder(signer.address, signing, fields);
  return signed(signer.sign(data));
}

/** @param address of the signer */
export function prepareOrder(
  address: string,
  signing: SigningDomain,
  fields: OrderFields,
): PreparedOrder {
  const { agentOf, depositWallet, expiration = 0, feeRateBps = 0, salt, side, tokenId } = fields;
  const third =
    signing.position !== undefined && isPosition(tokenId) ? signing.position : undefined;
  const hasNonce = third === undefined && signing.version === 1;
  if (hasNonce && depositWallet !== undefined) {
    throw new RangeError('deposit wallets sign no orders of version 1');
  }
  const common = {
    salt,
    maker: depositWallet ?? agentOf ?? address,
    signer: depositWallet ?? address,
    tokenId,
    makerAmount: String(fields.makerAmount),
    takerAmount: String(fields.takerAmount),
    side: side === 'BUY' ? (0 as const) : (1 as const),
    signatureType: depositWallet === undefined ? PLAIN : DEPOSIT_WALLET,
  };
  const own = { taker: ZERO_ADDRESS, expiration: String(expiration), nonce: '0' };
  const order = hasNonce
    ? { ...common, ...own, feeRateBps: String(feeRateBps) }
    : {
        ...common,
        timestamp: String(fields.timestampMs ?? Date.now()),
        metadata: ZERO_WORD,
        builder: ZERO_WORD,
      };
  const domain = third ?? (fields.negRisk ? signing.negRisk : signing.normal);
  const { data, id, tail } = orderData(domain, order);
  const { conditionId, owner, postOnly, type } = fields;
  return {
    data,
    signed: (text) => {
      const signature = `${text}${tail}`;
      const sent = { ...order, side, expiration: String(expiration), conditionId, signature };
      return { id, item: JSON.stringify({ order: sent, orderType: type, owner, postOnly }) };
    },
  };
}
