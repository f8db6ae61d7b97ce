/**
 * LMDB environment DATA_DIR/keys: what the node itself has to remember beside the order of batches.
 *
 *   keys   API keys (keys.ts)
 *   meta   name -> number or text
 *
 * Thread: the I/O thread, one transaction in flight. One that fails costs who asked for it, no more:
 * nothing that was acknowledged depends on it.
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

  /** Proves that a write reaches the disk: a page's worth, so that a full disk shows here. */
  prove(): Promise<void> {
    return this.transact(() => void this.meta.put(META_PROBE, Buffer.alloc(PAGE_BYTES, 1)));
  }

  /** Runs a transaction of its own; on disk when it resolves, rejects with the reason. */
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
