/**
 * Base paths of the three APIs on one origin. Clients that keep a host for each API may give each a base
 * path, which separates equal paths of two APIs.
 *
 * Pure.
 */
import type { Method } from '../http/http.ts';
import type { Api, RouteRow } from '../http/route.ts';

const BASE_PATHS: Readonly<Record<Api, string>> = {
  trading: '/clob',
  catalog: '/gamma',
  data: '/data',
  'data-v2': '/data',
};
const BASES = [...new Set(Object.values(BASE_PATHS))];
export const CATALOG_BASE = `${BASE_PATHS.catalog}/`;

/** Health routes, served under every base path. */
const HEALTH: readonly string[] = ['GET /', 'GET /ok', 'GET /status', 'GET /time'];

/** Lists of the trading API that are made from the catalog alone, and that catalog syncs request. */
const LISTS: readonly string[] = ['GET /sampling-markets', 'GET /sampling-simplified-markets'];

export interface MountedPath {
  readonly method: Method;
  readonly path: string;
  /** First part of the path, '' at the root. */
  readonly base: string;
}

/**
 * The root, and the base path of the row's API. A row that the table itself lists under a base path is served
 * there only. A page is served at the root only, as is a row whose path under its base is another row's at the root.
 */
export function placesOf(
  key: string,
  { api, isPage }: RouteRow,
  table: Readonly<Record<string, unknown>>,
): MountedPath[] {
  const [method, path] = key.split(' ') as [Method, string];
  const root = { method, path, base: '' };
  if (isPage === true) return [root];
  const own = BASES.find((base) => path.startsWith(`${base}/`));
  // GET /data/orders is a path of the trading API and not one below the base of the data API.
  if (own !== undefined && own === BASE_PATHS[api]) return [{ ...root, base: own }];
  const bases = HEALTH.includes(key) ? [...BASES] : [BASE_PATHS[api]];
  if (LISTS.includes(key)) bases.push(BASE_PATHS.catalog);
  const under = bases.filter((base) => !(`${method} ${base}${path}` in table));
  return [
    root,
    ...under.map((base) => ({ method, path: base + path, base })),
    ...(path === '/' ? under.map((base) => ({ method, path: base, base })) : []),
  ];
}
