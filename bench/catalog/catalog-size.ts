/**
 * The cost of a large catalog: the time from the start of loading until it can be served and until
 * it can be searched, and the memory of fragments, indexes and search. It is measured with the
 * snapshot that an import stores, and without one. Each load is a process of its own. The catalog
 * was written just before, so its pages are in the system's cache.
 *
 * Thread: the suite's only one. Non-goals: how fast it is served (catalog-throughput.ts).
 */
import { join } from 'node:path';
import { Child } from '../common/child.ts';
import { generateCatalog } from './catalog-generator.ts';
import type { LoadMeasured, LoadRequest } from './catalog-loader.ts';
import { storeCatalog } from './catalog-store.ts';

export interface SizeOptions {
  readonly markets: number;
  readonly seed: string;
  readonly dataDir: string;
  readonly rounds: number;
}

export interface SizeFigures {
  /** Loads of a catalog generation with a prepared form, and of one without. */
  readonly loads: readonly LoadMeasured[];
  readonly bareLoads: readonly LoadMeasured[];
  /** Duration of an import, from the parsed file on. */
  readonly importMs: number;
  readonly searchHeapBytes: number;
}

const MB = 1_000_000;

export async function catalogSize(options: SizeOptions): Promise<SizeFigures> {
  const { markets, dataDir } = options;
  const catalog = generateCatalog(markets, options.seed);
  const measureLoads = async (): Promise<LoadMeasured[]> => {
    const loads: LoadMeasured[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const request: LoadRequest = { dataDir, markets };
      loads.push(await inChild([], (child) => child.ask<LoadMeasured>('load', request)));
    }
    return loads;
  };
  await storeCatalog(dataDir, catalog, false);
  const bareLoads = await measureLoads();
  const began = performance.now();
  await storeCatalog(dataDir, catalog);
  const importMs = performance.now() - began;
  const loads = await measureLoads();
  const searchHeapBytes = await inChild(['--expose-gc'], (child) =>
    child.ask<number>('heap', dataDir),
  );
  const figures = { loads, bareLoads, importMs, searchHeapBytes };
  print(options, catalog.events.length, figures);
  return figures;
}

async function inChild<Value>(
  flags: readonly string[],
  work: (child: Child) => Promise<Value>,
): Promise<Value> {
  const child = new Child(join(import.meta.dirname, 'catalog-loader'), [], { flags });
  try {
    return await work(child);
  } finally {
    await child.stop();
  }
}

function print(options: SizeOptions, events: number, figures: SizeFigures): void {
  const { loads, bareLoads, importMs, searchHeapBytes } = figures;
  const totalMb = ((loads[0]?.preparedBytes ?? 0) + searchHeapBytes) / MB;
  process.stdout.write(
    `\ncatalog size: ${options.markets} markets in ${events} events, seed ${options.seed}, ` +
      `${loads.length} loads of each kind, a process each\n` +
      `as imported (the import took ${importMs.toFixed(0)} ms)\n${tableOf(loads)}` +
      `from the catalog alone\n${tableOf(bareLoads)}` +
      `search index, heap after a collection: ${(searchHeapBytes / MB).toFixed(0)} MB; ` +
      `fragments, indexes and search together: ${totalMb.toFixed(0)} MB\n`,
  );
}

function tableOf(loads: readonly LoadMeasured[]): string {
  const row = (name: string, pick: (load: LoadMeasured) => number, unit: string): string =>
    `  ${name.padEnd(50)}${loads.map((load) => pick(load).toFixed(0).padStart(8)).join('')} ${unit}\n`;
  return (
    row('start of loading to served', (load) => load.preparedMs, 'ms') +
    row('start of loading to searchable', (load) => load.searchMs, 'ms') +
    row('processor time of it, all threads', (load) => load.cpuMs, 'ms') +
    row('fragments', (load) => load.fragmentBytes / MB, 'MB') +
    row('fragments and indexes, handed over', (load) => load.preparedBytes / MB, 'MB') +
    row('memory of the process, before to after, no files', (load) => growth(load) / MB, 'MB') +
    row('most that it held, pages of LMDB included', (load) => load.peakBytes / MB, 'MB') +
    row('words of engine commands', (load) => load.commands, '')
  );
}

function growth(load: LoadMeasured): number {
  return load.anonBytesAfter - load.anonBytesBefore;
}
