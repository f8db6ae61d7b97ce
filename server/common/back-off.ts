/** Pauses between tries of a request that fails. Pure. */

/**
 * Returns the milliseconds before the next try: `firstMs` after one failure, doubled by each further failure.
 * @param failures in a row; 0 counts as 1
 */
export function backOffMs(failures: number, firstMs: number, msMax = Infinity): number {
  return Math.min(msMax, firstMs * 2 ** Math.max(0, failures - 1));
}
