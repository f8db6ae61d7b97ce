/**
 * What a large catalog costs: from the start of loading until it can be served and until it can be
 * searched, and the memory of fragments, indexes and search. Each load is a process of its own; the
 * catalog was written just before, so its pages are in the system's cache.
 *
 * Thread: the suite's only one. Non-goals: how fast it is served (catalog-throughput.ts).
 */
import { Child } from './catalog-child.ts';
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
  readonly loads: readonly LoadMeasured[];
  readonly searchHeapBytes: number;
}

const MB = 1_000_000;

export async function catalogSize(options: SizeOptions): Promise<SizeFigures> {
  const { markets, dataDir } = options;
  const catalog = generateCatalog(markets, options.seed);
  await storeCatalog(dataDir, catalog);
  const loads: LoadMeasured[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const request: LoadRequest = { dataDir, markets };
    loads.push(await inChild([], (child) => child.ask<LoadMeasured>('load', request)));
  }
  const searchHeapBytes = await inChild(['--expose-gc'], (child) =>
    child.ask<number>('heap', dataDir),
  );
  const figures = { loads, searchHeapBytes };
  print(options, catalog.events.length, figures);
  return figures;
}

async function inChild<Value>(
  flags: readonly string[],
  work: (child: Child) => Promise<Value>,
): Promise<Value> {
  const child = new Child('catalog-loader', [], { flags });
  try {
    return await work(child);
  } finally {
    await child.stop();
  }
}

function print(
  options: SizeOptions,
  events: number,
  { loads, searchHeapBytes }: SizeFigures,
): void {
  const row = (name: string, pick: (load: LoadMeasured) => number, unit: string): string =>
    `${name.padEnd(52)}${loads.map((load) => pick(load).toFixed(0).padStart(8)).join('')} ${unit}\n`;
  const [first] = loads;
  const held = ((first?.preparedBytes ?? 0) + searchHeapBytes) / MB;
  process.stdout.write(
    `\ncatalog size: ${options.markets} markets in ${events} events, seed ${options.seed}, ` +
      `${loads.length} loads, a process each\n` +
      row('start of loading to served', (load) => load.preparedMs, 'ms') +
      row('start of loading to searchable', (load) => load.searchMs, 'ms') +
      row('processor time of it, all threads', (load) => load.cpuMs, 'ms') +
      row('fragments', (load) => load.fragmentBytes / MB, 'MB') +
      row('fragments and indexes, handed over', (load) => load.preparedBytes / MB, 'MB') +
      row('memory of the process, before to after, no files', (load) => growth(load) / MB, 'MB') +
      row(
        'most that the process held, pages of LMDB included',
        (load) => load.peakBytes / MB,
        'MB',
      ) +
      row('words of engine commands', (load) => load.commands, '') +
      `search index, heap after a collection: ${(searchHeapBytes / MB).toFixed(0)} MB; ` +
      `fragments, indexes and search together: ${held.toFixed(0)} MB\n`,
  );
}

function growth(load: LoadMeasured): number {
  return load.anonBytesAfter - load.anonBytesBefore;
}
