/** The routes of the admin listener: who may call each, and what it answers. README lists them. */

interface AdminRow {
  /** Whether ADMIN_TOKEN is asked for, where it is set. */
  readonly token: boolean;
  readonly type: string;
  readonly does: string;
}

const JSON_TYPE = 'application/json';

export const ADMIN_TABLE = {
  '/live': { token: false, type: JSON_TYPE, does: '200 for as long as the process turns' },
  '/ready': {
    token: false,
    type: JSON_TYPE,
    does: '200 when orders are taken; 503 with `status` and `reason` while starting, draining or read-only',
  },
  '/metrics': {
    token: true,
    type: 'text/plain; version=0.0.4; charset=utf-8',
    does: 'the metrics below, and those of the process, as Prometheus reads them',
  },
  '/page/summary': {
    token: true,
    type: JSON_TYPE,
    does: 'what the page shows of the node: state, positions, occupancy, delay',
  },
} as const satisfies Readonly<Record<string, AdminRow>>;

export type AdminPath = keyof typeof ADMIN_TABLE;
