/**
 * The thread that prepares one catalog generation: loads it from LMDB, sends its texts to the
 * search thread, prepares what the I/O thread serves, compares it with the engine's markets,
 * transfers all that as buffers, and ends. The I/O thread never waits for it.
 *
 * Non-goals: writing anything anywhere.
 */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { Tables } from '../../engine/tables/tables.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import {
  type Contradiction,
  describeContradictions,
} from '../../storage/catalog/registered-markets.ts';
import { alignedCatalog, isAligned, withoutOutcomes } from './aligned.ts';
import type { CatalogThreadData, LoadedCatalog } from './catalog-generation.ts';
import {
  marketCommands,
  type RegistryRules,
  unpublishedEndsIn,
  unpublishedResolutions,
} from './market-registry.ts';
import { buffersOf } from './prepared.ts';
import { makeReady, type ReadyCatalog, readSnapshot } from './snapshot.ts';

/** Named markets of one load; a catalog of another kind would fill the log. */
const WARNINGS_MAX = 20;

/** Message to the search thread: SearchTexts as JSON, and null after the last of them. */
export type TextMessage = Uint8Array | null;

async function run({ setup, texts }: CatalogThreadData): Promise<void> {
  const began = performance.now();
  const { dataDir, durability, generation } = setup;
  const store = openCatalog(dataDir, { durability, readOnly: true, generation });
  // Texts first, so that they are indexed in parallel with the rest.
  const damage = new Set<string>();
  const send = (bytes: Uint8Array): void => {
    texts.postMessage(bytes satisfies TextMessage, [bytes.buffer as ArrayBuffer]);
  };
  const memory = setup.memory && new Tables(setup.memory);
  const { digest, number, ...read } = readOnce(store, send, memory, (line) => damage.add(line));
  texts.postMessage(null satisfies TextMessage);
  assert(number >= (setup.number ?? 0), 'the store does not go back');
  // Before anything is sent: afterwards this thread may be terminated at any time.
  await store.close();
  const { contradictions, mended, ready } = read;
  const { prepared, counts } = ready;
  // A store without a generation says nothing about the engine's markets.
  const tables = number === 0 ? undefined : memory;
  const { commands, unpublished, unpublishedEnds, warnings } = comparedWith(
    tables,
    ready,
    contradictions,
    { feesFromCatalog: setup.feesFromCatalog === true, takesDelays: setup.takesDelays === true },
  );
  const loaded: LoadedCatalog = {
    number,
    digest,
    prepared,
    commands,
    warnings: [...damage, ...warnings],
    unpublished,
    unpublishedEnds,
    contradictions,
    mended,
    counts,
    milliseconds: performance.now() - began,
  };
  const transfer = [...buffersOf(prepared), ...commands.map(({ buffer }) => buffer)];
  parentPort?.postMessage(loaded, transfer);
  texts.close();
}

/**
 * Reads a generation with its number; another process may switch between two reads of the number.
 */
function readOnce(
  store: CatalogStore,
  send: (texts: Uint8Array) => void,
  tables: Tables | undefined,
  warn: (line: string) => void,
) {
  for (;;) {
    const number = store.current() ?? 0;
    const texts: Uint8Array[] = [];
    const take = (bytes: Uint8Array): void => void texts.push(bytes);
    const stored = readSnapshot(store, take, warn);
    const isUsable = stored !== undefined && (tables === undefined || isAligned(tables, stored));
    const catalog = isUsable ? undefined : store.load();
    const digest = store.digest();
    if ((store.current() ?? 0) !== number) continue;
    if (catalog === undefined) {
      texts.forEach(send);
      const contradictions = tables === undefined ? [] : withoutOutcomes(tables, stored!);
      return { digest, number, ready: stored!, contradictions, mended: 0 };
    }
    const aligned = alignedCatalog(catalog, tables);
    return { digest, number, ...aligned, ready: makeReady(aligned.catalog, send) };
  }
}

function comparedWith(
  tables: Tables | undefined,
  { terms, endedConditions }: ReadyCatalog,
  contradictions: readonly Contradiction[],
  rules: RegistryRules,
) {
  if (tables === undefined)
    return { commands: [], unpublished: [], unpublishedEnds: [], warnings: [] };
  const warnings: string[] = [];
  let count = 0;
  const warn = (line: string): void => {
    count += 1;
    if (count <= WARNINGS_MAX) warnings.push(line);
  };
  describeContradictions(contradictions).forEach(warn);
  const untouched = contradictions.map(({ conditionId }) => conditionId);
  const chunks = marketCommands(tables, terms, warn, endedConditions, untouched, rules);
  if (count > WARNINGS_MAX) warnings.push(`and ${count - WARNINGS_MAX} more markets like these`);
  // Each in a buffer of its own, so that it can be transferred.
  const commands = chunks.map((chunk) => new Int32Array(chunk));
  return {
    commands,
    unpublished: unpublishedResolutions(tables, terms),
    unpublishedEnds: unpublishedEndsIn(tables, terms),
    warnings,
  };
}

await run(workerData as CatalogThreadData);
