/**
 * Options of a node, and the interface of a running one to its process.
 *
 * Thread: the I/O thread.
 */
import type { AdminOperations } from '../admin/listener.ts';
import type { NodeFacts } from '../admin/summary.ts';
import type { Log } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import type { SourceSender } from '../orders/intake/internal-commands.ts';
import type { NodeMode } from '../routes/node-mode.ts';

export interface NodeOptions {
  readonly config: Config;
  /** Variables that are set, which must not contradict those that DATA_DIR retains; none by default. */
  readonly set?: ReadonlySet<string>;
  readonly log: Log;
  /** The node cannot go on: the log failed, or the memory may be wrong. */
  readonly onFatal: (error: Error) => void;
  /** Another worker file, for tests of the death of a worker. */
  readonly workerFile?: URL;
  /** Ends the start: what is open closes, and startNode rejects. */
  readonly signal?: AbortSignal;
}

export interface RunningNode {
  readonly port: number;
  mode(): NodeMode;
  /** False: the data directory cannot be written; reads are served, orders are refused. */
  readonly writable: boolean;
  facts(): NodeFacts;
  readonly source: SourceSender;
  /** Accepts a clock that jumped. Returns the jump in milliseconds; `undefined` where there was none. */
  acceptClock(): number | undefined;
  /** `undefined` where nothing can be written. */
  readonly operations: AdminOperations | undefined;
  /** Resolves when the node has to start again, because another one leads. */
  readonly over: Promise<Error> | undefined;
  /** Stops accepting, finishes what is in flight, writes a snapshot, closes. */
  close(): Promise<void>;
}
