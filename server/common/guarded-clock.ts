/**
 * Time of the node: the wall clock, compared with the steady clock at every reading.
 *
 * After a jump of more than five seconds the time continues with the steady clock, and a callback is called. The new
 * wall time is used once the wall clock has run steadily for a minute (a laptop that slept, a clock that was
 * corrected), or when an operator accepts it. A wall clock that jumps back to the right time is trusted at once.
 * Small corrections are followed.
 *
 * Thread: I/O.
 */
import type { NodeClock } from './node-clock.ts';

const JUMP_MS = 5_000;
const ACCEPT_MS = 60_000;
const LOOK_MS = 1_000;
const MS = 1_000;

interface ClockSources {
  readonly wall: () => number;
  readonly steady: () => number;
}

interface ClockJump {
  /** Lead of the wall clock over the steady clock since the jump, and steady time of the jump: milliseconds. */
  offset: number;
  readonly since: number;
}

const SYSTEM: ClockSources = { wall: Date.now, steady: () => performance.now() };

export class GuardedClock implements NodeClock {
  onProblem: NodeClock['onProblem'] = () => undefined;
  private readonly sources: ClockSources;
  private readonly timer: NodeJS.Timeout;
  /** Trusted milliseconds by which the wall clock is ahead of the steady clock. */
  private offset: number;
  /** The last jump; `undefined` while the wall clock is trusted. */
  private jump: ClockJump | undefined;

  constructor(sources = SYSTEM) {
    this.sources = sources;
    this.offset = this.measured();
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** Market time, unix milliseconds. `onProblem` may be called before it returns. */
  readonly now = (): number => {
    const { steady, wall } = this.sources;
    const time = wall();
    if (this.jump === undefined) {
      if (isNear(time - steady(), this.offset)) return time;
      this.look();
    }
    return Math.floor(steady() + this.offset);
  };

  /** Credentials are judged by the guarded time: a signature by a clock that jumped is refused as before. */
  readonly wall = this.now;

  look(): void {
    // Measured again: if the process is suspended between the two readings, the difference looks
    // like a jump.
    const offset = this.measured();
    const { jump } = this;
    if (isNear(offset, this.offset)) this.trust(offset);
    else if (jump === undefined || !isNear(offset, jump.offset)) this.begin(offset);
    else if (this.sources.steady() - jump.since >= ACCEPT_MS) this.trust(offset);
    else jump.offset = offset;
  }

  accept(): number | undefined {
    this.look();
    const jumpMs = this.jumpMs();
    if (this.jump === undefined) return undefined;
    this.trust(this.jump.offset);
    return jumpMs;
  }

  jumpMs(): number {
    return this.jump === undefined ? 0 : Math.round(this.jump.offset - this.offset);
  }

  problem(): string | undefined {
    if (this.jump === undefined) return undefined;
    const jumpMs = this.jumpMs();
    const way = jumpMs > 0 ? 'ahead' : 'back';
    const until = `it has gone on steadily for ${ACCEPT_MS / MS} s, or an operator accepts it`;
    return `the clock of this machine jumped ${secondsOf(jumpMs)} ${way}; it counts once ${until}`;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private measured(): number {
    return this.sources.wall() - this.sources.steady();
  }

  private begin(offset: number): void {
    this.jump = { offset, since: this.sources.steady() };
    this.onProblem(this.problem());
  }

  private trust(offset: number): void {
    const hadJumped = this.jump !== undefined;
    this.offset = offset;
    this.jump = undefined;
    if (hadJumped) this.onProblem(undefined);
  }
}

function isNear(offset: number, other: number): boolean {
  return Math.abs(offset - other) <= JUMP_MS;
}

function secondsOf(ms: number): string {
  return `${Math.round(Math.abs(ms) / MS)} s`;
}

/** Milliseconds by which the newest batch is ahead of the clock; 0 for a small correction. */
export function aheadOf(time: number, now: number): number {
  return time - now > JUMP_MS ? time - now : 0;
}

/** Consequence of that lead, and advice for the operator. */
export function aheadText(aheadMs: number): string {
  return (
    `the log is ${secondsOf(aheadMs)} ahead of the clock of this machine: until the clock is there, batches ` +
    'carry the time of the newest one, and orders that expire before it are refused; if the clock is wrong, ' +
    'set it; if the log is, see docs/guides/operations.md, "The clock"'
  );
}
