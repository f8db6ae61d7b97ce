/**
 * Parses the bodies of DELETE /order, /orders and /cancel-market-orders, and of POST /replace. A text that is
 * no digest counts as an unknown id and is no fault: it must not keep the other orders from being cancelled.
 * Rules: docs/protocol.md#cancels, docs/protocol.md#replacing-an-order
 *
 * Thread: any. Not here: existence and owner of an order.
 */

import { parseJson, TOO_MUCH, TOO_MUCH_DETAIL } from '../../common/json.ts';
import { boundsOf } from '../../common/json-measure.ts';
import { compileShape, type Shape } from '../../common/schema.ts';
import { conditionToBytes, hexToBytes, isUint256 } from '../../common/uint256.ts';
import { CancelMarket, CancelOrder, CancelOrders, ONE_BOUNDS } from '../intake/schemas.ts';
import {
  invalid,
  type OrderItem,
  type ParseRules,
  parseOrder,
  type RequestRefused,
} from './order-parse.ts';

export interface CancelIds {
  readonly ok: true;
  /** 32 bytes each; none twice. */
  readonly ids: readonly Uint8Array[];
  /** Texts that are no order id, as sent; none twice. */
  readonly malformedIds: readonly string[];
}

export interface CancelScope {
  readonly ok: true;
  /** 32 bytes, and a uint256 text; undefined = any. */
  readonly condition: Uint8Array | undefined;
  readonly tokenId: string | undefined;
}

const ID_BYTES = 32;

const orderShape = compileShape(CancelOrder);
const ordersShape = compileShape(CancelOrders);
const marketShape = compileShape(CancelMarket);

export function parseCancelOrder(body: Uint8Array): CancelIds | RequestRefused {
  const sent = parseJson(body, ONE_BOUNDS);
  if (!orderShape.matches(sent)) return misshapen(orderShape, sent, 'an object');
  const { orderID = '', orderId = '' } = sent;
  if (orderID !== '' && orderId !== '' && orderID !== orderId) {
    return invalid('orderID and orderId differ');
  }
  const id = orderID === '' ? orderId : orderID;
  return id === '' ? invalid('orderID is required') : sortIds([id]);
}

/** `["0x..", "0x.."]`; may be empty. */
export function parseCancelOrders(body: Uint8Array, idsMax: number): CancelIds | RequestRefused {
  const sent = parseJson(body, boundsOf(idsMax));
  if (sent === TOO_MUCH || (Array.isArray(sent) && sent.length > idsMax)) {
    const text = `Too many orders in payload, max allowed: ${idsMax}`;
    return { ok: false, code: 'TOO_MANY_ORDERS', text };
  }
  return ordersShape.matches(sent) ? sortIds(sent) : misshapen(ordersShape, sent, 'an array');
}

/** `{"market": "0x..", "asset_id": ".."}`, at least one of them; `assetId` is another spelling. */
export function parseCancelMarket(body: Uint8Array): CancelScope | RequestRefused {
  const sent = parseJson(body, ONE_BOUNDS);
  if (!marketShape.matches(sent)) return misshapen(marketShape, sent, 'an object');
  const market = sent.market ?? '';
  const asset = sent.asset_id ?? '';
  const assetId = sent.assetId ?? '';
  if (asset !== '' && assetId !== '' && asset !== assetId) {
    return invalid('asset_id and assetId differ');
  }
  const tokenId = asset === '' ? assetId : asset;
  if (market === '' && tokenId === '') return invalid('market or asset_id is required');
  const condition = new Uint8Array(ID_BYTES);
  if (market !== '' && !conditionToBytes(market, condition)) {
    return invalid('market must be a condition id');
  }
  if (tokenId !== '' && !isUint256(tokenId)) return invalid('asset_id must be a decimal string');
  return {
    ok: true,
    condition: market === '' ? undefined : condition,
    tokenId: tokenId === '' ? undefined : tokenId,
  };
}

interface Replacement {
  readonly ok: true;
  /** 32 bytes: id of the order to cancel. */
  readonly id: Uint8Array;
  readonly items: readonly OrderItem[];
}

/** Checks the cancel first, then the order; the first fault refuses the request. */
export function parseReplace(body: Uint8Array, rules: ParseRules): Replacement | RequestRefused {
  const canceled = parseCancelOrder(body);
  if (!canceled.ok) return canceled;
  const [id] = canceled.ids;
  if (id === undefined) return invalid('orderID must be an order id');
  const placed = parseOrder(body, rules);
  return placed.ok ? { ok: true, id, items: placed.items } : placed;
}

function sortIds(texts: readonly string[]): CancelIds {
  const ids = new Map<string, Uint8Array>();
  const malformedIds = new Set<string>();
  for (const text of texts) {
    const id = new Uint8Array(ID_BYTES);
    if (hexToBytes(text, ID_BYTES, id, 0)) ids.set(text.toLowerCase(), id);
    else malformedIds.add(text);
  }
  return { ok: true, ids: [...ids.values()], malformedIds: [...malformedIds] };
}

function misshapen<T>(shape: Shape<T>, sent: unknown, whole: string): RequestRefused {
  if (sent === undefined) return invalid('body must be JSON');
  if (sent === TOO_MUCH) return invalid(TOO_MUCH_DETAIL);
  const member = shape.fault(sent).path.at(-1);
  if (member === undefined) return invalid(`body must be ${whole}`);
  return invalid(`${Array.isArray(sent) ? `[${member}]` : member} must be a string`);
}
