/**
 * Ports of a node, and the single choice of their implementations: the clock (of the system, or of a
 * recording), the log (of files, or of a cluster), the authority to write, and the writer (which refuses
 * everything while DATA_DIR cannot be written).
 *
 * Thread: I/O.
 */
import { lastBatch } from '../../engine/reads.ts';
import { takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { makeDirectory } from '../../storage/files/make-directory.ts';
import { removeGiven, settle } from '../../storage/operations/peer-copy.ts';
import { GuardedClock } from '../common/guarded-clock.ts';
import type { NodeClock } from '../common/node-clock.ts';
import type { Config } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';
import { InUse } from '../http/listening.ts';
import type { ToolProtocol } from '../mcp/protocol.ts';
import { PAUSES } from '../orders/intake/pauses.ts';
import type { OpenedPlay } from '../paper/open-play.ts';
import type { Authority } from './authority.ts';
import { refusingWriter } from './refusing-writer.ts';
import { Standalone } from './standalone.ts';
import { OPEN_MS_MAX, Resync, type Start } from './start.ts';
import { openStores, type Stores } from './stores.ts';
import { openTools } from './tool-protocol.ts';
import { openWriter, type Writer, type WriterOptions } from './writer.ts';

export interface Ports {
  readonly clock: NodeClock;
  readonly authority: Authority;
  /** Read-only where DATA_DIR cannot be written; `log` is that of the cluster where there is one. */
  readonly stores: Stores;
  readonly unwritable: string | undefined;
  readonly play: OpenedPlay | undefined;
  /** `undefined` with MCP=off. */
  readonly toolProtocol: ToolProtocol | undefined;
  openWriter(options: WriterOptions): Writer;
}

/** Locks DATA_DIR and opens it. Throws InUse, SettingsRefused, or an Error that names the damage. */
export async function openPorts(start: Start): Promise<Ports> {
  const { config, log } = start.options;
  const { dataDir } = config;
  const warn = (line: string): void => log('warn', line);
  const toolProtocol = await openTools(config, log);
  const play = config.play === '' ? undefined : await openedPlay(config);
  const clock: NodeClock = play?.clock ?? new GuardedClock();
  start.onClose(() => clock.stop());
  lockDirectory(start);
  await startFromPeerCopy(start);
  const opening = openStores({ ...config, segmentBytes: config.logSegmentBytes, log: warn });
  const { problem, stores } = await start.wait('DATA_DIR to open', opening, OPEN_MS_MAX);
  start.onClose(() => start.wait('the stores to close', stores.close()));
  if (problem !== undefined) {
    const unwritable = `DATA_DIR ${dataDir} cannot be written: ${problem}`;
    warn(`${unwritable}; ${PAUSES.directory.begins}`);
    const openRefusing = ({ tables }: WriterOptions): Writer =>
      refusingWriter(unwritable, lastBatch(tables));
    const authority = new Standalone(start, clock);
    return { clock, authority, stores, unwritable, play, toolProtocol, openWriter: openRefusing };
  }
  const writable = { clock, unwritable: undefined, play, toolProtocol, openWriter };
  if (config.cluster === undefined) {
    return { ...writable, authority: new Standalone(start, clock), stores };
  }
  const { ClusterAuthority } = await import('./cluster-authority.ts');
  const authority = await ClusterAuthority.open(start, clock, stores);
  return { ...writable, authority, stores: { ...stores, log: authority.member.log } };
}

async function openedPlay(config: Config): Promise<OpenedPlay> {
  const { openPlay } = await import('../paper/open-play.ts');
  return openPlay(config).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    throw new SettingsRefused(`PLAY=${config.play}: ${error.message}`);
  });
}

function lockDirectory(start: Start): void {
  const { dataDir } = start.options.config;
  try {
    makeDirectory(dataDir);
  } catch (error) {
    throw new Error(`DATA_DIR ${dataDir} cannot be made: ${(error as Error).message}`);
  }
  const lock = takeDirectoryLock(dataDir);
  if (!lock.ok) throw new InUse(lock.detail);
  start.onClose(() => lock.release());
  if (lock.warning !== undefined) start.options.log('warn', lock.warning);
}

/** Moves a complete peer copy to DATA_DIR before anything is read, and then throws Resync. */
async function startFromPeerCopy(start: Start): Promise<void> {
  const { config, log, signal } = start.options;
  removeGiven(config.dataDir);
  let isNew = settle(config.dataDir);
  if (!isNew && config.cluster !== undefined) {
    const { joinCluster } = await import('../cluster/peer-copies.ts');
    isNew = await joinCluster(config, log, signal);
  }
  if (!isNew) return;
  start.requestResync();
  throw new Resync();
}
