/**
 * The LMDB environments of a node, opened for writing where a write really reaches the disk, else
 * read-only: a node on a full or read-only disk still serves what it has (DESIGN, Storage).
 *
 * Thread: the I/O thread.
 */
import { mkdirSync } from 'node:fs';
import { type CatalogStore, openCatalog } from '../storage/catalog.ts';
import { Images } from '../storage/images.ts';
import { Journal, openJournalTables } from '../storage/journal.ts';
import type { Durability } from '../storage/lmdb.ts';

export interface Stores {
  readonly journal: Journal;
  readonly images: Images;
  readonly catalog: CatalogStore;
  close(): Promise<void>;
}

interface Place {
  readonly dataDir: string;
  readonly durability: Durability;
}

/** `problem`: why the directory cannot be written; the stores are then read-only. */
export async function openStores(
  place: Place,
): Promise<{ readonly stores: Stores; readonly problem: string | undefined }> {
  let stores: Stores | undefined;
  let problem: string;
  try {
    mkdirSync(place.dataDir, { recursive: true });
    stores = open(place, false);
    await stores.journal.prove();
    return { stores, problem: undefined };
  } catch (error) {
    problem = (error as Error).message;
    if (problem.includes('this node reads')) throw error;
    await stores?.close();
  }
  try {
    return { stores: open(place, true), problem };
  } catch (error) {
    const detail = (error as Error).message;
    throw new Error(
      `DATA_DIR ${place.dataDir}: not writable (${problem}), not readable (${detail})`,
    );
  }
}

function open(place: Place, readOnly: boolean): Stores {
  const options = { durability: place.durability, readOnly };
  const journal = new Journal(openJournalTables(place.dataDir, options));
  const images = new Images(place.dataDir, options);
  const catalog = openCatalog(place.dataDir, options);
  return {
    journal,
    images,
    catalog,
    async close() {
      await journal.close();
      await images.close();
      await catalog.close();
    },
  };
}
