/**
 * The command line of the load tool.
 * Thread: the tool's only one.
 * Non-goals: the node's own configuration (server/config.ts reads it from the environment).
 */
import { parseArgs } from 'node:util';

export interface LoadOptions {
  readonly url: URL;
  readonly orders: number;
  readonly batch: number;
  readonly wallets: number;
  readonly connections: number;
  readonly markets: number;
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
  /** How many times it kills that node in the middle of the load. */
  readonly kills: number;
  /** undefined means a temporary directory. */
  readonly dataDir: string | undefined;
}

type ParsedOptions =
  | { readonly ok: true; readonly options: LoadOptions }
  | { readonly ok: false; readonly problem: string };

export const USAGE = `usage: npm run load -- [options]
  --orders N        orders to send (2000)
  --batch N         orders in a request (15)
  --wallets N       wallets that trade (8)
  --connections N   connections that send at the same time (2)
  --markets N       markets to trade (12)
  --seed TEXT       draws the same orders again (load)
  --run DIGITS      wallets and salts; new by default, so that a load can be repeated
  --url URL         a running node (http://127.0.0.1:3000)
  --catalog FILE    trade the markets of this catalog file (default: the demo catalog)
  --spawn           run a node for this load, on a directory of its own
  --kill            as --spawn, and kill it with SIGKILL in the middle of the load
  --kills N         as --kill, N times
  --data-dir DIR    directory of that node (default: a temporary one)
  --import FILE     import this catalog file into it first, and trade its markets
The node's settings (CHAIN_ID, EXCHANGE_ADDRESS, CREDENTIAL_PREFIX, ...) are read from the same
environment variables as the node reads them. Nobody else should trade the same markets meanwhile. A
node of its own runs with RATE_LIMITS=off, as one behind --url should for more than 500 batches/s.`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

/** `now` names the run by default, milliseconds. */
export function parseOptions(argv: readonly string[], now: number): ParsedOptions {
  const problems: string[] = [];
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      strict: true,
      options: {
        ...{ orders: text, batch: text, wallets: text, connections: text, markets: text },
        ...{ seed: text, run: text, url: text, catalog: text, spawn: flag, kill: flag },
        ...{ kills: text, 'data-dir': text, import: text, help: flag },
      },
    }));
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
  if (values.help === true) return { ok: false, problem: 'help' };
  const string = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const count = (name: string, fallback: number, max: number): number => {
    const value = string(name) ?? String(fallback);
    if (/^[1-9]\d{0,8}$/.test(value) && Number(value) <= max) return Number(value);
    problems.push(`--${name} must be a whole number from 1 to ${max}, it is "${value}"`);
    return fallback;
  };
  const run = string('run') ?? String(now);
  if (!/^[1-9]\d{0,39}$/.test(run)) problems.push('--run must be up to 40 digits, the first not 0');
  const address = string('url') ?? 'http://127.0.0.1:3000';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'http:') problems.push(`--url must be an http:// address: "${address}"`);

  const kill = values.kill === true || values.kills !== undefined;
  const kills = kill ? count('kills', 1, 1000) : 0;
  const spawn = kill || values.spawn === true;
  const importFile = string('import');
  const dataDir = string('data-dir');
  if (spawn && string('url') !== undefined) problems.push('--url and --spawn exclude one another');
  if (!spawn && (importFile ?? dataDir) !== undefined) {
    problems.push('--import and --data-dir need --spawn or --kill');
  }
  const options: LoadOptions = {
    url: url ?? new URL('http://127.0.0.1:3000'),
    orders: count('orders', 2000, 100_000_000),
    batch: count('batch', 15, 5000),
    wallets: count('wallets', 8, 10_000),
    connections: count('connections', 2, 1000),
    markets: count('markets', 12, 100_000),
    seed: string('seed') ?? 'load',
    run,
    catalog: string('catalog') ?? importFile,
    importFile,
    spawn,
    kills,
    dataDir,
  };
  return problems.length === 0
    ? { ok: true, options }
    : { ok: false, problem: problems.join('\n') };
}
