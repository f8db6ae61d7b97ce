/**
 * The hash of a book that a source has sent. Rules: docs/protocol.md#book-hash
 *
 * Pure.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';

const MEMBERS = [
  'market',
  'asset_id',
  'timestamp',
  'hash',
  'bids',
  'asks',
  'min_order_size',
  'tick_size',
  'neg_risk',
  'last_trade_price',
] as const;

export function hashFits(book: JsonObject): boolean {
  const hashed = Object.fromEntries(MEMBERS.map((name) => [name, book[name]]));
  const text = JSON.stringify({ ...hashed, hash: '' });
  return createHash('sha1').update(text).digest('hex') === book.hash;
}
