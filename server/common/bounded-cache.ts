/**
 * Values by key, made when they are first read. A key without a value is not retained, and all are forgotten when
 * there are too many: the keys of a node are few, and those of an attack have no pattern.
 *
 * Thread: the one that owns it.
 */
export class BoundedCache<Key, Value> {
  private readonly values = new Map<Key, Value>();
  private readonly countMax: number;
  private readonly make: (key: Key) => Value | undefined;

  constructor(countMax: number, make: (key: Key) => Value | undefined) {
    this.countMax = countMax;
    this.make = make;
  }

  get(key: Key): Value | undefined {
    const known = this.values.get(key);
    if (known !== undefined) return known;
    const value = this.make(key);
    if (value === undefined) return undefined;
    if (this.values.size >= this.countMax) this.values.clear();
    this.values.set(key, value);
    return value;
  }
}
