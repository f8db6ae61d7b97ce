/**
 * Process of a node: reads the configuration, runs the node, and ends it on SIGTERM, SIGINT or a fatal
 * failure.
 *
 * Thread: I/O. Not here: the services of a node (assembly.ts).
 */
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SLOW_LIBRARY, signatureLibrary } from '../auth/secp256k1.ts';
import { backOffMs } from '../common/back-off.ts';
import { type Log, type Logger, openLogger } from '../common/logger.ts';
import { packageName, packageVersion } from '../common/package-version.ts';
import { Output } from '../common/terminal.ts';
import { type Config, changedSettings, readConfig, settingsOf } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';
import { hostToReach } from '../http/address.ts';
import { openFilesMax, openFilesWarning } from '../http/limits/open-files.ts';
import { InUse } from '../http/listening.ts';
import { PAUSES } from '../orders/intake/pauses.ts';
import { modeText, type NodeMode } from '../routes/node-mode.ts';
import { startNode } from './node.ts';
import { NodeAdmin } from './node-admin.ts';
import type { GivenSettings } from './retained-settings.ts';
import type { RunningNode } from './running-node.ts';
import { lineBeside } from './second-node.ts';
import { Resync } from './start.ts';

/** Exit code of a refused setting, as of wrong usage. */
const EXIT_REFUSED = 2;
const EXIT_FAILED = 1;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 300_000;
const PROBE_BYTES = 1 << 20;

/** The reader of stdout or stderr may disconnect; the node continues. */
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
  // Also after an uncaught exception.
  process.on('exit', () => logger.finish());
  const endInVain = async (reasons: readonly string[], code: number): Promise<never> => {
    for (const why of reasons) logger.log('error', why);
    // The reason is printed even where the log is silent.
    if (level === 'silent') new Output(process.stderr, process.env).lines(reasons);
    await logger.flushed();
    process.exit(code);
  };
  if (!read.ok) return endInVain(read.problems, EXIT_REFUSED);
  const { config } = read;
  const { log } = logger;
  logSettings(log, config, cores);
  for (const line of read.warnings) log('warn', line);
  if (signatureLibrary === SLOW_LIBRARY) {
    log('warn', 'no prebuilt secp256k1 for this machine: signatures are checked slowly');
  } else log('info', `signatures are checked by ${signatureLibrary}`);
  const fewFiles = openFilesWarning(config, openFilesMax());
  if (fewFiles !== undefined) log('warn', fewFiles);
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

function logSettings(log: Log, config: Config, cores: number): void {
  if (config.logLevel === 'debug') {
    log('info', 'configuration', { settings: settingsOf(config) });
    return;
  }
  const settings = changedSettings(config, cores);
  if (Object.keys(settings).length === 0) return;
  log('info', 'configuration, where it is not the default', { settings });
}

interface Stopping {
  readonly signal: AbortSignal;
  /** Name of the first signal; '' before. */
  name: string;
}

/** A signal without a handler ends the process at once, so handlers come first. */
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

/** Returns the reason and, where another node has the port or the directory, a line that starts one beside it. */
async function adviceOn(error: unknown, given: GivenSettings): Promise<string> {
  const why = error instanceof Error ? error.message : String(error);
  if (!(error instanceof InUse)) return why;
  return `${why}; stop it, or start a node beside it: ${await lineBeside(given)}`;
}

async function run(given: GivenSettings, logger: Logger, stopping: Stopping): Promise<void> {
  const { config } = given;
  const { log } = logger;
  const { signal } = stopping;
  const admin = new NodeAdmin(config, logger.dropped);
  void whenAborted(signal).then(() => {
    log('info', `${stopping.name}: stopping`);
    admin.draining();
  });
  // Before recovery, so that the listener reports the start.
  await admin.open((line) => log('error', line));
  if (config.adminPort !== 0) {
    const { adminHost: host, adminPort: port } = config;
    log('info', `admin listener on http://${host}:${port}`, { host, port });
  }
  let pauses = 0;
  while (!signal.aborted) {
    const node = await start(given, logger, signal);
    if (node === 'again') continue;
    if (node === undefined) break;
    admin.report(node);
    if (pauses === 0)
      log('info', `${packageName()} ${packageVersion()} runs`, {
        at: placesOf(config, node),
      });
    if (node.writable) await Promise.race([whenAborted(signal), ...(node.over ? [node.over] : [])]);
    else {
      pauses += 1;
      await whenWritable(config.dataDir, backOffMs(pauses, RETRY_MS, RETRY_MS_MAX), signal);
      // Each attempt interrupts the reads, and may fail for a reason that the probe cannot see.
      if (!signal.aborted) log('info', PAUSES.directory.ends);
    }
    await node.close();
    admin.report(undefined);
  }
  await admin.close();
  log('info', 'stopped');
  await logger.flushed();
  process.exit(0);
}

function modeLines(config: Config, mode: NodeMode): Readonly<Record<string, string>> {
  const isTraded = mode.demo && config.demoTraders;
  const where = mode.cluster ? ' at the node that leads' : '';
  const traders = `seeded ones trade the demo${where} (DEMO_TRADERS=off: none)`;
  return { mode: modeText(mode), ...(isTraded && { traders }) };
}

/** Lines of a start: the trading page is what most people look for. */
function placesOf(config: Config, node: RunningNode): Readonly<Record<string, string>> {
  const { adminHost, adminPort, dataDir, host } = config;
  const { hasPage, port } = node;
  const url = (at: string, number: number): string => {
    const name = hostToReach(at);
    return `http://${name.includes(':') ? `[${name}]` : name}:${number}`;
  };
  const page = adminPort === 0 ? {} : { page: url(adminHost, adminPort) };
  return {
    ...(hasPage && { app: `${url(host, port)}/app` }),
    ...modeLines(config, node.mode()),
    ...page,
    api: url(host, port),
    docs: `${url(host, port)}/docs`,
    data: resolve(dataDir),
    stop: `Ctrl+C, or kill ${process.pid}`,
  };
}

/** Returns `undefined` after a signal, and `again` after a resync request; everything is closed then. */
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
    const fields = { host, port, durability, mode };
    log('info', `listening on http://${host}:${port}, durability ${durability}, ${mode}`, fields);
    return node;
  } catch (error) {
    if (error instanceof Resync && !signal.aborted) return 'again';
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

async function whenWritable(dataDir: string, waitMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted && canWrite(dataDir)) return;
  }
}

/** Ends the process after a failure of the log or of the memory. Answers in flight have a moment to leave. */
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
