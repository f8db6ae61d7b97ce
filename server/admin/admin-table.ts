/** The routes of the admin listener: who may call each, and what it answers. README lists them. */

interface AdminRow {
  /** GET is served as HEAD too. */
  readonly method: 'GET' | 'POST';
  /** Whether ADMIN_TOKEN is required, if it is set. */
  readonly token: boolean;
  readonly type: string;
  readonly does: string;
}

const JSON_TYPE = 'application/json';

export const ADMIN_TABLE = {
  '/live': {
    method: 'GET',
    token: false,
    type: JSON_TYPE,
    does: '200 for as long as the process turns',
  },
  '/ready': {
    method: 'GET',
    token: false,
    type: JSON_TYPE,
    does:
      '200 when orders are taken, with a `warning` where the log is ahead of the clock; 503 with `status` and ' +
      '`reason` while starting, draining or read-only',
  },
  '/metrics': {
    method: 'GET',
    token: true,
    type: 'text/plain; version=0.0.4; charset=utf-8',
    does: 'the metrics below, and those of the process, as Prometheus reads them',
  },
  '/page/summary': {
    method: 'GET',
    token: true,
    type: JSON_TYPE,
    does: 'what the page shows of the node: state, positions, occupancy, delay',
  },
  '/clock/accept': {
    method: 'POST',
    token: true,
    type: JSON_TYPE,
    does: 'takes a clock that jumped for right: 200 with `jump_ms`, or 409 where it is not in doubt',
  },
} as const satisfies Readonly<Record<string, AdminRow>>;

export type AdminPath = keyof typeof ADMIN_TABLE;
