/**
 * Pages of own orders and trades: a hundred rows, and the cursor of the next page (docs/protocol.md#cursors).
 *
 * Thread: any; pure.
 */
import { cursorOf, LAST_CURSOR } from '../common/cursor.ts';

export const PAGE_SIZE = 100;
/** Row of an unknown name in a filter; 0 is no filter. */
export const NOBODY = -1;

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

export function pageBody(items: readonly string[], offset: number, more: boolean): string {
  const next = more ? cursorOf(offset + items.length) : LAST_CURSOR;
  const tail = `"next_cursor":"${next}","limit":${PAGE_SIZE},"count":${items.length}`;
  return `{"data":[${items.join(',')}],${tail}}`;
}
