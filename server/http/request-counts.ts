/** Counts of answers by route and status, and their durations. Thread: I/O. */
import { Histogram } from '../common/histogram.ts';

const COUNTED_STATUSES = [
  200, 204, 304, 400, 401, 403, 404, 405, 409, 413, 421, 422, 425, 426, 429, 500, 503,
] as const;

const STATUS_MAX = 600;
const COLUMNS = new Uint8Array(STATUS_MAX).fill(COUNTED_STATUSES.length);
for (const [column, status] of COUNTED_STATUSES.entries()) COLUMNS[status] = column;

/** Pattern of requests without a route. */
const UNKNOWN = '/*';

export class RouteCounts {
  readonly method: string;
  /** The pattern, never the path of the request: paths are unbounded. */
  readonly path: string;
  /** Indexed by COUNTED_STATUSES, then all others: microseconds from the request's head to its answer. */
  private readonly durations: (Histogram | undefined)[];

  constructor(method: string, path: string) {
    this.method = method;
    this.path = path;
    this.durations = Array.from({ length: COUNTED_STATUSES.length + 1 }, () => undefined);
  }

  add(status: number, ms: number): void {
    const column = COLUMNS[status]!;
    let histogram = this.durations[column];
    if (histogram === undefined) {
      histogram = new Histogram();
      this.durations[column] = histogram;
    }
    histogram.addMs(ms);
  }

  byStatus(): { readonly status: string; readonly count: number; readonly histogram: Histogram }[] {
    return this.durations.flatMap((histogram, column) => {
      if (histogram === undefined) return [];
      const status = String(COUNTED_STATUSES[column] ?? 'other');
      const count = histogram.counts.reduce((sum, value) => sum + value, 0);
      return [{ status, count, histogram }];
    });
  }
}

export class RequestCounts {
  readonly rows: RouteCounts[] = [];

  row(requested: string, pattern: string): RouteCounts {
    // Requests of any method arrive there, also invented ones.
    const [method, path] = pattern === UNKNOWN ? ['(any)', '(other)'] : [requested, pattern];
    const known = this.rows.find((row) => row.method === method && row.path === path);
    if (known !== undefined) return known;
    const row = new RouteCounts(method, path);
    this.rows.push(row);
    return row;
  }
}
