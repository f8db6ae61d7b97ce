/**
 * Values by short texts that come again and again. A text is found by some of its characters and then compared: hashing
 * all of them, as a Map does with a text that has just arrived, costs more than the rest of a small request.
 *
 * A hash names a group of four cells, which are replaced in turn. Thread: any. Non-goals: long texts, forgetting.
 */
const CELLS = 512;
const GROUP_CELLS = 4;
const GROUPS = CELLS / GROUP_CELLS;
const SAMPLES = 32;
const SPREAD = 0x9e3779b1;

export class RecentTexts<Value> {
  private readonly texts = new Array<string>(CELLS).fill('');
  private readonly values = new Array<Value | undefined>(CELLS).fill(undefined);
  private readonly hashes = new Int32Array(CELLS);
  /** Cell of each group that is replaced next. */
  private readonly next = new Uint8Array(GROUPS);

  find(text: string): Value | undefined {
    const hash = hashOf(text);
    const first = GROUP_CELLS * (hash & (GROUPS - 1));
    for (let cell = first; cell < first + GROUP_CELLS; cell++) {
      if (this.hashes[cell] === hash && this.texts[cell] === text) return this.values[cell];
    }
    return undefined;
  }

  /** Stores the value of a text that find() did not find. */
  add(text: string, value: Value): void {
    const hash = hashOf(text);
    const group = hash & (GROUPS - 1);
    const cell = GROUP_CELLS * group + this.next[group]!;
    this.next[group] = (this.next[group]! + 1) % GROUP_CELLS;
    this.hashes[cell] = hash;
    this.texts[cell] = text;
    this.values[cell] = value;
  }
}

function hashOf(text: string): number {
  const { length } = text;
  const step = ((length / SAMPLES) | 0) + 1;
  let hash = length;
  for (let i = 0; i < length; i += step) hash = Math.imul(hash ^ text.charCodeAt(i), SPREAD);
  return hash ^ (hash >>> 15);
}
