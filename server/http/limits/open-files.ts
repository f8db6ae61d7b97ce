/**
 * Limit of open files of this process, and the bound of connections that follows from it.
 *
 * Pure except one read at start.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionBounds } from './connection-counts.ts';

/**
 * Kept free for other files: log segments, snapshots, LMDB, threads and their pipes, a catalog being loaded,
 * connections closed on accept.
 */
const RESERVED = 512;

/** Assumed where the system has no answer: the lowest usual limit. */
const ASSUMED = 1024;

const UNLIMITED = 2 ** 30;

/** Soft limit of open files; Node raises it to the hard one when it starts. */
export function openFilesMax(): number {
  try {
    return readLimit(readFileSync('/proc/self/limits', 'latin1'));
  } catch {
    return ASSUMED; // no Linux
  }
}

/**
 * @param text of /proc/self/limits
 * @internal Tests read limits that this machine lacks.
 */
export function readLimit(text: string): number {
  const soft = /^Max open files +(\d+|unlimited)/m.exec(text)?.[1];
  if (soft === 'unlimited') return UNLIMITED;
  return soft === undefined ? ASSUMED : Number(soft);
}

interface Wanted {
  readonly connectionsMax: number;
  readonly connectionsPerAddress: number;
  readonly connectionsOpenedPerSecond: number;
  readonly rateLimits: boolean;
  readonly trustProxy: number;
}

/** Connections that a limit of open files allows. */
function connectionsWithin(filesMax: number): number {
  return filesMax - Math.min(RESERVED, Math.floor(filesMax / 2));
}

/** Warning that the limit of open files allows fewer connections than the setting. */
export function openFilesWarning(
  { connectionsMax }: Pick<Wanted, 'connectionsMax'>,
  filesMax: number,
): string | undefined {
  const all = connectionsWithin(filesMax);
  if (all >= connectionsMax) return undefined;
  const least = connectionsMax + RESERVED;
  return (
    `${filesMax} open files (ulimit -n) allow ${all} connections, not CONNECTIONS_MAX=${connectionsMax}: ` +
    `raise the limit to ${least}, or lower the setting`
  );
}

export function connectionBounds(wanted: Wanted, filesMax: number): ConnectionBounds {
  const all = Math.min(wanted.connectionsMax, connectionsWithin(filesMax));
  // Behind proxies every connection is one of theirs.
  if (!wanted.rateLimits || wanted.trustProxy > 0) return { all, perAddress: undefined };
  const open = Math.min(wanted.connectionsPerAddress, Math.ceil(all / 2));
  return { all, perAddress: { open, openedPerSecond: wanted.connectionsOpenedPerSecond } };
}
