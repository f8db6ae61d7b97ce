/**
 * Bounds how much time of the I/O thread the answers of the admin listener take. Otherwise a client
 * could block the thread with scrapes alone. Beyond the budget the last answer is sent again.
 *
 * Thread: I/O. The caller passes the clock.
 */

/** The share of the thread that making answers may take in the long run. */
const SHARE = 0.05;
/** Milliseconds that may be used in advance: some thirty scrapes at once. */
const SAVED_MS_MAX = 200;

export class WorkBudget<T> {
  private readonly elapsed: () => number;
  private savedMs = SAVED_MS_MAX;
  private countedAt: number;
  private readonly last = new Map<string, T>();
  /** Answers that are being made; further requests wait for the same one. */
  private readonly making = new Map<string, Promise<T>>();

  /** @param elapsed milliseconds of a clock that nobody sets */
  constructor(elapsed: () => number) {
    this.elapsed = elapsed;
    this.countedAt = elapsed();
  }

  /** Makes the answer of that name, or returns the last one. */
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
   * Time in which it waits for others is counted too: it cannot be separated, and it is short. Of one answer no
   * more counts than can be saved: what takes longer is a machine that stood still, and must not end the answers
   * for a minute.
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
