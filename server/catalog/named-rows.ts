/**
 * Finds markets and events of a prepared catalog by slug or number, for operators.
 *
 * Thread: I/O.
 */
import { marketAt } from './market-info.ts';
import type { PreparedCatalog, PreparedObjects } from './prepared.ts';
import { placeAmong } from './select.ts';
import { rowsNamed } from './text-index.ts';

/** Result of a look-up; several objects may share a slug. */
export type Named = { readonly found: string } | 'none' | 'many';

const NUMBER = /^(?:0|[1-9]\d{0,14})$/;

export function conditionNamed(prepared: PreparedCatalog, text: string): Named {
  const row = rowNamed(prepared.markets, text);
  return typeof row === 'string' ? row : { found: marketAt(prepared, row).conditionId };
}

export function eventNamed({ events }: PreparedCatalog, text: string): Named {
  const row = rowNamed(events, text);
  return typeof row === 'string' ? row : { found: String(events.ids[row]) };
}

/** Row by number, where the text has only digits, or by slug. */
function rowNamed({ ids, keys }: PreparedObjects, text: string): number | 'none' | 'many' {
  if (NUMBER.test(text)) {
    const row = placeAmong(ids, Number(text));
    return row === -1 ? 'none' : row;
  }
  const rows = rowsNamed(keys.slug!, text);
  if (rows.length === 0) return 'none';
  return rows.length === 1 ? rows[0]! : 'many';
}
