/**
 * What a node is started with, and what it is to its process once it runs.
 *
 * Thread: the I/O thread.
 */
import type { AdminOperations } from '../admin/listener.ts';
import type { NodeFacts } from '../admin/summary.ts';
import type { NodeMode } from '../api/node-mode.ts';
import type { Log } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import type { SourceSender } from '../orders/own-commands.ts';

export interface NodeOptions {
  readonly config: Config;
  /** Variables that are set: they must not contradict what DATA_DIR keeps; none by default. */
  readonly set?: ReadonlySet<string>;
  readonly log: Log;
  /** The node cannot go on: the log failed, or the memory may be wrong. */
  readonly onFatal: (error: Error) => void;
  /** Another worker file, for tests of what happens when one dies. */
  readonly workerFile?: URL;
  /** Gives up the start: what was opened is closed, and startNode rejects. */
  readonly signal?: AbortSignal;
}

export interface RunningNode {
  readonly port: number;
  /** What it is at this moment. */
  mode(): NodeMode;
  /** False: the data directory cannot be written; reads are served, orders are refused. */
  readonly writable: boolean;
  /** What it tells of itself at this moment. */
  facts(): NodeFacts;
  /** Runs what a source did: levels, prints and fills. */
  readonly source: SourceSender;
  /** Takes a clock that jumped for right: by how many milliseconds, or undefined where it has not. */
  acceptClock(): number | undefined;
  /** What its operator may read and change; undefined where nothing can be written. */
  readonly operations: AdminOperations | undefined;
  /** Resolves when it has to start again, because another node of its cluster leads. */
  readonly over: Promise<Error> | undefined;
  /** Stops accepting, finishes what is in flight, writes an image, closes. */
  close(): Promise<void>;
}
