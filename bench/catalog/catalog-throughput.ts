/**
 * How fast catalog routes answer beside a bare uWebSockets.js handler that sends ready bytes under
 * the same headers: the two take turns in rounds, in one process on one processor, while the load
 * runs on the other. "tiny" sets the product against a bare answer of four bytes, whatever its own.
 *
 * Thread: the suite's only one. Non-goals: the catalog while it changes (catalog-switch.ts), and
 * what many slow readers do.
 */
import type { BareCase, BarePorts, BareReady } from './catalog-bare.ts';
import { Child } from './catalog-child.ts';
import {
  type GeneratedCatalog,
  type GeneratedEvent,
  generateCatalog,
} from './catalog-generator.ts';
import { storeCatalog } from './catalog-store.ts';
import { canPin, runLoad, SERVER_CORE } from './http-load.ts';

export interface ThroughputOptions {
  readonly markets: number;
  readonly seed: string;
  readonly dataDir: string;
  /** Rounds of a second a side before those that count. */
  readonly warmUps: number;
  readonly rounds: number;
  /** Of each of the two sides in each round. */
  readonly seconds: number;
  /** Names of the cases to run; all when empty. */
  readonly only: readonly string[];
}

export interface ThroughputFigures {
  readonly name: string;
  readonly productPerSecond: number;
  readonly barePerSecond: number;
  /** Product over bare, by round: median, least, most. */
  readonly ratio: readonly [median: number, least: number, most: number];
  /** The same by processor time of the server a request: bare over product. */
  readonly cpuRatio: number;
  readonly failed: number;
}

interface Case extends BareCase {
  readonly name: string;
}

interface Side {
  readonly perSecond: number;
  /** Processor time of the server's process, for one request. */
  readonly cpuUs: number;
  /** Share of its processor that the server used; far below 1, the load is what was measured. */
  readonly busy: number;
  readonly failed: number;
}

const CONNECTIONS = 32;
/** Different requests of a case whose requests change: no cache of a single answer helps there. */
const CHANGING = 200;
const PAGE = 100;
/** A server that used less of its processor than this was waiting for the load. */
const SATURATED = 0.9;

export async function catalogThroughput(options: ThroughputOptions): Promise<ThroughputFigures[]> {
  const catalog = generateCatalog(options.markets, options.seed);
  await storeCatalog(options.dataDir, catalog);
  const child = new Child('catalog-bare', [], { core: SERVER_CORE });
  try {
    const ports = await child.ask<BarePorts>('open', options.dataDir);
    const cases = casesOf(catalog, await child.ask<string>('etag'));
    const chosen = cases.filter(
      ({ name }) => options.only.length === 0 || options.only.includes(name),
    );
    printHead(options);
    const figures: ThroughputFigures[] = [];
    for (const each of chosen) figures.push(await runCase(child, ports, each, options));
    return figures;
  } finally {
    await child.stop();
  }
}

function casesOf(catalog: GeneratedCatalog, etag: string): readonly Case[] {
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
    ...Object.entries(targets).map(([name, list]): Case => {
      return { name, targets: list, answer: tiny.has(name) ? 'tiny' : 'same' };
    }),
    { name: 'markets 304', targets: [list], answer: 'same', headers: { 'If-None-Match': etag } },
    {
      name: 'markets gzip',
      targets: [list],
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

async function runCase(
  child: Child,
  ports: BarePorts,
  wanted: Case,
  options: ThroughputOptions,
): Promise<ThroughputFigures> {
  const ready = await child.ask<BareReady>('ready', wanted);
  const product: Side[] = [];
  const bare: Side[] = [];
  for (let round = 0; round < options.warmUps; round += 1) {
    await runSide(child, ports.product, wanted, 1);
    await runSide(child, ports.bare, wanted, 1);
  }
  for (let round = 0; round < options.rounds; round += 1) {
    product.push(await runSide(child, ports.product, wanted, options.seconds));
    bare.push(await runSide(child, ports.bare, wanted, options.seconds));
  }
  const ratios = product.map((side, index) => side.perSecond / bare[index]!.perSecond);
  const figures = {
    name: wanted.name,
    productPerSecond: median(product.map((side) => side.perSecond)),
    barePerSecond: median(bare.map((side) => side.perSecond)),
    ratio: [median(ratios), Math.min(...ratios), Math.max(...ratios)] as const,
    cpuRatio: cpuUs(bare) / cpuUs(product),
    failed: [...product, ...bare].reduce((sum, side) => sum + side.failed, 0),
  };
  printCase(wanted, ready.bodyBytes, figures, product, bare);
  return figures;
}

async function runSide(child: Child, port: number, wanted: Case, seconds: number): Promise<Side> {
  const { targets, headers = {} } = wanted;
  const before = await child.ask<number>('cpu');
  const load = await runLoad({ port, targets, headers, seconds, connections: CONNECTIONS });
  const cpuUs = (await child.ask<number>('cpu')) - before;
  return {
    perSecond: load.perSecond,
    cpuUs: cpuUs / load.requests,
    busy: (cpuUs * load.perSecond) / load.requests / 1e6,
    failed: load.failed,
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function printHead({ markets, seed, rounds, seconds }: ThroughputOptions): void {
  const where = canPin()
    ? 'server and load on a processor each'
    : 'NOT PINNED: server and load share processors';
  process.stdout.write(
    `\ncatalog throughput: ${markets} markets, seed ${seed}, ${rounds} rounds of ${seconds} s a side, ` +
      `${CONNECTIONS} connections, ${where}\n` +
      'medians; us = processor time of the server a request, busy = its share of its processor;\n' +
      'rate and cpu = product to bare by requests a second (least to most) and by processor time;\n' +
      '* = the load was the limit, so that rate flatters and cpu tells more\n' +
      `${'case'.padEnd(22)}${'body'.padStart(8)}` +
      `${'product/s'.padStart(11)}${'us'.padStart(7)}${'busy'.padStart(6)}` +
      `${'bare/s'.padStart(9)}${'us'.padStart(7)}${'busy'.padStart(6)}  rate %${' '.repeat(14)}cpu %\n`,
  );
}

function printCase(
  { name, answer }: Case,
  bodyBytes: number,
  figures: ThroughputFigures,
  product: readonly Side[],
  bare: readonly Side[],
): void {
  const columns = (sides: readonly Side[], rate: number, width: number): string => {
    const busy = `${percent(median(sides.map((side) => side.busy)))}%`;
    return `${rate.toFixed(0).padStart(width)}${cpuUs(sides).toFixed(1).padStart(7)}${busy.padStart(6)}`;
  };
  const [middle, least, most] = figures.ratio;
  const mark = median(bare.map((side) => side.busy)) < SATURATED ? '*' : ' ';
  const rate = `${percent(middle)}${mark} (${percent(least)} to ${percent(most)})`.padEnd(20);
  const failed = figures.failed === 0 ? '' : `  ${figures.failed} FAILED`;
  process.stdout.write(
    `${name.padEnd(22)}${bodyBytes.toFixed(0).padStart(8)}` +
      columns(product, figures.productPerSecond, 11) +
      columns(bare, figures.barePerSecond, 9) +
      `  ${rate}${percent(figures.cpuRatio).padStart(3)}  ${answer}${failed}\n`,
  );
}

function cpuUs(sides: readonly Side[]): number {
  return median(sides.map((side) => side.cpuUs));
}

function percent(part: number): string {
  return (100 * part).toFixed(0);
}
