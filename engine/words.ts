/**
 * Copies and comparisons of keys, word by word and written out: the compiler does not unroll loops,
 * and a loop of eight checks its arrays eight times.
 */

/** True where the eight words of two ids agree. */
export function sameId(a: Int32Array, i: number, b: Int32Array, j: number): boolean {
  return (
    a[i] === b[j] &&
    a[i + 1] === b[j + 1] &&
    a[i + 2] === b[j + 2] &&
    a[i + 3] === b[j + 3] &&
    a[i + 4] === b[j + 4] &&
    a[i + 5] === b[j + 5] &&
    a[i + 6] === b[j + 6] &&
    a[i + 7] === b[j + 7]
  );
}

/** True where the five words of two addresses agree. */
export function sameAddress(a: Int32Array, i: number, b: Int32Array, j: number): boolean {
  return (
    a[i] === b[j] &&
    a[i + 1] === b[j + 1] &&
    a[i + 2] === b[j + 2] &&
    a[i + 3] === b[j + 3] &&
    a[i + 4] === b[j + 4]
  );
}

/** Copies the eight words of an id. */
export function copyId(from: Int32Array, i: number, to: Int32Array, j: number): void {
  to[j] = from[i]!;
  to[j + 1] = from[i + 1]!;
  to[j + 2] = from[i + 2]!;
  to[j + 3] = from[i + 3]!;
  to[j + 4] = from[i + 4]!;
  to[j + 5] = from[i + 5]!;
  to[j + 6] = from[i + 6]!;
  to[j + 7] = from[i + 7]!;
}

/** Copies four words: an API key, or the numbers beside an id. */
export function copyFour(from: Int32Array, i: number, to: Int32Array, j: number): void {
  to[j] = from[i]!;
  to[j + 1] = from[i + 1]!;
  to[j + 2] = from[i + 2]!;
  to[j + 3] = from[i + 3]!;
}
