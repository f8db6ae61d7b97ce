/**
 * The bodies of POST /orders and POST /order, from bytes to checked values.
 *
 * A fault of shape fails the whole request (GAPS 12, Requests); everything that a well-shaped order
 * can get wrong is found later and per order.
 *
 * Thread: any. Non-goals: rules that need the market, the clock or the caller; digests.
 */
import { parseJson } from '../common/json.ts';
import { compileShape, type Fault, type Shape } from '../common/schema.ts';
import { hexToBytes, isUint256 } from '../common/uint256.ts';
import { ConditionlessItemShape, OrderItemShape } from './schemas.ts';

/** One submission item: its shape is checked, nothing else. */
export interface OrderItem {
  /** False when an amount or the fee carries '-': such an order has no digest and is refused. */
  readonly digestable: boolean;
  /** uint256 text as sent. */
  readonly tokenId: string;
  /** Any text, in lower case; undefined = to be found by the token (RESOLVE_CONDITION_ID). */
  readonly conditionId: string | undefined;
  /** 20 bytes each. */
  readonly maker: Uint8Array;
  readonly signer: Uint8Array;
  readonly taker: Uint8Array;
  /** Decimal text in micro-units; may carry '-'. */
  readonly makerAmount: string;
  readonly takerAmount: string;
  /** Unix seconds as uint256 text, '0' when not sent (GAPS 1.2). */
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
  readonly orderType: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly postOnly: boolean;
  readonly owner: string;
}

export type ParsedOrders =
  | { readonly ok: true; readonly items: readonly OrderItem[] }
  | { readonly ok: false; readonly error: string; readonly detail: string };

export const INVALID_ORDERS = 'Invalid order payload';

const shape = compileShape(OrderItemShape);
const shapeWithoutCondition = compileShape(ConditionlessItemShape);

type SentItem = typeof shapeWithoutCondition extends Shape<infer Item> ? Item : never;
type SentOrder = SentItem['order'];

const DECIMAL = 'must be a decimal string';
const ADDRESS = 'must be a 20-byte hex address';

/** What each member must be, in the words of a `detail`. */
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
};

const ADDRESS_BYTES = 20;
const SIGNATURE_BYTES = 65;
/** maker | signer | taker | signature: one allocation per request holds them for every item. */
const SIGNER_AT = ADDRESS_BYTES;
const TAKER_AT = SIGNER_AT + ADDRESS_BYTES;
const SIGNATURE_AT = TAKER_AT + ADDRESS_BYTES;
const ITEM_BYTES = SIGNATURE_AT + SIGNATURE_BYTES;

const MINUS = 0x2d;

/**
 * Reads the body of POST /orders.
 *
 * @param body raw bytes; may lie in shared memory
 * @param resolvesCondition whether conditionId may be left out
 * @returns the items in request order, or the error of the whole request (GAPS 3.2, 3.4, 12); a
 *   `detail` names the first fault and repeats nothing of the body, and is '' where there is none
 */
export function parseOrders(
  body: Uint8Array,
  maxOrders: number,
  resolvesCondition = false,
): ParsedOrders {
  const sent = parseJson(body);
  if (sent === undefined) return invalid('body must be JSON');
  if (!Array.isArray(sent)) return invalid('body must be an array');
  const count = sent.length;
  if (count === 0) return invalid('body must hold at least one order');
  if (count > maxOrders) {
    const error = `Too many orders in payload: ${count}, max allowed: ${maxOrders}`;
    return { ok: false, error, detail: '' };
  }
  const arena = new Uint8Array(count * ITEM_BYTES);
  const items = new Array<OrderItem>(count);
  for (let i = 0; i < count; i++) {
    const bytes = arena.subarray(i * ITEM_BYTES, (i + 1) * ITEM_BYTES);
    const item = checkItem(sent[i], bytes, resolvesCondition);
    if (typeof item === 'string') return invalid(`[${i}]${item}`);
    items[i] = item;
  }
  return { ok: true, items };
}

/** Reads the body of POST /order: one item, and no index in a `detail`. */
export function parseOrder(body: Uint8Array, resolvesCondition = false): ParsedOrders {
  const sent = parseJson(body);
  if (sent === undefined) return invalid('body must be JSON');
  const item = checkItem(sent, new Uint8Array(ITEM_BYTES), resolvesCondition);
  if (typeof item !== 'string') return { ok: true, items: [item] };
  return invalid(item.startsWith('.') ? item.slice(1) : `body${item}`);
}

/** The item, or what is wrong with it: `.order.salt must be ...`, ` must be an object`. */
function checkItem(
  sent: unknown,
  bytes: Uint8Array,
  resolvesCondition: boolean,
): OrderItem | string {
  const expected: Shape<SentItem> = resolvesCondition ? shapeWithoutCondition : shape;
  if (!expected.matches(sent)) return describeFault(expected.fault(sent));
  const item = readItem(sent, bytes);
  return typeof item === 'string' ? `.order.${item} ${RULES[item]}` : item;
}

function invalid(detail: string): ParsedOrders {
  return { ok: false, error: INVALID_ORDERS, detail };
}

function describeFault(fault: Fault): string {
  const member = fault.path.at(-1);
  if (member === undefined) return ' must be an object';
  const rule = fault.missing ? 'is required' : RULES[member];
  return `.${fault.path.join('.')} ${rule}`;
}

/** The item, or the name of the member of `order` whose text is malformed. */
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
    orderType: sent.orderType,
    postOnly: sent.postOnly ?? false,
    owner: sent.owner,
  };
}

/** 1 when the text opens with '-', else 0: where its digits start. */
function minusSigns(text: string): 0 | 1 {
  return text.charCodeAt(0) === MINUS ? 1 : 0;
}
