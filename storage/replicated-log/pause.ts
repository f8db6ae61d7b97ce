/** Waits for a time, or until it is woken. One at a time waits. Thread: any. */
export class Pause {
  private end: (hasPassed: boolean) => void = () => undefined;

  /** Resolves with false where wake() came before the time had passed. */
  wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(true), ms);
      this.end = (hasPassed) => {
        clearTimeout(timer);
        resolve(hasPassed);
      };
    });
  }

  wake(): void {
    this.end(false);
  }
}
