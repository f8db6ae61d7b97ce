/**
 * From a row of the route table and its handler to a route of the HTTP server: who is asking, then
 * the query, then the handler.
 *
 * Thread: I/O.
 */

import assert from 'node:assert/strict';
import type { CatalogErrors } from '../catalog/parameters.ts';
import { typedErrorBody } from '../common/error-bodies.ts';
import { NO_QUERY, type QuerySpec } from '../common/query.ts';
import type { Handler, RequestContext, Route } from '../http/http.ts';
import {
  type Auth,
  checkLevel1,
  checkLevel2,
  checkReadOnly,
  type KeyOwner,
  level1Headers,
  level2Headers,
  readOnlyHeader,
  type SignedRequest,
  type WalletOwner,
} from '../identity/auth.ts';
import type { AppliedSequence } from '../orders/applied-sequence.ts';
import { type MountedPath, placesOf } from './base-paths.ts';
import { afterSequence } from './min-sequence.ts';
import { BODY_MAX, ordersBodyMax } from './node-info.ts';
import { type Api, type RouteRow, writes } from './route-row.ts';
import { ROUTE_TABLE, type RouteKey } from './route-table.ts';
import { WastedBodies } from './wasted-bodies.ts';

/** A handler that reads headers of its own, in lower case, and parses its query itself. */
export interface HeaderHandler {
  readonly headers: readonly string[];
  /** What it parses its query with, which has to be that of its row; absent: it reads none. */
  readonly query?: QuerySpec<unknown>;
  readonly run: (context: RequestContext) => void | Promise<void>;
}

type Table = typeof ROUTE_TABLE;
type QueryOf<K extends RouteKey> = Table[K]['query'] extends QuerySpec<infer Query> ? Query : never;
type CallerOf<K extends RouteKey> = Table[K]['access'] extends 'none'
  ? undefined
  : Table[K]['access'] extends 'level1'
    ? WalletOwner
    : KeyOwner;

/** A handler for every row of the table, given what the row says. */
export type Handlers = {
  readonly [K in RouteKey]: Handler<QueryOf<K>, CallerOf<K>> | HeaderHandler;
};

export interface ServeParts {
  readonly auth: Auth;
  readonly credentialPrefix: string;
  readonly maxBatchOrders: number;
  /** The rows that are served. */
  readonly served: readonly RouteKey[];
  /** A row of the table as it is under the configuration. */
  readonly rowOf: (key: RouteKey) => RouteRow;
  /** Unix seconds. */
  readonly seconds: () => number;
  /** Whether callers are limited at all. */
  readonly rateLimits: boolean;
  /** What reads may wait for. */
  readonly applied: AppliedSequence;
  readonly catalogErrors: CatalogErrors;
  /** Undefined where this node decides everything. */
  readonly forwarder: Forwarding | undefined;
  /** Bodies of a 500, where they are not {"error":"internal_error"}. */
  readonly failures: Readonly<Partial<Record<Api, (error: unknown) => string>>>;
}

/** Body of a 429 of the catalog API (docs/protocol.md#rate-limits). */
const CATALOG_THROTTLED = typedErrorBody('too many requests', 'Too Many Requests');

/** Every row that is served as a route, at the root and under the base path of its API. */
export function serveTable(given: ServeParts, handlers: Handlers): Route[] {
  const wasted = new WastedBodies(given.rateLimits, () => performance.now());
  const parts = { ...given, wasted };
  return parts.served.flatMap((key) => {
    const row = parts.rowOf(key);
    return placesOf(key, row, ROUTE_TABLE).map((mounted) => {
      const route = serveRow(parts, mounted, row, handlers[key]);
      if (writes(route.method, row)) return { ...route, writes: true };
      const { applied, catalogErrors } = parts;
      return { ...route, run: afterSequence(route.run, row.api, applied, catalogErrors) };
    });
  });
}

/** Brings a request to the node that decides it (server/cluster/forwarder.ts). */
export interface Forwarding {
  /** Whether that is another one. */
  readonly isNeeded: () => boolean;
  /**
   * @param judgedAt unix seconds by which its timestamp was judged
   * @param here runs it on this node, which decides by then
   */
  readonly forward: (
    context: RequestContext,
    route: Pick<Route, 'method' | 'path'>,
    judgedAt: number,
    here: () => void | Promise<void>,
  ) => Promise<void>;
}

interface RowParts extends ServeParts {
  /** One for all rows. */
  readonly wasted: WastedBodies;
}

function serveRow(
  parts: RowParts,
  { base, method, path }: MountedPath,
  row: RouteRow,
  handler: Handlers[RouteKey],
): Route {
  const failure = parts.failures[row.api];
  const route = {
    method,
    path,
    bodyBytesMax: bodyBytesMax(row, parts.maxBatchOrders),
    limits: row.limits,
    ...(row.api === 'catalog' ? { throttled: CATALOG_THROTTLED } : {}),
    ...(failure === undefined ? {} : { failure }),
    ...(row.access === 'none'
      ? {}
      : { longRefused: (context: RequestContext) => parts.wasted.refusal(context) }),
  };
  const prefix = parts.credentialPrefix;
  const headers2 = [...level2Headers(prefix), readOnlyHeader(prefix), ...choiceHeaders(row)];
  if (typeof handler !== 'function') {
    assert.equal(handler.query ?? NO_QUERY, row.query, `${method} ${path} parses another query`);
    return { ...route, headers: handler.headers, run: handler.run };
  }
  const run = handler as Handler<unknown, unknown>;
  const { parse } = row.query;
  if (row.access === 'none') {
    return {
      ...route,
      headers: [],
      readsQuery: row.query !== NO_QUERY,
      run: (context) => {
        const query = parse(context.query, context.parameters);
        if (typeof query === 'string') return context.reply(400, query);
        return run(context, query, undefined);
      },
    };
  }
  const headers = row.access === 'level1' ? level1Headers(prefix) : headers2;
  return { ...route, headers, run: signedRun(parts, route, row, base, run) };
}

/** For a caller who proves who it is; on another node, where that one decides. */
function signedRun(
  parts: RowParts,
  route: Pick<Route, 'method' | 'path'>,
  row: RouteRow,
  base: string,
  run: Handler<unknown, unknown>,
): Route['run'] {
  const isLevel1 = row.access === 'level1';
  const { parse } = row.query;
  const { forwarder } = parts;
  // Who may change what, and what became of it, is decided in one place.
  const isDecided = isLevel1 || (writes(route.method, row) && row.places !== true);
  const runAt = (context: RequestContext, seconds: number): void | Promise<void> => {
    const refused = parts.wasted.admit(context);
    if (refused === undefined) return undefined;
    const caller = isLevel1
      ? checkLevel1(parts.auth, context.headers, seconds)
      : callerOf(parts.auth, row.access === 'level2-read', context, base, seconds);
    const isElsewhere = forwarder?.isNeeded() === true;
    if (isElsewhere && (caller.ok ? isDecided : caller.isOfKeys)) {
      return forwarder.forward(context, route, seconds, () => runAt(context, seconds));
    }
    if (!caller.ok) {
      refused();
      return context.reply(caller.status, caller.body);
    }
    const query = parse(context.query, context.parameters);
    if (typeof query === 'string') return context.reply(400, query);
    const running = run(context, query, caller);
    if (context.isOverLimit) refused();
    return running;
  };
  return (context) => runAt(context, context.judgedAt ?? parts.seconds());
}

/** What says which of several media types the caller wants. */
function choiceHeaders({ media = [] }: RouteRow): string[] {
  return media.length > 1 ? ['accept'] : [];
}

function callerOf(
  auth: Auth,
  mayRead: boolean,
  context: RequestContext,
  base: string,
  seconds: number,
) {
  const { body, headers, method, path, query } = context;
  const reader = checkReadOnly(auth, headers, mayRead);
  const request: SignedRequest = { method, path, query, body, base };
  return reader ?? checkLevel2(auth, headers, request, seconds);
}

function bodyBytesMax({ bodyMax }: RouteRow, maxBatchOrders: number): number {
  if (bodyMax === 'batch') return ordersBodyMax(maxBatchOrders);
  return bodyMax === 'mebibyte' ? BODY_MAX : 0;
}
