/**
 * The command line of the load tool's measuring mode.
 * Thread: the tool's only one.
 * Non-goals: the node's own configuration (server/config/config.ts reads it from the environment).
 */
import {
  ENVIRONMENT_HELP,
  type Parsed,
  TARGET_TABLE,
  type TargetOptions,
  targetOptions,
} from '../load/load-options.ts';
import { type OptionTable, optionHelp, readOptions } from '../load/option-table.ts';
import { type Mix, parseMix } from './mix.ts';

export type Arrivals = 'even' | 'poisson';

export interface MeasureOptions extends TargetOptions {
  /** Orders a second, of all processes; undefined: as fast as the connections answer. */
  readonly rate: number | undefined;
  /** Seconds that count, after `warmup` seconds that do not. */
  readonly duration: number;
  readonly warmup: number;
  /** Orders of the whole run when there is no rate. */
  readonly orders: number;
  readonly batch: number;
  readonly mix: Mix;
  readonly arrivals: Arrivals;
  readonly wallets: number;
  readonly markets: number;
  readonly connections: number;
  readonly processes: number;
  /** Orders carry a constant in place of a signature. */
  readonly unsigned: boolean;
  /** Path of the result without its ending. */
  readonly out: string;
}

const MIX = 'fok=50,gtc=25,cancel=25';

const TABLE: OptionTable = {
  rate: {
    kind: 'text',
    value: 'N|max',
    help: 'orders a second that are due, answered or not (1000); max: a closed loop',
  },
  duration: { kind: 'count', value: 'S', help: 'seconds that count', default: 10, max: 3600 },
  warmup: {
    kind: 'count',
    value: 'S',
    help: 'seconds before that, sent but not counted',
    default: 2,
    min: 0,
    max: 600,
  },
  orders: {
    kind: 'count',
    value: 'N',
    help: 'orders of a run with --rate max, in place of seconds',
    default: 20_000,
    max: 10_000_000,
  },
  batch: {
    kind: 'count',
    value: 'N',
    help: 'orders in a request; 1 sends POST /order',
    default: 15,
    max: 5000,
  },
  mix: {
    kind: 'text',
    value: 'MIX',
    help: `percent of the requests (${MIX}): FOK fill, GTC rest, cancels take GTC back`,
  },
  arrivals: {
    kind: 'text',
    value: 'HOW',
    help: 'even or poisson (even): the spaces between requests',
  },
  wallets: { kind: 'count', value: 'N', help: 'wallets that trade', default: 16, max: 10_000 },
  markets: { kind: 'count', value: 'N', help: 'markets to trade', default: 12, max: 100_000 },
  connections: {
    kind: 'count',
    value: 'N',
    help: 'connections of all processes, a request at a time on each',
    default: 16,
    max: 4000,
  },
  processes: { kind: 'count', value: 'N', help: 'processes that send', default: 1, max: 64 },
  unsigned: { kind: 'switch', help: 'do not sign: for a node with VERIFY_SIGNATURES=off' },
  out: {
    kind: 'text',
    value: 'NAME',
    help: 'writes NAME.json and NAME.svg (load-result)',
  },
  ...TARGET_TABLE,
};

export const MEASURE_USAGE = `usage: npm run load -- measure [options]
Signs everything ahead, then sends on a schedule that does not wait for answers. Latency counts from
the moment a request was due, so a node that stalls cannot hide the requests it kept from being sent.
${optionHelp(TABLE)}
${ENVIRONMENT_HELP}
Makers rest a deep book in every market first, and everything is taken back at the end. The node must
be one that nobody needs: it is filled with orders.`;

const RATE_MAX = 1_000_000;
/** A signed order is about this long in a request; all of them are made before the clock starts. */
const ORDER_BYTES = 900;
const PREPARED_BYTES_MAX = 4 * 2 ** 30;

/** `now` names the run by default, milliseconds. */
export function parseMeasureOptions(argv: readonly string[], now: number): Parsed<MeasureOptions> {
  const read = readOptions(TABLE, argv);
  if (!read.ok) return read;
  const { values } = read;
  const { problems } = values;
  const rateText = values.text('rate') ?? '1000';
  const rate = rateText === 'max' ? undefined : Number(rateText);
  if (rate !== undefined && !(/^\d+$/.test(rateText) && rate >= 1 && rate <= RATE_MAX)) {
    problems.push(`--rate must be max or a whole number from 1 to ${RATE_MAX}, not "${rateText}"`);
  }
  const mix = parseMix(values.text('mix') ?? MIX);
  if (mix === undefined) {
    problems.push(
      `--mix must be percents that add up to 100, such as ${MIX}; no more cancel than gtc`,
    );
  }
  const arrivals = values.text('arrivals') ?? 'even';
  if (arrivals !== 'even' && arrivals !== 'poisson') {
    problems.push(`--arrivals must be even or poisson, not "${arrivals}"`);
  }
  const options: MeasureOptions = {
    ...targetOptions(values, now, values.isOn('spawn')),
    rate,
    duration: values.count('duration'),
    warmup: values.count('warmup'),
    orders: values.count('orders'),
    batch: values.count('batch'),
    mix: mix ?? { fok: 100, gtc: 0, cancel: 0 },
    arrivals: arrivals === 'poisson' ? arrivals : 'even',
    wallets: values.count('wallets'),
    markets: values.count('markets'),
    connections: values.count('connections'),
    processes: values.count('processes'),
    unsigned: values.isOn('unsigned'),
    out: values.text('out') ?? 'load-result',
  };
  if (options.processes > Math.min(options.wallets, options.connections)) {
    problems.push('every process needs a wallet and a connection: fewer --processes');
  }
  const bytes = ordersOf(options) * ORDER_BYTES;
  if (bytes > PREPARED_BYTES_MAX) {
    problems.push(
      `${ordersOf(options)} orders are signed ahead and would take ${Math.round(bytes / 2 ** 30)} GiB`,
    );
  }
  return problems.length === 0
    ? { ok: true, options }
    : { ok: false, problem: problems.join('\n') };
}

/** Orders of the whole run, warm-up included. */
export function ordersOf({ rate, orders, warmup, duration }: MeasureOptions): number {
  return rate === undefined ? orders : rate * (warmup + duration);
}

/** Requests of the whole run, of all processes. */
export function requestsOf(options: MeasureOptions): number {
  return Math.ceil(ordersOf(options) / options.batch);
}
