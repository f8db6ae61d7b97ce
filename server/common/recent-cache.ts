/**
 * Results by key, up to a weight in all: the least recently used ones are removed for new ones. A key that is
 * set again is the most recent one.
 *
 * Thread: any; each cache belongs to one.
 */
export class RecentCache<Value> {
  private readonly values = new Map<string, Value>();
  private readonly weightMax: number;
  private readonly weightOf: (key: string, value: Value) => number;
  private weight = 0;

  /** @param weightOf a value weighs 1 without it, and `weightMax` is their number */
  constructor(weightMax: number, weightOf: (key: string, value: Value) => number = () => 1) {
    this.weightMax = weightMax;
    this.weightOf = weightOf;
  }

  get(key: string): Value | undefined {
    const value = this.values.get(key);
    if (value === undefined) return undefined;
    this.values.delete(key);
    this.values.set(key, value);
    return value;
  }

  /** Leaves out a value that weighs too much alone. */
  set(key: string, value: Value): void {
    const weight = this.weightOf(key, value);
    this.delete(key);
    if (weight > this.weightMax) return;
    this.values.set(key, value);
    this.weight += weight;
    for (const oldest of this.values.keys()) {
      if (this.weight <= this.weightMax) break;
      this.delete(oldest);
    }
  }

  clear(): void {
    this.values.clear();
    this.weight = 0;
  }

  delete(key: string): void {
    const value = this.values.get(key);
    if (value === undefined) return;
    this.values.delete(key);
    this.weight -= this.weightOf(key, value);
  }
}
