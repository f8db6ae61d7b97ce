/** How many requests of each route were answered with which status. Thread: I/O. */

/** The statuses that routes answer with; anything else is counted behind them. */
export const COUNTED_STATUSES = [
  200, 204, 304, 400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 503,
] as const;

const STATUS_MAX = 600;
const COLUMNS = new Uint8Array(STATUS_MAX).fill(COUNTED_STATUSES.length);
for (const [column, status] of COUNTED_STATUSES.entries()) COLUMNS[status] = column;

/** What is not under the path of a route. */
const UNKNOWN = '/*';

export interface RouteCounts {
  readonly method: string;
  /** The pattern, never the path of the request: that could be anything. */
  readonly path: string;
  /** By COUNTED_STATUSES, and all others. */
  readonly counts: Float64Array;
}

export class RequestCounts {
  readonly rows: RouteCounts[] = [];

  /** The row of a route, a new one where there is none. */
  row(requested: string, pattern: string): Float64Array {
    // Requests of every method come there, also of those that a caller makes up.
    const [method, path] = pattern === UNKNOWN ? ['(any)', '(other)'] : [requested, pattern];
    const known = this.rows.find((row) => row.method === method && row.path === path);
    if (known !== undefined) return known.counts;
    const counts = new Float64Array(COUNTED_STATUSES.length + 1);
    this.rows.push({ method, path, counts });
    return counts;
  }
}

/** Where a status is counted in a row. */
export function columnOf(status: number): number {
  return COLUMNS[status]!;
}
