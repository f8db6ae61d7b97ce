/** A registry of keys whose notes the test counts, and may hold or fail. */
import assert from 'node:assert/strict';
import { KeyRegistry } from '../../server/auth/key-registry.ts';
import type { KeyRow } from '../../storage/control-records/control-records.ts';

/**
 * @param rows what is durable at the start
 * @param mayWrite resolves once a note is durable
 */
export function registryOf(
  nodeKey: Buffer,
  chainId: number,
  rows: readonly KeyRow[] = [],
  mayWrite: (row: KeyRow) => Promise<void> = () => Promise.resolve(),
): { readonly registry: KeyRegistry; readonly written: readonly KeyRow[] } {
  const written: KeyRow[] = [];
  const registry = new KeyRegistry(nodeKey, chainId, async (note) => {
    assert(note.about === 'key');
    written.push(note.row);
    await mayWrite(note.row);
    registry.take(note.row);
  });
  for (const row of rows) registry.take(row);
  return { registry, written };
}
