/**
 * Options of a node, and the interface of a running one to its process. Types only.
 *
 * Thread: I/O.
 */
import type { AdminOperations } from '../admin/listener.ts';
import type { NodeFacts } from '../admin/summary.ts';
import type { Log } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import type { SourceSender } from '../orders/intake/internal-commands.ts';
import type { NodeMode } from '../routes/node-mode.ts';

export interface NodeOptions {
  readonly config: Config;
  /**
   * Names of the settings that are set, which must not contradict those that DATA_DIR retains; none by
   * default.
   */
  readonly set?: ReadonlySet<string>;
  readonly log: Log;
  /** Called when the node cannot continue: the log failed, or the memory may be wrong. */
  readonly onFatal: (error: Error) => void;
  /** Replaces the worker file in tests of the death of a worker. */
  readonly workerFile?: URL;
  /** Ends the start: open services close, and startNode rejects. */
  readonly signal?: AbortSignal;
}

export interface RunningNode {
  readonly port: number;
  /** The trading page is served. */
  readonly hasPage: boolean;
  mode(): NodeMode;
  /** False when the data directory cannot be written; reads are served, orders are refused. */
  readonly writable: boolean;
  facts(): NodeFacts;
  readonly source: SourceSender;
  /** Accepts a clock after a jump. Returns the milliseconds of the jump; `undefined` without one. */
  acceptClock(): number | undefined;
  readonly operations: AdminOperations | undefined;
  /** Resolves when the node has to resync, because another one leads. */
  readonly over: Promise<Error> | undefined;
  /** Refuses new requests, finishes those in flight, writes a snapshot, closes. */
  close(): Promise<void>;
}
