/**
 * LMDB environment DATA_DIR/keys: what the node stores apart from the log of batches.
 *   keys   API keys (keys.ts)
 *   meta   name -> number or text
 * Thread: the I/O thread, one transaction at a time. A failed transaction fails only the request that
 * started it: no acknowledged order depends on it.
 */
import { join } from 'node:path';
import { makeDirectory } from '../files/make-directory.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  type RootDatabase,
  writeFailure,
} from './lmdb.ts';

const META_PROBE = Buffer.from('probe');
const PAGE_BYTES = 4_096;

export class OwnStore {
  readonly keys: BinaryTable;
  readonly meta: BinaryTable;
  private readonly root: RootDatabase<Buffer, string>;
  private last: Promise<void> = Promise.resolve();

  constructor(
    dataDir: string,
    options: { readonly durability: Durability; readonly readOnly: boolean },
  ) {
    const path = join(dataDir, 'keys');
    if (!options.readOnly) makeDirectory(path);
    this.root = openEnvironment({ path, ...options });
    this.keys = openTable(this.root, 'keys');
    this.meta = openTable(this.root, 'meta');
  }

  /** Writes one page to disk, to prove that a write succeeds; on a full disk it rejects. */
  prove(): Promise<void> {
    return this.transact(() => void this.meta.put(META_PROBE, Buffer.alloc(PAGE_BYTES, 1)));
  }

  /** Runs one transaction. Resolves when it is on disk; rejects with the reason. */
  transact(puts: () => void): Promise<void> {
    const write = this.last.then(async () => {
      try {
        await this.root.batch(puts);
      } catch (error) {
        throw new Error(`keys: a write failed: ${await writeFailure(error)}`);
      }
    });
    this.last = write.catch(() => undefined);
    return write;
  }

  async close(): Promise<void> {
    await this.last;
    await this.root.close();
  }
}
