/** Routes of the admin listener: methods, token and answers. README lists them. */

interface AdminRow {
  readonly method: 'GET' | 'POST';
  /** Cases in which ADMIN_TOKEN is required. */
  readonly token: 'no' | 'where it is set' | 'where it is set, or RESOLVER_TOKEN' | 'always';
  readonly type: string;
  readonly does: string;
}

const JSON_TYPE = 'application/json';

function row(
  method: AdminRow['method'],
  token: AdminRow['token'],
  does: string,
  type = JSON_TYPE,
): AdminRow {
  return { method, token, type, does };
}

export const ADMIN_TABLE = {
  '/live': row('GET', 'no', '200 for as long as the process turns'),
  '/health': row('GET', 'no', 'the same'),
  '/healthz': row('GET', 'no', 'the same'),
  '/ready': row(
    'GET',
    'no',
    '200 when orders are taken, with a `warning` where the log is ahead of the clock; 503 with `status` and ' +
      '`reason` while starting, draining or read-only',
  ),
  '/metrics': row(
    'GET',
    'where it is set',
    'the metrics below, and those of the process, as Prometheus reads them',
    'text/plain; version=0.0.4; charset=utf-8',
  ),
  '/page/summary': row(
    'GET',
    'where it is set, or RESOLVER_TOKEN',
    'what the page shows of the node: state, positions, occupancy, delay',
  ),
  '/clock/accept': row(
    'POST',
    'always',
    'takes a clock that jumped for right: 200 with `jump_ms`, or 409 where it has not jumped',
  ),
};

export type AdminPath = keyof typeof ADMIN_TABLE;
