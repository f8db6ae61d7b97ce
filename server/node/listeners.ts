/**
 * Callbacks for one kind of event, called in the order in which they were added. Thread: that of the caller.
 */
export class Listeners<Value> {
  private readonly callbacks: ((value: Value) => void)[] = [];

  add(callback: (value: Value) => void): void {
    this.callbacks.push(callback);
  }

  notify(value: Value): void {
    for (const callback of this.callbacks) callback(value);
  }
}
