/** `doctor`: checks of this machine and DATA_DIR, with a line for each. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { tableShapes } from '../../engine/tables/tables.ts';
import { SLOW_LIBRARY, signatureLibrary } from '../auth/secp256k1.ts';
import { packageVersion } from '../common/package-version.ts';
import type { Config } from '../config/config.ts';
import { openFilesMax, openFilesWarning } from '../http/limits/open-files.ts';
import { loadUws } from '../http/uws.ts';
import type { Context, Run } from './context.ts';
import { configOf } from './settings.ts';

interface Look {
  readonly state: 'ok' | 'warn' | 'bad';
  readonly text: string;
}

const GIB = 2 ** 30;
const NODE_LEAST = [20, 19] as const;
/** Two segments, two snapshots, and a reserve for the operator to react. */
const DISK_LEAST = GIB;
const CLOCK_MS = 2_000;
const PUBLIC_MODE = 0o077;
const YEAR_LEAST = 2_025;
const NAME_WIDTH = 10;
const PERCENT = 100;
const FULL_PERCENT = 90;
/** Network file systems by the numbers of statfs: LMDB must not be used on them. */
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
]);

const ok = (text: string): Look => ({ state: 'ok', text });
const warn = (text: string): Look => ({ state: 'warn', text });
const bad = (text: string): Look => ({ state: 'bad', text });

const LOOKS: Readonly<Record<string, (dataDir: string, config: Config) => Look>> = {
  node: () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const isNew = major > NODE_LEAST[0] || (major === NODE_LEAST[0] && minor >= NODE_LEAST[1]);
    const text = `${process.version} (${process.platform} ${process.arch}), this package ${packageVersion()}`;
    return isNew ? ok(text) : bad(`${text}: ${NODE_LEAST.join('.')} or newer is needed`);
  },
  http: () => {
    try {
      loadUws();
      return ok('uWebSockets.js loads');
    } catch (error) {
      return bad(`uWebSockets.js: ${(error as Error).message}`);
    }
  },
  signatures: () => {
    if (signatureLibrary !== SLOW_LIBRARY) return ok(`checked by ${signatureLibrary}`);
    return warn('no prebuilt secp256k1 for this machine: some twenty times slower');
  },
  processors: (_, config) => {
    const cores = availableParallelism();
    if (config.workers <= cores) return ok(`${cores}, WORKERS=${config.workers}`);
    return warn(`${cores}, fewer than WORKERS=${config.workers}`);
  },
  memory: (_, config) => {
    const shapes = Object.values(tableShapes(config.capacities));
    const tables = shapes.reduce((sum, bytes) => sum + bytes, 0);
    const text = `${(totalmem() / GIB).toFixed(1)} GiB; full tables take ${(tables / GIB).toFixed(1)} GiB, twice`;
    // Twice, because the projector has tables of its own.
    return 2 * tables < totalmem()
      ? ok(text)
      : warn(`${text}: they fit only as long as they are not full`);
  },
  files: (_, config) => {
    const files = openFilesMax();
    const warning = openFilesWarning(config, files);
    return warning === undefined ? ok(`${files} open files`) : warn(warning);
  },
  lock: () => {
    if (process.platform !== 'linux') return warn('the lock on DATA_DIR sees this machine only');
    const { status } = spawnSync('flock', ['--version'], { stdio: 'ignore' });
    if (status === 0) return ok('the kernel keeps DATA_DIR for one node (flock)');
    return warn('no command flock (util-linux): the lock on DATA_DIR sees this container only');
  },
  directory: (dataDir) => {
    const there = existsSync(dataDir);
    const { R_OK, W_OK, X_OK } = constants;
    try {
      accessSync(there ? dataDir : parentOf(dataDir), R_OK | W_OK | X_OK);
    } catch (error) {
      return bad(`${dataDir}: ${(error as Error).message}`);
    }
    return ok(there ? `${dataDir} can be written` : `${dataDir} is not there yet, and can be made`);
  },
  disk: (dataDir) => {
    const folder = existsSync(dataDir) ? dataDir : parentOf(dataDir);
    const { bavail, blocks, bsize, type } = statfsSync(folder);
    const network = NETWORK.get(type >>> 0);
    if (network !== undefined) return bad(`${network}: LMDB needs a local file system`);
    const free = bavail * bsize;
    const used = Math.round(PERCENT - (PERCENT * bavail) / Math.max(1, blocks));
    const text = `${(free / GIB).toFixed(1)} GiB are free, ${used} % are in use`;
    if (free < DISK_LEAST)
      return bad(`${text}: without room for log and images orders are refused`);
    return used > FULL_PERCENT ? warn(text) : ok(text);
  },
  'node.key': (dataDir) => {
    const found = statSync(join(dataDir, 'node.key'), { throwIfNoEntry: false });
    if (found === undefined) return ok('not there yet: the first start makes it');
    if ((found.mode & PUBLIC_MODE) === 0) return ok('only its owner can read it');
    return bad('others can read it, and a node refuses it: chmod 600');
  },
  clock: (dataDir) => {
    const now = new Date();
    const text = now.toISOString();
    if (now.getUTCFullYear() < YEAR_LEAST) return bad(`${text}: signed requests would be refused`);
    const log = statSync(join(dataDir, 'log'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (log <= now.getTime() + CLOCK_MS) return ok(text);
    return bad(`${text}, but the log was written at ${new Date(log).toISOString()}`);
  },
};

export const doctor: Run = async (context: Context) => {
  const { dataDir, paint, stdout } = context;
  const config = configOf(context);
  const words = { ok: paint.green('ok  '), warn: paint.yellow('warn'), bad: paint.red('bad ') };
  let isFit = true;
  for (const [name, look] of Object.entries(LOOKS)) {
    const { state, text } = look(resolve(dataDir), config);
    if (state === 'bad') isFit = false;
    stdout.line(words[state], ` ${name.padEnd(NAME_WIDTH)} ${text}`);
  }
  return isFit ? 'done' : 'differs';
};

function parentOf(path: string): string {
  let at = dirname(path);
  while (!existsSync(at)) at = dirname(at);
  return at;
}
