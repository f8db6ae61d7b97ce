/**
 * `npm start`: reads the configuration, runs the node, and ends it on SIGTERM, SIGINT or a failure
 * that it must not outlive.
 */
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { modeText, type NodeMode } from '../api/node-mode.ts';
import { type Log, type Logger, openLogger } from '../common/logger.ts';
import { packageName, packageVersion } from '../common/package-version.ts';
import { Output } from '../common/terminal.ts';
import { type Config, changedSettings, readConfig, settingsOf } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';
import { hostToReach } from '../http/address.ts';
import { InUse } from '../http/listening.ts';
import { keccakIsNative } from '../identity/keccak.ts';
import { secp256k1IsNative } from '../identity/secp256k1.ts';
import { PAUSES } from '../orders/pauses.ts';
import type { GivenSettings } from './kept-settings.ts';
import { startNode } from './node.ts';
import { NodeAdmin } from './node-admin.ts';
import type { RunningNode } from './running-node.ts';
import { lineBeside } from './second-node.ts';
import { StartOver } from './start.ts';

/** A setting is refused, as wrong usage of a command is. */
const EXIT_REFUSED = 2;
const EXIT_FAILED = 1;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 300_000;
/** Enough to show that the disk has room again. */
const PROBE_BYTES = 1 << 20;

/** Who reads the log may go away; the node stays. */
function ignoreLostReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

async function main(): Promise<void> {
  ignoreLostReaders();
  const stopping = stopOnSignals();
  const cores = availableParallelism();
  const read = readConfig(process.env, process.argv.slice(2), cores);
  const { logFormat: format, logLevel: level } = read.ok ? read.config : read.log;
  const logger = openLogger({ format, level });
  // Whatever ends the process: an exception that nobody caught, too.
  process.on('exit', () => logger.finish());
  const endInVain = async (reasons: readonly string[], code: number): Promise<never> => {
    for (const why of reasons) logger.log('error', why);
    // Nobody shall wonder why it does not start.
    if (level === 'silent') new Output(process.stderr, process.env).lines(reasons);
    await logger.flushed();
    process.exit(code);
  };
  if (!read.ok) return endInVain(read.problems, EXIT_REFUSED);
  const { config } = read;
  const { log } = logger;
  logSettings(log, config, cores);
  for (const line of read.warnings) log('warn', line);
  if (!secp256k1IsNative || !keccakIsNative) {
    log('warn', 'no prebuilt secp256k1 or keccak for this machine: signatures are checked slowly');
  }
  if (!config.verifySignatures) {
    log('warn', 'VERIFY_SIGNATURES=off: ANYONE WITH AN API KEY CAN SIGN FOR ANY WALLET OF ITS KEY');
  }
  try {
    await run(read, logger, stopping);
  } catch (error) {
    const code = error instanceof SettingsRefused ? EXIT_REFUSED : EXIT_FAILED;
    await endInVain([await adviceOn(error, read)], code);
  }
}

/** Nothing is written where all of them have their defaults. */
function logSettings(log: Log, config: Config, cores: number): void {
  if (config.logLevel === 'debug') log('info', 'configuration', { settings: settingsOf(config) });
  else {
    const settings = changedSettings(config, cores);
    if (Object.keys(settings).length === 0) return;
    log('info', 'configuration, where it is not the default', { settings });
  }
}

interface Stopping {
  readonly signal: AbortSignal;
  /** The signal that came. */
  name: string;
}

/** From the first moment: a signal that nobody handles would end the process as it is. */
function stopOnSignals(): Stopping {
  const controller = new AbortController();
  const stopping: Stopping = { signal: controller.signal, name: '' };
  for (const name of ['SIGTERM', 'SIGINT']) {
    process.on(name, () => {
      stopping.name ||= name;
      controller.abort();
    });
  }
  return stopping;
}

/** What went wrong and, where another node is in the way, how to start one beside it. */
async function adviceOn(error: unknown, given: GivenSettings): Promise<string> {
  const why = error instanceof Error ? error.message : String(error);
  if (!(error instanceof InUse)) return why;
  return `${why}; stop it, or start a node beside it: ${await lineBeside(given)}`;
}

/** Runs the node until a signal stops it; rejects with an Error when it must not run. */
async function run(given: GivenSettings, logger: Logger, stopping: Stopping): Promise<void> {
  const { config } = given;
  const { log } = logger;
  const { signal } = stopping;
  const admin = new NodeAdmin(config, logger.dropped);
  void whenAborted(signal).then(() => {
    log('info', `${stopping.name}: stopping`);
    admin.draining();
  });
  // Before recovery, so that it can tell of the start.
  await admin.open((line) => log('error', line));
  if (config.adminPort !== 0) {
    const { adminHost: host, adminPort: port } = config;
    log('info', `admin listener on http://${host}:${port}`, { host, port });
  }
  let waitMs = RETRY_MS;
  while (!signal.aborted) {
    const node = await start(given, logger, signal);
    if (node === 'again') continue;
    if (node === undefined) break;
    admin.tellOf(node);
    if (waitMs === RETRY_MS)
      log('info', `${packageName()} ${packageVersion()} runs`, {
        at: { ...modeLines(config, node.mode()), ...placesOf(config, node.port) },
      });
    if (node.writable) await Promise.race([whenAborted(signal), ...(node.over ? [node.over] : [])]);
    else {
      await whenWritable(config.dataDir, waitMs, signal);
      // Each attempt interrupts the reads, and may fail for a reason that the probe cannot see.
      waitMs = Math.min(2 * waitMs, RETRY_MS_MAX);
      if (!signal.aborted) log('info', PAUSES.directory.ends);
    }
    await node.close();
    admin.tellOf(undefined);
  }
  admin.close();
  log('info', 'stopped');
  await logger.flushed();
  process.exit(0);
}

/** What kind of node it is. */
function modeLines(config: Config, mode: NodeMode): Readonly<Record<string, string>> {
  const isTraded = mode.demo && config.demoTraders;
  const where = mode.cluster ? ' at the node that leads' : '';
  const traders = `seeded ones trade the demo${where} (DEMO_TRADERS=off: none)`;
  return { mode: modeText(mode), ...(isTraded && { traders }) };
}

/** Where to look, and how to stop it. */
function placesOf(config: Config, port: number): Readonly<Record<string, string>> {
  const { adminHost, adminPort, dataDir, host } = config;
  const url = (at: string, number: number): string => {
    const name = hostToReach(at);
    return `http://${name.includes(':') ? `[${name}]` : name}:${number}`;
  };
  return {
    ...(adminPort === 0 ? {} : { page: url(adminHost, adminPort) }),
    api: url(host, port),
    docs: `${url(host, port)}/docs`,
    data: resolve(dataDir),
    stop: `Ctrl+C, or kill ${process.pid}`,
  };
}

/** Undefined when a signal came meanwhile: what was opened is closed again. */
async function start(
  { config, set }: GivenSettings,
  { log }: Logger,
  signal: AbortSignal,
): Promise<RunningNode | 'again' | undefined> {
  try {
    const onFatal = (error: Error): void => fatal(log, error);
    const node = await startNode({ config, set, log, signal, onFatal });
    const { durability, host } = config;
    const { port } = node;
    const mode = modeText(node.mode());
    log('info', `listening on http://${host}:${port}, durability ${durability}, ${mode}`, {
      ...{ host, port, durability, mode },
    });
    return node;
  } catch (error) {
    if (error instanceof StartOver && !signal.aborted) return 'again';
    if (!signal.aborted) throw error;
    if (error !== signal.reason) log('info', (error as Error).message);
    return undefined;
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolves when the directory can be written again, looked at every so often, or at the end. */
async function whenWritable(dataDir: string, waitMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted && canWrite(dataDir)) return;
  }
}

/** The log failed or the memory may be wrong: answers that are on their way leave, no more. */
function fatal(log: Log, error: Error): void {
  log('error', `stopping: ${error.message}; the next start recovers from the log`);
  setTimeout(() => process.exit(1), 100);
}

function canWrite(dataDir: string): boolean {
  const path = join(dataDir, 'probe.tmp');
  try {
    const file = openSync(path, 'w');
    try {
      writeSync(file, Buffer.alloc(PROBE_BYTES, 1));
      fsyncSync(file);
    } finally {
      closeSync(file);
      unlinkSync(path);
    }
    return true;
  } catch {
    return false;
  }
}

void main();
