/** Routes of the admin listener: methods, token and answers. README lists them. */

interface AdminRow {
  /** GET is served as HEAD too. */
  readonly method: 'GET' | 'POST';
  /** True where ADMIN_TOKEN is required, if it is set. */
  readonly token: boolean;
  readonly type: string;
  readonly does: string;
}

const JSON_TYPE = 'application/json';

function row(method: AdminRow['method'], token: boolean, does: string, type = JSON_TYPE): AdminRow {
  return { method, token, type, does };
}

export const ADMIN_TABLE = {
  '/live': row('GET', false, '200 for as long as the process turns'),
  '/health': row('GET', false, 'the same'),
  '/healthz': row('GET', false, 'the same'),
  '/ready': row(
    'GET',
    false,
    '200 when orders are taken, with a `warning` where the log is ahead of the clock; 503 with `status` and ' +
      '`reason` while starting, draining or read-only',
  ),
  '/metrics': row(
    'GET',
    true,
    'the metrics below, and those of the process, as Prometheus reads them',
    'text/plain; version=0.0.4; charset=utf-8',
  ),
  '/page/summary': row(
    'GET',
    true,
    'what the page shows of the node: state, positions, occupancy, delay',
  ),
  '/clock/accept': row(
    'POST',
    true,
    'takes a clock that jumped for right: 200 with `jump_ms`, or 409 where it has not jumped',
  ),
};

export type AdminPath = keyof typeof ADMIN_TABLE;
