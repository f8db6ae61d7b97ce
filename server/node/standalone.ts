/**
 * Authority of a node without CLUSTER: it leads always, by its own clock, which pauses orders while it is stale.
 *
 * Thread: I/O.
 */
import { earliestDue } from '../../engine/due.ts';
import { engineTime } from '../../engine/reads.ts';
import { aheadOf, aheadText } from '../common/guarded-clock.ts';
import type { NodeClock } from '../common/node-clock.ts';
import { applyCommands } from '../orders/intake/internal-commands.ts';
import type { OrderIntake } from '../orders/intake/order-intake.ts';
import type { Pause } from '../orders/intake/pauses.ts';
import type { Authority, WriterControls } from './authority.ts';
import type { Start } from './start.ts';
import { applyConfiguration } from './startup-commands.ts';

export class Standalone implements Authority {
  readonly member = undefined;
  private readonly start: Start;
  private readonly clock: NodeClock;

  constructor(start: Start, clock: NodeClock) {
    this.start = start;
    this.clock = clock;
  }

  leads(): boolean {
    return true;
  }

  whenLeading(begin: () => void | Promise<void>): Promise<void> {
    return Promise.resolve(begin());
  }

  whenFollowing(): void {}

  async compare(): Promise<void> {}

  batchClock(): () => number {
    return this.clock.now;
  }

  connect({ gate, tables }: WriterControls): void {
    const { log } = this.start.options;
    this.clock.onProblem = (problem) => {
      gate.report('clock', problem);
      const aheadMs = aheadOf(engineTime(tables), this.clock.now());
      if (problem === undefined && aheadMs > 0) log('warn', aheadText(aheadMs));
    };
  }

  prepare({ gate }: WriterControls): void {
    const problem = this.clock.problem();
    if (problem !== undefined) gate.report('clock', problem);
  }

  async begin({ sequencer, tables }: WriterControls): Promise<void> {
    const applied = applyConfiguration(this.start.options.config, tables, sequencer);
    await this.start.wait('the workers to take the configuration', applied);
  }

  async whenLeadIsKnown(): Promise<void> {}

  takesFailure(): boolean {
    return false;
  }

  intake(own: OrderIntake): OrderIntake {
    return own;
  }

  pauses(): readonly Pause[] {
    return [];
  }

  async expireDue({ sequencer, tables }: WriterControls): Promise<void> {
    const earliest = earliestDue(tables);
    if (earliest === 0 || earliest > this.clock.now()) return;
    const expired = applyCommands(sequencer, new Int32Array(0));
    await this.start.wait('what was due while the node was down', expired);
  }

  async stopFollowing(): Promise<void> {}

  async leave(): Promise<void> {}
}
