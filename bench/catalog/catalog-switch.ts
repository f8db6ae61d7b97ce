/**
 * The effect of a new catalog generation on a serving node: a node under light, steady reading
 * while another process imports a catalog in which every market has changed. Three windows of equal
 * length alternate: quiet; the same import into another directory, which shows the effect of a
 * second busy process on this machine; and the switch itself.
 *
 * Thread: the suite's only one, which also reads. Non-goals: speed under full load, and orders.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpClient } from '../../client/http.ts';
import { Child } from '../common/child.ts';
import { openClient } from '../load/load-client.ts';
import { type GeneratedCatalog, generateCatalog, revisionOf } from './catalog-generator.ts';
import type { Imported } from './catalog-importer.ts';
import type { LoopDelay } from './catalog-node.ts';
import { storeCatalog } from './catalog-store.ts';

export interface SwitchOptions {
  readonly markets: number;
  readonly seed: string;
  readonly dataDir: string;
  readonly rounds: number;
  readonly windowMs: number;
}

export interface SwitchFigures {
  /** From the switch on disk to the first answer from the new generation, by round. */
  readonly servedMs: readonly number[];
  /** Longest delay of the I/O thread's event loop in the window of the switch, by round. */
  readonly switchMs: readonly number[];
  readonly requests: number;
  readonly failed: number;
}

/** Each reader sends one request, waits for its answer, and pauses. */
const READERS = 4;
const READER_PAUSE_MS = 10;
/** The import begins at this part of its window. */
const LEAD = 0.1;
const SERVED_TIMEOUT_MS = 30_000;
/** Different requests that the readers send in turn. */
const TARGETS = 400;

export async function catalogSwitch(options: SwitchOptions): Promise<SwitchFigures> {
  const { markets, seed, rounds, windowMs } = options;
  const catalog = generateCatalog(markets, seed);
  const here = join(options.dataDir, 'node');
  const elsewhere = join(options.dataDir, 'elsewhere');
  await storeCatalog(here, catalog);
  await storeCatalog(elsewhere, catalog);
  const node = new Child(join(import.meta.dirname, 'catalog-node'), []);
  const importer = new Child(join(import.meta.dirname, 'catalog-importer'), []);
  let readers: Readers | undefined;
  try {
    readers = new Readers(await node.ask<number>('start', environmentOf(here)), catalog);
    const window = async (work: () => Promise<void>): Promise<LoopDelay> => {
      await node.ask('delay');
      await Promise.all([pause(LEAD * windowMs).then(work), pause(windowMs)]);
      return node.ask<LoopDelay>('delay');
    };
    const nothing = async (): Promise<void> => undefined;
    // Compiles and fills caches; not counted.
    await window(nothing);
    const windows: Windows = { quiet: [], elsewhere: [], switching: [] };
    const servedMs: number[] = [];
    for (let revision = 1; revision <= rounds; revision += 1) {
      await importer.ask('prepare', { markets, seed, revision });
      windows.quiet.push(await window(nothing));
      windows.elsewhere.push(await window(() => importer.ask('write', elsewhere)));
      const switching = await window(async () => {
        const { switchedAt } = await importer.ask<Imported>('write', here);
        servedMs.push((await readers!.servedAt(revision)) - switchedAt);
      });
      windows.switching.push(switching);
    }
    const { requests, failed } = await readers.stop();
    print(options, windows, servedMs, requests, failed);
    return { servedMs, switchMs: windows.switching.map(({ maxMs }) => maxMs), requests, failed };
  } finally {
    await readers?.stop();
    await importer.stop();
    await node.stop();
  }
}

interface Windows {
  readonly quiet: LoopDelay[];
  readonly elsewhere: LoopDelay[];
  readonly switching: LoopDelay[];
}

/** Tables of a modest size, and no snapshot within a window. */
function environmentOf(dataDir: string): Readonly<Record<string, string>> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDir,
    WORKERS: '1',
    RATE_LIMITS: 'off',
    ACCOUNTS_MAX: '65536',
    ORDERS_MAX: '65536',
    ORDER_HISTORY: '65536',
    TRADES_MAX: '65536',
    IMAGE_SECONDS: '86400',
  };
}

/** Light, steady reading of every kind, which also sees which revision is being served. */
class Readers {
  readonly #targets: readonly string[];
  readonly #loops: Promise<void>[];
  readonly #firstSeenAt = new Map<number, number>();
  #isOver = false;
  #requests = 0;
  #failed = 0;

  constructor(port: number, catalog: GeneratedCatalog) {
    const markets = catalog.events.flatMap((event) => event.markets);
    this.#targets = Array.from({ length: TARGETS }, (_, index) => {
      const event = catalog.events[(index * 7) % catalog.events.length]!;
      const market = markets[(index * 13) % markets.length]!;
      const others = [
        '/markets?limit=100',
        `/events/${event.id}`,
        `/markets?slug=${market.slug}`,
        `/public-search?q=${encodeURIComponent(event.title.split(' ')[0]!)}`,
      ];
      return index % 2 === 0 ? `/markets/${market.id}` : others[(index >> 1) % others.length]!;
    });
    const url = new URL(`http://127.0.0.1:${port}`);
    this.#loops = Array.from({ length: READERS }, (_, index) => this.#read(openClient(url), index));
  }

  /** Wall clock, ms. Rejects when the revision does not come. */
  async servedAt(revision: number): Promise<number> {
    const deadline = performance.now() + SERVED_TIMEOUT_MS;
    for (;;) {
      const at = this.#firstSeenAt.get(revision);
      if (at !== undefined) return at;
      if (performance.now() > deadline) throw new Error(`revision ${revision} was never served`);
      await pause(1);
    }
  }

  async stop(): Promise<{ requests: number; failed: number }> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    return { requests: this.#requests, failed: this.#failed };
  }

  async #read(client: HttpClient, first: number): Promise<void> {
    for (let at = first; !this.#isOver; at += 1) {
      const target = this.#targets[at % this.#targets.length]!;
      this.#requests += 1;
      try {
        const { status, body } = await client.send('GET', target);
        if (status !== 200) this.#failed += 1;
        else if (target.startsWith('/markets/')) this.#see(revisionOf(JSON.parse(body).question));
      } catch {
        this.#failed += 1;
      }
      await pause(READER_PAUSE_MS);
    }
    client.close();
  }

  #see(revision: number): void {
    if (!this.#firstSeenAt.has(revision)) this.#firstSeenAt.set(revision, Date.now());
  }
}

function print(
  options: SwitchOptions,
  windows: Windows,
  servedMs: readonly number[],
  requests: number,
  failed: number,
): void {
  const row = (name: string, values: readonly number[], digits: number): string =>
    `${name.padEnd(52)}${values.map((value) => value.toFixed(digits).padStart(8)).join('')} ms\n`;
  const delays = (name: string, list: readonly LoopDelay[]): string =>
    row(
      `loop delay, ${name}: longest`,
      list.map(({ maxMs }) => maxMs),
      1,
    ) +
    row(
      `loop delay, ${name}: 99 %`,
      list.map(({ p99Ms }) => p99Ms),
      1,
    );
  process.stdout.write(
    `\ncatalog switch: ${options.markets} markets, all changed, seed ${options.seed}, ` +
      `${options.rounds} rounds of windows of ${options.windowMs} ms\n` +
      row('switch on disk to first answer from it', servedMs, 0) +
      delays('quiet', windows.quiet) +
      delays('import elsewhere', windows.elsewhere) +
      delays('switch', windows.switching) +
      `requests ${requests}, failed ${failed}\n`,
  );
}
