/**
 * `npm start`: reads the configuration, runs the node, and ends it on SIGTERM, SIGINT or a failure
 * that it must not outlive.
 */
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Config, describeConfig, readConfig } from './config.ts';
import { keccakIsNative } from './identity/keccak.ts';
import { secp256k1IsNative } from './identity/secp256k1.ts';
import { type RunningNode, startNode } from './node.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 300_000;
/** Enough to show that the disk has room again. */
const PROBE_BYTES = 1 << 20;

async function main(): Promise<void> {
  const read = readConfig(process.env, process.argv.slice(2), availableParallelism());
  if (!read.ok) {
    for (const problem of read.problems) process.stderr.write(`${problem}\n`);
    process.exit(2);
  }
  const { config } = read;
  const log = logger(config);
  log('info', describeConfig(config));
  for (const line of read.warnings) log('warn', line);
  if (!secp256k1IsNative || !keccakIsNative) {
    log('warn', 'no prebuilt secp256k1 or keccak for this machine: signatures are checked slowly');
  }
  if (!config.verifySignatures) {
    log('warn', 'VERIFY_SIGNATURES=off: ANYONE WITH AN API KEY CAN SIGN FOR ANY WALLET OF ITS KEY');
  }
  let node: RunningNode | undefined;
  let isStopping = false;
  const start = async (): Promise<void> => {
    node = await startNode({ config, log, onFatal: (error) => fatal(log, error) });
    log('info', `listening on http://${config.host}:${node.port}, durability ${config.durability}`);
  };
  const stop = async (signal: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    log('info', `${signal}: stopping`);
    await node?.close();
    log('info', 'stopped');
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  await start();
  let waitMs = RETRY_MS;
  while (node?.writable === false && !isStopping) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (!canWrite(config.dataDir) || isStopping) continue;
    // Each attempt interrupts the reads, and may fail for a reason that the probe cannot see.
    waitMs = Math.min(2 * waitMs, RETRY_MS_MAX);
    log('info', 'DATA_DIR can be written again: starting over');
    await node.close();
    await start();
  }
}

function logger(config: Config) {
  const least = LEVELS.indexOf(config.logLevel);
  return (level: 'debug' | 'info' | 'warn' | 'error', line: string): void => {
    if (LEVELS.indexOf(level) < least) return;
    process.stderr.write(`${new Date().toISOString()} ${level} ${line}\n`);
  };
}

/** The journal failed or the memory may be wrong: answers that are on their way leave, no more. */
function fatal(log: ReturnType<typeof logger>, error: Error): void {
  log('error', `stopping: ${error.message}; the next start recovers from the journal`);
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

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
