/**
 * Whether API keys were lost: none is known, though orders are that were placed under one. Then DATA_DIR/keys
 * was removed, and the log does not reach back to the notes that it was made of.
 *
 * Thread: the I/O thread, before the port opens.
 */
import { orderKeyAt, orderRowCount } from '../../engine/reads.ts';
import { API_KEY_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { OrderRow } from '../../engine/tables/units.ts';

/**
 * Of a store without a key: why nobody is let in any more, and what else is gone; undefined = there never
 * was one.
 */
export function lostKeys(t: Tables): string | undefined {
  const orders = placedUnderKeys(t);
  if (orders === 0) return undefined;
  return (
    `no API key is known, but ${orders} orders in memory were placed under one: keys/ was removed. ` +
    'Everybody has to ask for their keys again, and gets the same ones, revoked ones too; read-only keys, ' +
    'bans, and who is watched for its silence are gone, as far as the log does not have them'
  );
}

function placedUnderKeys(t: Tables): number {
  let orders = 0;
  const { orderI } = t;
  for (let row = 1; row <= orderRowCount(t); row++) {
    const at = orderKeyAt(row as OrderRow);
    for (let w = 0; w < API_KEY_WORDS; w++) {
      if (orderI[at + w] === 0) continue;
      orders += 1;
      break;
    }
  }
  return orders;
}
