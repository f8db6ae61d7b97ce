/**
 * Cases of HTTP requests measured beside a bare handler (bare.ts): product and bare take turns in
 * rounds, in one process on one processor, while the load runs on the other.
 *
 * Thread: the suite's only one. Non-goals: what the requests are.
 */
import type { BareCase, BarePorts, BareReady } from './bare.ts';
import type { Child } from './child.ts';
import { median } from './figures.ts';
import { canPin, runLoad } from './http-load.ts';

export interface VersusOptions {
  /** Rounds of a second a side before those that count. */
  readonly warmUps: number;
  readonly rounds: number;
  /** Length of a round of each side. */
  readonly seconds: number;
}

export interface VersusFigures {
  readonly name: string;
  readonly productPerSecond: number;
  readonly barePerSecond: number;
  /** Product over bare, by round: median, least, most. */
  readonly ratio: readonly [median: number, least: number, most: number];
  /** Ratio by processor time of the server a request: bare over product. */
  readonly cpuRatio: number;
  readonly failed: number;
}

export interface VersusCase extends BareCase {
  readonly name: string;
  /** Percent of the bare rate that the product should reach. */
  readonly aim?: number;
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
/** A server that used less of its processor than this was waiting for the load. */
const SATURATED = 0.9;

/** Runs one case; `child` answers `ready` with makeReady() and `cpu` with cpuUs(). */
export async function runCase(
  child: Child,
  ports: BarePorts,
  wanted: VersusCase,
  options: VersusOptions,
): Promise<VersusFigures> {
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

async function runSide(
  child: Child,
  port: number,
  wanted: VersusCase,
  seconds: number,
): Promise<Side> {
  const { requests, headers = {} } = wanted;
  const before = await child.ask<number>('cpu');
  const load = await runLoad({ port, requests, headers, seconds, connections: CONNECTIONS });
  const cpuUs = (await child.ask<number>('cpu')) - before;
  return {
    perSecond: load.perSecond,
    cpuUs: cpuUs / load.requests,
    busy: (cpuUs * load.perSecond) / load.requests / 1e6,
    failed: load.failed,
  };
}

/** Prints the line above the cases. `what` names the suite and its input. */
export function printHead(what: string, { rounds, seconds }: VersusOptions): void {
  const where = canPin()
    ? 'server and load on a processor each'
    : 'NOT PINNED: server and load share processors';
  process.stdout.write(
    `\n${what}, ${rounds} rounds of ${seconds} s a side, ` +
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
  { name, aim, answer }: VersusCase,
  bodyBytes: number,
  figures: VersusFigures,
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
  const wanted = aim === undefined ? '' : `  aim ${aim}`;
  const failed = figures.failed === 0 ? '' : `  ${figures.failed} FAILED`;
  process.stdout.write(
    `${name.padEnd(22)}${bodyBytes.toFixed(0).padStart(8)}` +
      columns(product, figures.productPerSecond, 11) +
      columns(bare, figures.barePerSecond, 9) +
      `  ${rate}${percent(figures.cpuRatio).padStart(3)}  ${answer}${wanted}${failed}\n`,
  );
}

function cpuUs(sides: readonly Side[]): number {
  return median(sides.map((side) => side.cpuUs));
}

function percent(part: number): string {
  return (100 * part).toFixed(0);
}
