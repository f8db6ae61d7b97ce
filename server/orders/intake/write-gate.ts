/**
 * Pauses of orders: log, projector and clock report problems, and orders are accepted when none is left.
 * Cancels are accepted where every reason allows them (pauses.ts). Reads continue.
 *
 * Thread: I/O.
 */
import { saysOutOfFiles } from '../../../storage/files/out-of-files.ts';
import { PAUSES, type Pause, type PauseReason } from './pauses.ts';
import type { Sequencer } from './sequencer.ts';

type PauseSource = Exclude<PauseReason, 'directory' | 'files'>;

export class WriteGate {
  private readonly sequencer: Pick<Sequencer, 'pause'>;
  private readonly log: (level: 'info' | 'warn', line: string) => void;
  private readonly problems = new Map<PauseSource, Pause>();

  constructor(
    sequencer: Pick<Sequencer, 'pause'>,
    log: (level: 'info' | 'warn', line: string) => void,
  ) {
    this.sequencer = sequencer;
    this.log = log;
  }

  report(source: PauseSource, problem: string | undefined): void {
    const before = this.problems.get(source);
    if (problem === undefined) this.problems.delete(source);
    else {
      const reason = saysOutOfFiles(problem) ? 'files' : source;
      this.problems.set(source, { reason, detail: `${source}: ${problem}` });
      this.log('warn', `${source}: ${problem}; ${PAUSES[reason].begins}`);
    }
    const pauses = this.pauses();
    if (before !== undefined && pauses.length === 0) this.log('info', PAUSES[before.reason].ends);
    this.sequencer.pause(
      pauses[0]?.detail,
      pauses.every(({ reason }) => PAUSES[reason].takesCancels),
      pauses.every(({ reason }) => reason === 'operator') ? 'paused' : 'unavailable',
    );
  }

  pauses(): readonly Pause[] {
    return [...this.problems.values()];
  }
}
