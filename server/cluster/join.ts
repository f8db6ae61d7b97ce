/**
 * Receives a peer copy where DATA_DIR is empty, or further behind than the shared log reaches. It comes before anything
 * of the directory is read.
 *
 * Thread: the I/O thread.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logDirectory } from '../../storage/log/file-log.ts';
import { Unreachable } from '../../storage/log/log.ts';
import { receive, settle } from '../../storage/operations/peer-copy.ts';
import { NO_TAIL, type ReplicatedLog } from '../../storage/replicated-log/replicated-log.ts';
import type { Log } from '../common/logger.ts';
import { whileAlive } from './while-alive.ts';

export interface Peer {
  readonly node: string;
  /** The newest batch of its log when it started. */
  readonly last: number;
  copy(): AsyncIterable<Buffer>;
  close(): void;
}

export interface JoinOptions {
  readonly dataDir: string;
  readonly replicated: Pick<ReplicatedLog, 'tail'>;
  /** The other nodes that run, in the order in which they are tried. */
  readonly peers: () => Promise<readonly Peer[]>;
  readonly print: Log;
  readonly signal: AbortSignal | undefined;
  readonly restMs?: number;
}

/** File that marks a directory whose log is of no use any more. */
const WANTED = 'joining.wanted';
const TAIL_MS = 5_000;
const REST_MS = 1_000;
const ROUNDS_A_LINE = 10;

/** The next start takes the copy of a peer. */
export function wantCopy(dataDir: string): void {
  writeFileSync(join(dataDir, WANTED), '', { flush: true });
}

export function needsCopy(dataDir: string): boolean {
  return existsSync(join(dataDir, WANTED)) || !existsSync(logDirectory(dataDir));
}

/**
 * Takes the copy of a peer; false where the cluster is empty, so that this node begins with what it has. Waits for a
 * peer as long as there is none, and, where a peer has records, until an operator has begun the log.
 */
export async function takeCopy(options: JoinOptions): Promise<boolean> {
  const { dataDir, print, restMs = REST_MS, signal } = options;
  let problem = '';
  // It may stop, so that an operator can begin the log with what it has.
  let other: Peer | undefined;
  for (let round = 0; ; round++) {
    if (round > 0) await sleep(restMs, undefined, { signal });
    try {
      const { epoch } = await options.replicated.tail(TAIL_MS);
      const peers = await options.peers();
      const isEmpty = epoch === NO_TAIL.epoch;
      if (isEmpty) other ??= peers.find(({ last }) => last > 0);
      if (isEmpty && other === undefined) return false;
      problem = isEmpty
        ? `the log of the cluster is empty, and node ${other!.node} has records: cluster begin`
        : 'no other node of the cluster runs';
      for (const peer of isEmpty ? [] : peers) {
        signal?.throwIfAborted();
        problem = (await problemOf(options, peer)) ?? '';
        if (problem === '') {
          settle(dataDir);
          rmSync(join(dataDir, WANTED), { force: true });
          return true;
        }
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      problem = error.message;
    }
    if (round % ROUNDS_A_LINE === 0) {
      print('warn', `DATA_DIR ${dataDir} waits for the copy of another node: ${problem}`);
    }
  }
}

/** Takes the copy of this peer; returns the reason where that failed. */
async function problemOf(options: JoinOptions, peer: Peer): Promise<string | undefined> {
  const { node } = peer;
  try {
    options.print('info', `taking what node ${node} has`);
    const { sequence } = await receive(whileAlive(peer.copy(), options.signal), options.dataDir);
    options.print('info', `taken from node ${node}: all up to batch ${sequence}`);
    return undefined;
  } catch (error) {
    options.signal?.throwIfAborted();
    return `node ${node}: ${(error as Error).message}`;
  } finally {
    peer.close();
  }
}
