/**
 * The port that decides when this node writes, and by which clock batches are stamped. Implementations: standalone.ts,
 * and cluster-authority.ts with CLUSTER.
 *
 * Thread: I/O.
 */
import type { Tables } from '../../engine/tables/tables.ts';
import type { Member } from '../cluster/member.ts';
import type { Config } from '../config/config.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import type { Pause } from '../orders/intake/pauses.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import type { WriteGate } from '../orders/intake/write-gate.ts';
import type { ProjectorService } from './projector-service.ts';

export interface WriterControls {
  readonly tables: Tables;
  readonly sequencer: Sequencer;
  readonly gate: WriteGate;
  readonly projector: ProjectorService;
}

export interface Authority {
  /** `undefined` without CLUSTER. */
  readonly member: Member | undefined;
  /** True: this node decides requests and writes batches of its own. */
  leads(): boolean;
  /**
   * Calls `begin` at each beginning of a lead, and at once while this node leads. A standalone node leads once and
   * always; there the promise settles with that call. Throws what `begin` throws at once.
   */
  whenLeading(begin: () => void | Promise<void>): Promise<void>;
  /** Calls `end` each time that another node takes the lead. */
  whenFollowing(end: () => void): void;
  /** Throws SettingsRefused where settings contradict those of the cluster. */
  compare(config: Config, isKeyless: () => boolean): Promise<void>;
  /** Returns the clock that stamps batches, in unix milliseconds. */
  batchClock(tables: Tables): () => number;
  /**
   * Steps of a start, in this order: before anything runs; once the tables are audited; to put the
   * settings into force, or to join the cluster.
   */
  connect(writer: WriterControls): void;
  prepare(writer: WriterControls): void;
  begin(writer: WriterControls): Promise<void>;
  /** Resolves once it is known whether this node leads. @param begun what `begin` returned */
  whenLeadIsKnown(begun: Promise<void>): Promise<void>;
  /** Takes over a failure that only means that another node leads; false: the failure is fatal. */
  takesFailure(error: Error): boolean;
  /** Returns the intake of requests; `own` places them here. */
  intake(own: OrderIntake): OrderIntake;
  pauses(): readonly Pause[];
  expireDue(writer: WriterControls): Promise<void>;
  /** Stops records of other nodes, before requests are drained. */
  stopFollowing(): Promise<void>;
  /** Gives up the lead, once nothing is under way. */
  leave(): Promise<void>;
}
