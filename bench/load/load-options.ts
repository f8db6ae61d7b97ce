/**
 * The command line of the load tool's checking mode, and what both of its modes share.
 * Thread: the tool's only one.
 * Non-goals: the node's own configuration (server/config/config.ts reads it from the environment).
 */
import { type OptionTable, type OptionValues, optionHelp, readOptions } from './option-table.ts';

/** Which node is loaded, and in what words wallets and orders are drawn. */
export interface TargetOptions {
  readonly url: URL;
  /** Draws the orders. */
  readonly seed: string;
  /** Digits that make wallets and salts new; the same seed and run give byte-equal orders. */
  readonly run: string;
  /** Catalog file whose markets are traded; undefined means the demo catalog. */
  readonly catalog: string | undefined;
  /** Imported into the data directory before the first start. */
  readonly importFile: string | undefined;
  /** The tool runs the node itself. */
  readonly spawn: boolean;
  /** undefined means a temporary directory. */
  readonly dataDir: string | undefined;
}

export interface LoadOptions extends TargetOptions {
  readonly orders: number;
  readonly batch: number;
  readonly wallets: number;
  readonly connections: number;
  readonly markets: number;
  /** Kills of the tool's own node during the load. */
  readonly kills: number;
}

export type Parsed<Options> =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly problem: string };

export const TARGET_TABLE: OptionTable = {
  seed: { kind: 'text', value: 'TEXT', help: 'draws the same orders again (load)' },
  run: {
    kind: 'text',
    value: 'DIGITS',
    help: 'wallets and salts; new by default, so that a load can be repeated',
  },
  url: { kind: 'text', value: 'URL', help: 'a running node (http://127.0.0.1:3000)' },
  catalog: {
    kind: 'text',
    value: 'FILE',
    help: 'trade the markets of this catalog file (default: the demo catalog)',
  },
  spawn: { kind: 'switch', help: 'run a node for this load, on a directory of its own' },
  'data-dir': {
    kind: 'text',
    value: 'DIR',
    help: 'directory of that node (default: a temporary one)',
  },
  import: {
    kind: 'text',
    value: 'FILE',
    help: 'import this catalog file into it first, and trade its markets',
  },
};

const TABLE: OptionTable = {
  orders: { kind: 'count', value: 'N', help: 'orders to send', default: 2000, max: 100_000_000 },
  batch: { kind: 'count', value: 'N', help: 'orders in a request', default: 15, max: 5000 },
  wallets: { kind: 'count', value: 'N', help: 'wallets that trade', default: 8, max: 10_000 },
  connections: {
    kind: 'count',
    value: 'N',
    help: 'connections that send at the same time',
    default: 2,
    max: 1000,
  },
  markets: { kind: 'count', value: 'N', help: 'markets to trade', default: 12, max: 100_000 },
  kill: { kind: 'switch', help: 'as --spawn, and kill it with SIGKILL in the middle of the load' },
  kills: { kind: 'count', value: 'N', help: 'as --kill, N times', default: 1, max: 1000 },
  ...TARGET_TABLE,
};

export const ENVIRONMENT_HELP = `\
The node's settings (CHAIN_ID, EXCHANGE_ADDRESS, CREDENTIAL_PREFIX, ...) are read from the same
environment variables as the node reads them. Nobody else should trade the same markets meanwhile. A
node of its own runs with RATE_LIMITS=off; one behind --url should, too: what it answers with 429 is
waited for (checking) or ends the run (measuring).`;

export const USAGE = `usage: npm run load -- [options]
Sends signed orders, keeps books of its own, and compares: every answer, book, price and trade; with LEDGER=on
also what every wallet has.
${optionHelp(TABLE)}
${ENVIRONMENT_HELP}
npm run load -- measure --help: the measuring mode, latency at a given rate.`;

/** `now` names the run by default, milliseconds. */
export function parseOptions(argv: readonly string[], now: number): Parsed<LoadOptions> {
  const read = readOptions(TABLE, argv);
  if (!read.ok) return read;
  const { values } = read;
  const kill = values.isOn('kill') || values.text('kills') !== undefined;
  const options: LoadOptions = {
    ...targetOptions(values, now, kill || values.isOn('spawn')),
    orders: values.count('orders'),
    batch: values.count('batch'),
    wallets: values.count('wallets'),
    connections: values.count('connections'),
    markets: values.count('markets'),
    kills: kill ? values.count('kills') : 0,
  };
  const { problems } = values;
  return problems.length === 0
    ? { ok: true, options }
    : { ok: false, problem: problems.join('\n') };
}

/** The options of TARGET_TABLE; `now` names the run by default, milliseconds. */
export function targetOptions(values: OptionValues, now: number, spawn: boolean): TargetOptions {
  const { problems } = values;
  const run = values.text('run') ?? String(now);
  if (!/^[1-9]\d{0,39}$/.test(run)) problems.push('--run must be up to 40 digits, the first not 0');
  const address = values.text('url') ?? 'http://127.0.0.1:3000';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'http:') problems.push(`--url must be an http:// address: "${address}"`);
  const importFile = values.text('import');
  const dataDir = values.text('data-dir');
  if (spawn && values.text('url') !== undefined) {
    problems.push('--url and --spawn exclude one another');
  }
  if (!spawn && (importFile ?? dataDir) !== undefined) {
    problems.push('--import and --data-dir need --spawn or --kill');
  }
  return {
    url: url ?? new URL('http://127.0.0.1:3000'),
    seed: values.text('seed') ?? 'load',
    run,
    catalog: values.text('catalog') ?? importFile,
    importFile,
    spawn,
    dataDir,
  };
}
