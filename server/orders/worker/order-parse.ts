/**
 * Parses the bodies of POST /orders and POST /order.
 *
 * A fault of shape fails the whole request; other faults of an order are found later, per order. Rules:
 * docs/protocol.md#shape-of-a-request
 *
 * Thread: any. Not here: rules that need the market, the clock or the caller; digests.
 */
import { FEE_BPS_MAX } from '../../../engine/tables/capacities.ts';
import type { SignedFields2 } from '../../auth/eip712.ts';
import type { DomainVersion } from '../../auth/exchange-domains.ts';
import { countItems, parseJson, TOO_MUCH, TOO_MUCH_DETAIL } from '../../common/json.ts';
import { boundsOf } from '../../common/json-measure.ts';
import { isPosition } from '../../common/position-ids.ts';
import type { RefusalCode } from '../../common/refusals.ts';
import { compileShape, type Fault, type Shape } from '../../common/schema.ts';
import { hexToBytes, isUint256 } from '../../common/uint256.ts';
import {
  ConditionlessItemShape,
  ConditionlessItemShape2,
  ONE_BOUNDS,
  OrderItemShape,
  OrderItemShape2,
} from '../intake/schemas.ts';

export interface OrderItem {
  /** False when an amount or the fee has '-': the order has no digest and is refused. */
  readonly digestable: boolean;
  /** uint256 text as sent. */
  readonly tokenId: string;
  /** Any text, in lower case; undefined = found by the token (RESOLVE_CONDITION_ID). */
  readonly conditionId: string | undefined;
  /** 20 bytes each. */
  readonly maker: Uint8Array;
  readonly signer: Uint8Array;
  readonly taker: Uint8Array;
  /** Decimal text in micro-units; may carry '-'. */
  readonly makerAmount: string;
  readonly takerAmount: string;
  /** Unix seconds as uint256 text, '0' when not sent (docs/protocol.md#order-fields). */
  readonly expiration: string;
  readonly nonce: string;
  /** Decimal text; may carry '-'. */
  readonly feeRateBps: string;
  readonly salt: string;
  /** 0 = BUY, 1 = SELL. */
  readonly side: 0 | 1;
  /** 0 to 3. */
  readonly signatureType: number;
  /** 65 bytes, or null when the text is not 0x + 130 hex digits: `invalid order signature`. */
  readonly signature: Uint8Array | null;
  /** The text of the signature with type 3, which is longer; otherwise `undefined`. */
  readonly walletSignature: string | undefined;
  readonly orderType: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly postOnly: boolean;
  readonly owner: string;
  /** Fields that version 2 signs in place of taker, nonce and fee rate; `undefined` = version 1. */
  readonly version2: SignedFields2 | undefined;
  readonly domain: DomainVersion;
}

/** Settings RESOLVE_CONDITION_ID, ORDER_VERSION and EXCHANGE_ADDRESS_3. */
export interface ParseRules {
  readonly resolvesCondition: boolean;
  readonly orderVersion: '1' | '2' | 'both';
  /** True when orders of positions have a domain of their own. */
  readonly hasVersion3: boolean;
}
const USUAL: ParseRules = { resolvesCondition: false, orderVersion: '1', hasVersion3: false };

export interface RequestRefused {
  readonly ok: false;
  readonly code: RefusalCode;
  /** Names the fault and repeats nothing of the body. */
  readonly detail?: string;
  readonly text?: string;
}

export type ParsedOrders =
  | { readonly ok: true; readonly items: readonly OrderItem[] }
  | RequestRefused;

const shape = compileShape(OrderItemShape);
const shapeWithoutCondition = compileShape(ConditionlessItemShape);
const shape2 = compileShape(OrderItemShape2);
const shape2WithoutCondition = compileShape(ConditionlessItemShape2);

type SentItem = typeof shapeWithoutCondition extends Shape<infer Item> ? Item : never;
type SentItem2 = typeof shape2WithoutCondition extends Shape<infer Item> ? Item : never;
type SentOrder = SentItem['order'];
type SentOrder2 = SentItem2['order'];

const DECIMAL = 'must be a decimal string';
const ADDRESS = 'must be a 20-byte hex address';
const BYTES32 = 'must be 32 bytes in hex';

const RULES: Readonly<Record<string, string>> = {
  order: 'must be an object',
  tokenId: DECIMAL,
  conditionId: 'must be a string',
  maker: ADDRESS,
  signer: ADDRESS,
  taker: ADDRESS,
  makerAmount: DECIMAL,
  takerAmount: DECIMAL,
  side: 'must be BUY or SELL',
  expiration: DECIMAL,
  nonce: DECIMAL,
  feeRateBps: DECIMAL,
  salt: DECIMAL,
  signatureType: 'must be an integer from 0 to 3',
  signature: 'must be a string',
  orderType: 'must be GTC, GTD, FOK or FAK',
  postOnly: 'must be a boolean',
  owner: 'must be a string',
  timestamp: DECIMAL,
  metadata: BYTES32,
  builder: BYTES32,
};

const ADDRESS_BYTES = 20;
const SIGNATURE_BYTES = 65;
const WALLET_SIGNATURE = 3;
/** maker | signer | taker | signature: one allocation per request holds them for every item. */
const SIGNER_AT = ADDRESS_BYTES;
const TAKER_AT = SIGNER_AT + ADDRESS_BYTES;
const SIGNATURE_AT = TAKER_AT + ADDRESS_BYTES;
const ITEM_BYTES = SIGNATURE_AT + SIGNATURE_BYTES;

const ID_BYTES = 32;
/** Version 2 signs no fee: the fee of the market is agreed to. */
const ANY_FEE = String(FEE_BPS_MAX);
const EVERYBODY = `0x${'0'.repeat(2 * ADDRESS_BYTES)}`;

const MINUS = 0x2d;

/**
 * Reads the body of POST /orders (docs/protocol.md#shape-of-a-request).
 *
 * @param body raw bytes; may lie in shared memory
 * @returns the items in request order, or the error of the whole request
 */
export function parseOrders(body: Uint8Array, maxOrders: number, rules = USUAL): ParsedOrders {
  const sent = parseJson(body, boundsOf(maxOrders));
  if (sent === undefined) return invalid('body must be JSON');
  if (sent === TOO_MUCH) {
    const items = countItems(body);
    return items > maxOrders ? tooMany(items, maxOrders) : invalid(TOO_MUCH_DETAIL);
  }
  if (!Array.isArray(sent)) return invalid('body must be an array');
  const count = sent.length;
  if (count === 0) return invalid('body must hold at least one order');
  if (count > maxOrders) return tooMany(count, maxOrders);
  const arena = new Uint8Array(count * ITEM_BYTES);
  const items = new Array<OrderItem>(count);
  for (let i = 0; i < count; i++) {
    const bytes = arena.subarray(i * ITEM_BYTES, (i + 1) * ITEM_BYTES);
    const domain = domainOf(sent[i], rules);
    if (!isTaken(domain, rules)) return mismatch(`[${i}]`, domain, rules);
    const item = checkItem(sent[i], domain, bytes, rules);
    if (typeof item === 'string') return invalid(`[${i}]${item}`);
    items[i] = item;
  }
  return { ok: true, items };
}

/** Reads the body of POST /order; a `detail` has no index. */
export function parseOrder(body: Uint8Array, rules = USUAL): ParsedOrders {
  const sent = parseJson(body, ONE_BOUNDS);
  if (sent === undefined) return invalid('body must be JSON');
  if (sent === TOO_MUCH) return invalid(TOO_MUCH_DETAIL);
  const domain = domainOf(sent, rules);
  if (!isTaken(domain, rules)) return mismatch('the order', domain, rules);
  const item = checkItem(sent, domain, new Uint8Array(ITEM_BYTES), rules);
  if (typeof item !== 'string') return { ok: true, items: [item] };
  return invalid(item.startsWith('.') ? item.slice(1) : `body${item}`);
}

interface Versioned {
  readonly order?: {
    readonly nonce?: unknown;
    readonly timestamp?: unknown;
    readonly tokenId?: unknown;
  };
}

/** `old`: fields of version 1, for a position. */
type SentVersion = DomainVersion | 'old';

/** Returns the version that the fields and the token of an order ask for. */
function domainOf(sent: unknown, { hasVersion3 }: ParseRules): SentVersion {
  const order = (sent as Versioned | null)?.order;
  // Version 2 and 3 have a time in place of a nonce.
  const version = order?.timestamp !== undefined && order.nonce === undefined ? 2 : 1;
  const tokenId = order?.tokenId;
  if (!hasVersion3 || typeof tokenId !== 'string' || !isPosition(tokenId)) return version;
  return version === 2 ? 3 : 'old';
}

function isTaken(domain: SentVersion, { orderVersion }: ParseRules): domain is DomainVersion {
  if (domain === 3) return true;
  return domain !== 'old' && (orderVersion === 'both' || String(domain) === orderVersion);
}

function mismatch(which: string, domain: SentVersion, { orderVersion }: ParseRules): ParsedOrders {
  const detail =
    domain === 'old'
      ? `${which} is for a position: sign it in version 3, with the fields of version 2`
      : `${which} is not of version ${orderVersion}, see GET /version`;
  return { ok: false, code: 'ORDER_VERSION_MISMATCH', detail };
}

/** Returns the item, or its fault: `.order.salt must be ...`, ` must be an object`. */
function checkItem(
  sent: unknown,
  domain: DomainVersion,
  bytes: Uint8Array,
  { resolvesCondition }: ParseRules,
): OrderItem | string {
  let item: OrderItem | keyof SentOrder | keyof SentOrder2;
  if (domain !== 1) {
    const expected: Shape<SentItem2> = resolvesCondition ? shape2WithoutCondition : shape2;
    if (!expected.matches(sent)) return describeFault(expected.fault(sent));
    item = readItem2(sent, domain, bytes);
  } else {
    const expected: Shape<SentItem> = resolvesCondition ? shapeWithoutCondition : shape;
    if (!expected.matches(sent)) return describeFault(expected.fault(sent));
    item = readItem(sent, bytes);
  }
  return typeof item === 'string' ? `.order.${item} ${RULES[item]}` : item;
}

function tooMany(count: number, maxOrders: number): ParsedOrders {
  const text = `Too many orders in payload: ${count}, max allowed: ${maxOrders}`;
  return { ok: false, code: 'TOO_MANY_ORDERS', text };
}

export function invalid(detail: string): RequestRefused {
  return { ok: false, code: 'INVALID_ORDER_PAYLOAD', detail };
}

function describeFault(fault: Fault): string {
  const member = fault.path.at(-1);
  if (member === undefined) return ' must be an object';
  const rule = fault.missing ? 'is required' : RULES[member];
  return `.${fault.path.join('.')} ${rule}`;
}

/** Returns the item, or the member of `order` whose text is malformed. */
function readItem(sent: SentItem, bytes: Uint8Array): OrderItem | keyof SentOrder {
  const order = sent.order;
  const maker = bytes.subarray(0, SIGNER_AT);
  const signer = bytes.subarray(SIGNER_AT, TAKER_AT);
  const taker = bytes.subarray(TAKER_AT, SIGNATURE_AT);
  const signature = bytes.subarray(SIGNATURE_AT);
  if (!isUint256(order.tokenId)) return 'tokenId';
  if (!hexToBytes(order.maker, ADDRESS_BYTES, maker, 0)) return 'maker';
  if (!hexToBytes(order.signer, ADDRESS_BYTES, signer, 0)) return 'signer';
  if (!hexToBytes(order.taker, ADDRESS_BYTES, taker, 0)) return 'taker';
  const makerAmountMinus = minusSigns(order.makerAmount);
  if (!isUint256(order.makerAmount, makerAmountMinus)) return 'makerAmount';
  const takerAmountMinus = minusSigns(order.takerAmount);
  if (!isUint256(order.takerAmount, takerAmountMinus)) return 'takerAmount';
  const expiration = order.expiration === undefined ? '0' : String(order.expiration);
  if (!isUint256(expiration)) return 'expiration';
  const nonce = String(order.nonce);
  if (!isUint256(nonce)) return 'nonce';
  const feeRateBps = String(order.feeRateBps);
  const feeMinus = minusSigns(feeRateBps);
  if (!isUint256(feeRateBps, feeMinus)) return 'feeRateBps';
  const salt = String(order.salt);
  if (!isUint256(salt)) return 'salt';
  const signed = hexToBytes(order.signature, SIGNATURE_BYTES, signature, 0);
  return {
    digestable: makerAmountMinus + takerAmountMinus + feeMinus === 0,
    tokenId: order.tokenId,
    conditionId: order.conditionId?.toLowerCase(),
    maker,
    signer,
    taker,
    makerAmount: order.makerAmount,
    takerAmount: order.takerAmount,
    expiration,
    nonce,
    feeRateBps,
    salt,
    side: order.side === 'BUY' ? 0 : 1,
    signatureType: order.signatureType,
    signature: signed ? signature : null,
    walletSignature: order.signatureType === WALLET_SIGNATURE ? order.signature : undefined,
    orderType: sent.orderType,
    postOnly: sent.postOnly ?? false,
    owner: sent.owner,
    version2: undefined,
    domain: 1,
  };
}

function readItem2(
  sent: SentItem2,
  domain: DomainVersion,
  bytes: Uint8Array,
): OrderItem | keyof SentOrder | keyof SentOrder2 {
  const { builder, metadata, timestamp, ...order } = sent.order;
  const version2 = {
    timestamp: String(timestamp),
    metadata: new Uint8Array(ID_BYTES),
    builder: new Uint8Array(ID_BYTES),
  };
  if (!isUint256(version2.timestamp)) return 'timestamp';
  if (!hexToBytes(metadata, ID_BYTES, version2.metadata, 0)) return 'metadata';
  if (!hexToBytes(builder, ID_BYTES, version2.builder, 0)) return 'builder';
  const unsigned = { taker: EVERYBODY, nonce: '0', feeRateBps: ANY_FEE };
  const item = readItem({ ...sent, order: { ...order, ...unsigned } }, bytes);
  return typeof item === 'string' ? item : { ...item, version2, domain };
}

/** Returns 1 when the text begins with '-', else 0: start of its digits. */
function minusSigns(text: string): 0 | 1 {
  return text.charCodeAt(0) === MINUS ? 1 : 0;
}
