/**
 * How much of the I/O thread the answers of the admin listener may take: whoever reaches it could else
 * hold the thread with scrapes alone. Beyond the budget an answer is the last one again.
 *
 * Thread: I/O. The clock is the caller's.
 */

/** Part of the thread that making answers may take in the long run. */
const SHARE = 0.05;
/** Milliseconds that may be taken ahead of it: some thirty scrapes at once. */
const SAVED_MS_MAX = 200;

export class WorkBudget<T> {
  private readonly elapsed: () => number;
  private savedMs = SAVED_MS_MAX;
  private countedAt: number;
  private readonly last = new Map<string, T>();
  /** On their way: who asks meanwhile gets the same. */
  private readonly making = new Map<string, Promise<T>>();

  /** @param elapsed milliseconds, by a clock that nobody sets */
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

  /** What it waits for others counts too: nobody tells that apart, and it is short. */
  private async make(name: string, make: () => T | Promise<T>, beganAt: number): Promise<T> {
    try {
      const answer = await make();
      this.last.set(name, answer);
      return answer;
    } finally {
      this.making.delete(name);
      this.savedMs -= this.elapsed() - beganAt;
    }
  }
}
