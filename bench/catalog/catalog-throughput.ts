/**
 * The speed of catalog routes compared with a bare uWebSockets.js handler that sends ready bytes
 * with the same headers. The two alternate in rounds, in one process on one processor, while the
 * load generator runs on the other. "tiny" compares the product with a bare answer of four bytes.
 *
 * Thread: the suite's only one. Non-goals: the catalog while it changes (catalog-switch.ts), and
 * many slow readers.
 */
import { join } from 'node:path';
import type { BarePorts } from '../common/bare.ts';
import { Child } from '../common/child.ts';
import { SERVER_CORE } from '../common/http-load.ts';
import {
  printHead,
  runCase,
  type VersusCase,
  type VersusFigures,
  type VersusOptions,
} from '../common/versus.ts';
import {
  type GeneratedCatalog,
  type GeneratedEvent,
  generateCatalog,
} from './catalog-generator.ts';
import { storeCatalog } from './catalog-store.ts';

export interface ThroughputOptions extends VersusOptions {
  readonly markets: number;
  readonly seed: string;
  readonly dataDir: string;
  /** Names of the cases to run; all when empty. */
  readonly only: readonly string[];
}

/** Different requests of a case whose requests change: no cache of a single answer helps there. */
const CHANGING = 200;
const PAGE = 100;

export async function catalogThroughput(options: ThroughputOptions): Promise<VersusFigures[]> {
  const catalog = generateCatalog(options.markets, options.seed);
  await storeCatalog(options.dataDir, catalog);
  const child = new Child(join(import.meta.dirname, 'catalog-bare'), [], { core: SERVER_CORE });
  try {
    const ports = await child.ask<BarePorts>('open', options.dataDir);
    const cases = casesOf(catalog, await child.ask<string>('etag'));
    const chosen = cases.filter(
      ({ name }) => options.only.length === 0 || options.only.includes(name),
    );
    printHead(`catalog throughput: ${options.markets} markets, seed ${options.seed}`, options);
    const figures: VersusFigures[] = [];
    for (const each of chosen) figures.push(await runCase(child, ports, each, options));
    return figures;
  } finally {
    await child.stop();
  }
}

function casesOf(catalog: GeneratedCatalog, etag: string): readonly VersusCase[] {
  const { events } = catalog;
  const markets = events.flatMap((event) => event.markets);
  const some = spread(markets);
  const mean = Math.round(markets.length / events.length);
  const offsets = spread(markets.slice(PAGE).map((_, offset) => offset));
  const list = `/markets?limit=${PAGE}`;
  const words = spread(events).map(({ title }) => longestWord(title));
  const targets: Readonly<Record<string, readonly string[]>> = {
    markets: [list],
    'markets offset': offsets.map((offset) => `${list}&offset=${offset}`),
    'markets open order': [`${list}&closed=false&order=endDate`],
    'event mean': [`/events/${nearest(events, mean).id}`],
    'event large': [`/events/${nearest(events, markets.length).id}`],
    'event changing': spread(events).map(({ id }) => `/events/${id}`),
    'markets slug': some.map(({ slug }) => `/markets?slug=${slug}`),
    'markets conditionId': some.map(({ conditionId }) => `/markets?conditionId=${conditionId}`),
    market: some.map(({ id }) => `/markets/${id}`),
    events: [`/events?limit=${PAGE}`],
    sampling: ['/sampling-markets'],
    'sampling simple': ['/sampling-simplified-markets'],
    search: words.map((word) => `/public-search?q=${encodeURIComponent(word)}`),
  };
  const tiny = new Set(['markets slug', 'markets conditionId']);
  const gzip = 'gzip';
  return [
    ...Object.entries(targets).map(([name, list]): VersusCase => {
      return {
        name,
        requests: list.map((target) => ({ target })),
        answer: tiny.has(name) ? 'tiny' : 'same',
      };
    }),
    {
      name: 'markets 304',
      requests: [{ target: list }],
      answer: 'same',
      headers: { 'If-None-Match': etag },
    },
    {
      name: 'markets gzip',
      requests: [{ target: list }],
      answer: 'same',
      headers: { 'Accept-Encoding': gzip },
      encoding: gzip,
    },
  ];
}

/** At most CHANGING of a list, evenly. */
function spread<T>(list: readonly T[]): readonly T[] {
  const count = Math.min(CHANGING, list.length);
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]!);
}

/** The event whose number of markets is nearest. */
function nearest(events: readonly GeneratedEvent[], markets: number): GeneratedEvent {
  const distance = (event: GeneratedEvent): number => Math.abs(event.markets.length - markets);
  return events.reduce((best, event) => (distance(event) < distance(best) ? event : best));
}

function longestWord(title: string): string {
  const words = title.replace('?', '').split(' ');
  return words.reduce((best, word) => (word.length > best.length ? word : best));
}
