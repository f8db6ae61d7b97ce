/** The three booleans of markets and events (SPEC 3) as bits. Runs on the catalog thread. */
import type { JsonObject } from '../../storage/catalog-json.ts';
import { CatalogFlag } from './prepared.ts';

export function flagsOf(objects: readonly JsonObject[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    objects,
    ({ active, closed, archived }) =>
      (active === true ? CatalogFlag.active : 0) |
      (closed === true ? CatalogFlag.closed : 0) |
      (archived === true ? CatalogFlag.archived : 0),
  );
}
