/**
 * Whether there is room for more: the log and the follower tell when they can't write, and nothing is taken
 * until both can again. Reads go on.
 *
 * Thread: the I/O thread.
 */
import type { Sequencer } from './sequencer.ts';

export class Room {
  private readonly sequencer: Pick<Sequencer, 'pause'>;
  private readonly log: (level: 'info' | 'warn', line: string) => void;
  private readonly problems = new Map<string, string>();

  constructor(
    sequencer: Pick<Sequencer, 'pause'>,
    log: (level: 'info' | 'warn', line: string) => void,
  ) {
    this.sequencer = sequencer;
    this.log = log;
  }

  /** @param problem why `who` cannot write; undefined = it can */
  tell(who: 'log' | 'follower', problem: string | undefined): void {
    const before = this.problems.size;
    if (problem === undefined) this.problems.delete(who);
    else this.problems.set(who, problem);
    if (problem !== undefined) {
      this.log('warn', `${who}: ${problem}; reads only, until there is room again`);
    }
    const [first] = this.problems.values();
    if (first === undefined && before > 0)
      this.log('info', 'there is room again: orders are taken');
    this.sequencer.pause(first);
  }
}
