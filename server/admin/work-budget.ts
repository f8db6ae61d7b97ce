/**
 * Time budget of the I/O thread for answers of the admin listener. Without it a client could block the thread
 * with scrapes alone. Beyond the budget the last answer is sent again.
 *
 * Thread: I/O. The caller passes the clock.
 */

/** Long-run share of the thread for making answers. */
const SHARE = 0.05;
/** Milliseconds that may be used in advance: some thirty scrapes at once. */
const SAVED_MS_MAX = 200;

export class WorkBudget<T> {
  private readonly elapsed: () => number;
  private savedMs = SAVED_MS_MAX;
  private countedAt: number;
  private readonly last = new Map<string, T>();
  /** Answers in progress; further requests wait for the same one. */
  private readonly making = new Map<string, Promise<T>>();

  /** @param elapsed milliseconds of a monotonic clock */
  constructor(elapsed: () => number) {
    this.elapsed = elapsed;
    this.countedAt = elapsed();
  }

  answer(name: string, make: () => T | Promise<T>): T | Promise<T> {
    const now = this.elapsed();
    this.savedMs = Math.min(SAVED_MS_MAX, this.savedMs + SHARE * (now - this.countedAt));
    this.countedAt = now;
    const making = this.making.get(name);
    if (making !== undefined) return making;
    const last = this.last.get(name);
    if (this.savedMs <= 0 && last !== undefined) return last;
    const made = this.make(name, make, now);
    this.making.set(name, made);
    return made;
  }

  /**
   * Charges the budget with elapsed time. Waiting is included: it cannot be separated, and it is short. One
   * answer is charged at most SAVED_MS_MAX: a longer one means a suspended machine, and must not block
   * answers for a minute.
   */
  private async make(name: string, make: () => T | Promise<T>, beganAt: number): Promise<T> {
    try {
      const answer = await make();
      this.last.set(name, answer);
      return answer;
    } finally {
      this.making.delete(name);
      this.savedMs -= Math.min(SAVED_MS_MAX, this.elapsed() - beganAt);
    }
  }
}
