/**
 * The thread of one edit: it reads the catalog, makes the next generation and ends. All of that grows with
 * the size of the catalog, so none of it is done on the I/O thread.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ledgerIsOn, proposalOf, resolutionOf } from '../../../engine/ledger/reads.ts';
import { type EngineMemory, Tables } from '../../../engine/tables/tables.ts';
import { MICRO, mulDivFloor } from '../../../engine/tables/units.ts';
import { openCatalog } from '../../../storage/catalog/catalog.ts';
import { Overtaken } from '../../../storage/catalog/catalog-state.ts';
import { RESOLVED_STATUS } from '../../../storage/catalog/operator-marks.ts';
import type { Durability } from '../../../storage/kv/lmdb.ts';
import { microText } from '../../common/decimal.ts';
import { marketByCondition } from '../../market-data/find.ts';
import { alignedCatalog } from '../aligned.ts';
import { replaceCatalog } from '../snapshot.ts';
import { type Edit, type Edited, type EditRefused, edited, type ResolutionState } from './edit.ts';

export interface EditSetup {
  readonly dataDir: string;
  readonly durability: Durability;
  /** Tables of the engine: an edit is made on a catalog whose markets are as registered. */
  readonly memory: EngineMemory;
  readonly edit: Edit;
}

/** Result of an edit; `generation` is 0 where there was nothing to change. */
export type EditResult =
  | (Omit<Edited, 'catalog'> & { readonly generation: number })
  | EditRefused
  | { readonly failure: string };

/** Pause before another try; in a cluster, another change may be on its way. */
const AGAIN_MS = 20;

assert(parentPort !== null, 'this file is the entry of a thread');
const { dataDir, durability, edit, memory } = workerData as EditSetup;
const tables = new Tables(memory);
const store = openCatalog(dataDir, { durability });
try {
  parentPort.postMessage(await made());
} catch (error) {
  const failure = error instanceof Error ? error.message : String(error);
  parentPort.postMessage({ failure } satisfies EditResult);
} finally {
  await store.close();
}

async function made(): Promise<EditResult> {
  for (;;) {
    const onto = store.current() ?? 0;
    const { catalog: before, mended } = alignedCatalog(store.load(), tables);
    const result = edited(before, edit, mended > 0, stateOf);
    if (!('event' in result)) return result;
    const { catalog, ...shown } = result;
    if (catalog === undefined) return { ...shown, generation: 0 };
    try {
      return { ...shown, generation: await replaceCatalog(store, catalog, onto) };
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

function stateOf(condition: string): ResolutionState {
  const market = ledgerIsOn(tables) ? marketByCondition(tables, condition) : 0;
  if (market === 0) return undefined;
  if (resolutionOf(tables, market) !== undefined) return RESOLVED_STATUS;
  const proposal = proposalOf(tables, market);
  if (proposal === undefined) return undefined;
  const { deadline, sum, weights } = proposal;
  const prices = weights.map((weight) => microText(mulDivFloor(MICRO, weight, sum)));
  return {
    umaEndDate: new Date(deadline).toISOString(),
    proposedPrices: JSON.stringify(prices),
  };
}
