/**
 * Copies and comparisons of keys, word by word and written out: the compiler does not unroll loops,
 * and a loop of eight checks its arrays eight times. `| 0` says that a sum does not leave 32 bits, so that
 * this is not checked either.
 */

export function sameId(a: Int32Array, i: number, b: Int32Array, j: number): boolean {
  return (
    a[i] === b[j] &&
    a[(i + 1) | 0] === b[(j + 1) | 0] &&
    a[(i + 2) | 0] === b[(j + 2) | 0] &&
    a[(i + 3) | 0] === b[(j + 3) | 0] &&
    a[(i + 4) | 0] === b[(j + 4) | 0] &&
    a[(i + 5) | 0] === b[(j + 5) | 0] &&
    a[(i + 6) | 0] === b[(j + 6) | 0] &&
    a[(i + 7) | 0] === b[(j + 7) | 0]
  );
}

export function sameAddress(a: Int32Array, i: number, b: Int32Array, j: number): boolean {
  return (
    a[i] === b[j] &&
    a[(i + 1) | 0] === b[(j + 1) | 0] &&
    a[(i + 2) | 0] === b[(j + 2) | 0] &&
    a[(i + 3) | 0] === b[(j + 3) | 0] &&
    a[(i + 4) | 0] === b[(j + 4) | 0]
  );
}

export function copyId(from: Int32Array, i: number, to: Int32Array, j: number): void {
  to[j] = from[i]!;
  to[(j + 1) | 0] = from[(i + 1) | 0]!;
  to[(j + 2) | 0] = from[(i + 2) | 0]!;
  to[(j + 3) | 0] = from[(i + 3) | 0]!;
  to[(j + 4) | 0] = from[(i + 4) | 0]!;
  to[(j + 5) | 0] = from[(i + 5) | 0]!;
  to[(j + 6) | 0] = from[(i + 6) | 0]!;
  to[(j + 7) | 0] = from[(i + 7) | 0]!;
}

export function copyFour(from: Int32Array, i: number, to: Int32Array, j: number): void {
  to[j] = from[i]!;
  to[(j + 1) | 0] = from[(i + 1) | 0]!;
  to[(j + 2) | 0] = from[(i + 2) | 0]!;
  to[(j + 3) | 0] = from[(i + 3) | 0]!;
}
