/** A registry of keys whose control records the test counts, and may delay or fail. */
import assert from 'node:assert/strict';
import { KeyRegistry } from '../../server/auth/key-registry.ts';
import type { KeyRow } from '../../storage/control-records/control-records.ts';

/**
 * @param rows stored at the start
 * @param mayWrite resolves once a control record is durable
 */
export function registryOf(
  nodeKey: Buffer,
  chainId: number,
  rows: readonly KeyRow[] = [],
  mayWrite: (row: KeyRow) => Promise<void> = () => Promise.resolve(),
): { readonly registry: KeyRegistry; readonly written: readonly KeyRow[] } {
  const written: KeyRow[] = [];
  const registry = new KeyRegistry(nodeKey, chainId, async (record) => {
    assert(record.about === 'key');
    written.push(record.row);
    await mayWrite(record.row);
    registry.take(record.row);
  });
  for (const row of rows) registry.take(row);
  return { registry, written };
}
