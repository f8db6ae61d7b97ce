/** `cluster begin`: begins the empty log of a cluster with the records of a directory. */
import { existsSync } from 'node:fs';
import { takeDirectoryLock } from '../../storage/files/directory-lock.ts';
import { AuditLog } from '../../storage/operations/audit-log.ts';
import { type NewestRecords, newestRecords } from '../../storage/operations/newest-records.ts';
import { ANNOUNCED_MS } from '../../storage/replicated-log/announcer.ts';
import { Announcements } from '../cluster/announced.ts';
import { beginWith, begunTail, type Stand, standsOf } from '../cluster/begin.ts';
import { openSharedLog } from '../cluster/shared-log.ts';
import type { Log } from '../common/logger.ts';
import { aligned } from '../common/terminal.ts';
import { type Context, Refused, type Run } from './context.ts';
import { operatorName } from './operator-name.ts';
import { configOf, textOf } from './settings.ts';

export const begin: Run = async (context, _, options) => {
  const dataDir = textOf(options, 'from') ?? '';
  if (dataDir === '') throw new Refused('which directory? --from DIR, the DATA_DIR of one node');
  if (!existsSync(dataDir)) throw new Refused(`--from ${dataDir}: there is no such directory`);
  const config = configOf({ ...context, dataDir });
  const { CLUSTER: name } = context.env;
  if (config.cluster === undefined) {
    throw new Refused('CLUSTER must be set, with the settings of the node that will run on it');
  }
  const lock = takeDirectoryLock(dataDir);
  if (!lock.ok) throw new Refused(lock.detail, 'inUse');
  const { progress, stderr, stdout } = context;
  const print: Log = (_level, line) => stderr.line(line);
  const { replicated } = await openSharedLog(config, print);
  try {
    const begun = await begunTail(replicated);
    if (begun !== undefined) {
      const end = `batch ${begun.sequence}, digest ${digestText(begun.digest)}`;
      throw new Error(`the log of ${name} is not empty: it ends with ${end}. Start the nodes`);
    }
    const heardAt = performance.now() + ANNOUNCED_MS;
    const { capacities } = config;
    const onProgress = (done: number, total: number): void => progress.show('check', done, total);
    const log = (line: string): void => stderr.line(line);
    const own = await newestRecords({ dataDir, capacities, log, onProgress });
    progress.clear();
    if (own === undefined) {
      throw new Error(`${dataDir} has no records: start its node, and the log begins by itself`);
    }
    const announcements = new Announcements(replicated, config.cluster.name, print);
    const { epoch, stands } = await standsOf(announcements, own, heardAt);
    for (const line of table(dataDir, own, stands)) stdout.line(line);
    refuse(dataDir, stands);
    const tail = await audited(context, dataDir, { name, batch: own.sequence }, () =>
      beginWith(replicated, own, epoch),
    );
    stdout.line(
      `the log of ${name} begins with batch ${tail.sequence}, digest ${digestText(tail.digest)}, ` +
        `epoch ${tail.epoch}: start the node of ${dataDir}, then those that do not run`,
    );
    return 'done';
  } finally {
    await replicated.close();
    lock.release();
  }
};

/** Digest in the form of `cluster status`. */
function digestText(digest: number): string {
  return (digest >>> 0).toString(16);
}

function table(dataDir: string, own: NewestRecords, stands: readonly Stand[]): string[] {
  const row = (node: string, at: Partial<Pick<Stand, 'sequence' | 'digest'>>): string[] => [
    node,
    at.sequence === undefined ? '-' : `${at.sequence}`,
    at.digest === undefined ? '-' : digestText(at.digest),
  ];
  return [
    ...aligned([
      ['node', 'batch', 'digest', ''],
      [...row(dataDir, own), 'the log would begin with it'],
      ...stands.map((stand) => [...row(stand.node, stand), stand.says]),
    ]),
    ...(stands.length === 0 ? ['no node runs that could be compared with it'] : []),
  ];
}

function refuse(dataDir: string, stands: readonly Stand[]): void {
  const blocking = stands.filter(({ blocks }) => blocks);
  if (blocking.length === 0) return;
  const what = blocking.map(({ address, node, says }) => `node ${node} at ${address} ${says}`);
  throw new Error(
    `${what.join('; ')}. Nothing has changed. Begin with the directory that has most; a node whose records are to be ` +
      `given up is stopped first, and its directory put away. ${dataDir} is as it was`,
  );
}

async function audited<T>(
  { stderr }: Context,
  dataDir: string,
  body: object,
  change: () => Promise<T>,
): Promise<T> {
  const audit = new AuditLog(dataDir);
  try {
    const actor = `${operatorName()}, command line`;
    const id = await audit.begin({ actor, route: 'cluster begin', body });
    const result = await change().catch(async (error: Error) => {
      await audit.end(id, 409, error.message);
      throw error;
    });
    await audit.end(id, 200).catch((error: Error) => stderr.line(`audit log: ${error.message}`));
    return result;
  } finally {
    await audit.close();
  }
}
