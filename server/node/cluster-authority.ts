/**
 * Authority of a member of a cluster: it leads while the others let it, and batches have the time of the cluster, which
 * does not depend on the clock of a machine. Loaded only with CLUSTER.
 *
 * Thread: I/O. Not here: who leads (server/cluster).
 */
import type { Tables } from '../../engine/tables/tables.ts';
import { type Member, openMember } from '../cluster/member.ts';
import type { NodeClock } from '../common/node-clock.ts';
import type { Config } from '../config/config.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import type { Pause } from '../orders/intake/pauses.ts';
import type { Authority, WriterControls } from './authority.ts';
import { factsOf, holderOf, settleSettings } from './retained-settings.ts';
import type { Start } from './start.ts';
import { epochSettings } from './startup-commands.ts';
import type { Stores } from './stores.ts';

export class ClusterAuthority implements Authority {
  readonly member: Member;
  private readonly start: Start;
  private readonly clock: NodeClock;

  private constructor(start: Start, clock: NodeClock, member: Member) {
    this.start = start;
    this.clock = clock;
    this.member = member;
  }

  static async open(start: Start, clock: NodeClock, stores: Stores): Promise<ClusterAuthority> {
    const { config, log } = start.options;
    const member = await openMember(config, stores, log);
    void member.over.then(() => start.requestResync());
    start.onClose(() => start.wait('the log of the cluster to close', member.close()));
    return new ClusterAuthority(start, clock, member);
  }

  leads(): boolean {
    return this.member.leads();
  }

  whenLeading(begin: () => void | Promise<void>): Promise<void> {
    this.member.whenLeading(() => void begin());
    return Promise.resolve();
  }

  whenFollowing(end: () => void): void {
    this.member.whenFollowing(end);
  }

  compare(config: Config, isKeyless: () => boolean): Promise<void> {
    this.member.isKeyless = isKeyless;
    return this.member.compare(config);
  }

  batchClock(tables: Tables): () => number {
    return this.member.clockOf(tables);
  }

  connect({ projector }: WriterControls): void {
    this.member.log.onStored = (sequence) => projector.reach(sequence);
  }

  /** Nothing is applied but records of the node that leads. */
  prepare({ sequencer }: WriterControls): void {
    sequencer.follow(true);
  }

  async begin({ gate, projector, sequencer, tables }: WriterControls): Promise<void> {
    const { member, start } = this;
    const { config, set = new Set(), signal } = start.options;
    projector.start();
    member.join(
      tables,
      sequencer,
      epochSettings(config),
      {
        onProblem: (problem) => gate.report('etcd', problem),
        onFatal: (error) => sequencer.stop(error),
      },
      {
        pauses: () => gate.pauses(),
        wall: this.clock.wall,
        together: (submit) => sequencer.together(submit),
      },
    );
    await start.wait('somebody to lead the cluster', member.settled(signal));
    // The first record of the cluster may have arrived meanwhile.
    start.settle(settleSettings({ config, set }, factsOf(tables, holderOf(config), undefined)));
  }

  whenLeadIsKnown(begun: Promise<void>): Promise<void> {
    return begun;
  }

  takesFailure(error: Error): boolean {
    return this.member.takesFailure(error);
  }

  intake(own: OrderIntake): OrderIntake {
    return this.member.intakeOf(own);
  }

  pauses(): readonly Pause[] {
    return this.member.pauses();
  }

  /** The batches of the node that leads expire what is due. */
  async expireDue(): Promise<void> {}

  stopFollowing(): Promise<void> {
    return this.member.stopFollowing();
  }

  leave(): Promise<void> {
    return this.member.leave();
  }
}
