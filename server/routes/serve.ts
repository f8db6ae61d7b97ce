/**
 * Routes of the HTTP server from rows of the route table and their handlers: credentials are checked first,
 * then the query, then the handler runs.
 *
 * Thread: I/O.
 */

import assert from 'node:assert/strict';
import {
  type Auth,
  checkLevel1,
  checkLevel2,
  checkReadOnly,
  level1Headers,
  level2Headers,
  readOnlyHeader,
  type SignedRequest,
} from '../auth/auth.ts';
import type { CatalogErrors } from '../catalog/parameters.ts';
import { typedErrorBody } from '../common/error-bodies.ts';
import { NO_QUERY } from '../common/query.ts';
import { dataErrorOf } from '../data-v2/errors.ts';
import type { Handler, RequestContext, Route } from '../http/http.ts';
import { type AnyHandler, type Api, type RouteRow, writes } from '../http/route.ts';
import type { AppliedSequence } from '../orders/intake/applied-sequence.ts';
import { type MountedPath, placesOf } from './base-paths.ts';
import { DiscardedBodies } from './discarded-bodies.ts';
import { afterSequence } from './min-sequence.ts';
import { BODY_MAX, ordersBodyMax } from './node-info.ts';
import { ROUTE_TABLE } from './route-table.ts';

export interface ServeParts {
  readonly auth: Auth;
  readonly credentialPrefix: string;
  readonly maxBatchOrders: number;
  readonly rows: ReadonlyMap<string, RouteRow>;
  /** Unix seconds. */
  readonly seconds: () => number;
  readonly rateLimits: boolean;
  readonly applied: AppliedSequence;
  readonly catalogErrors: CatalogErrors;
  /** Undefined where this node decides everything. */
  readonly forwarder: Forwarding | undefined;
  /** Bodies of a 500 where they differ from {"error":"internal_error"}. */
  readonly failures: Readonly<Partial<Record<Api, (error: unknown) => string>>>;
}

/** Body of a 429 of the catalog API (docs/protocol.md#rate-limits). */
const CATALOG_THROTTLED = typedErrorBody('too many requests', 'TOO_MANY_REQUESTS');

/** Routes of all rows, at the root and under the base path of each API. */
export function serveTable(
  given: ServeParts,
  handlers: Readonly<Record<string, AnyHandler>>,
): Route[] {
  const discarded = new DiscardedBodies(given.rateLimits, () => performance.now());
  const parts = { ...given, discarded };
  return [...parts.rows].flatMap(([key, row]) =>
    placesOf(key, row, ROUTE_TABLE).map((mounted) => {
      const route = serveRow(parts, mounted, row, handlers[key]!);
      if (writes(route.method, row)) return { ...route, writes: true };
      const { applied, catalogErrors } = parts;
      return { ...route, run: afterSequence(route.run, row.api, applied, catalogErrors) };
    }),
  );
}

/** Forwards a request to the node that decides it (server/cluster/forwarder.ts). */
export interface Forwarding {
  /** Returns true where another node decides. */
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
  readonly discarded: DiscardedBodies;
}

function serveRow(
  parts: RowParts,
  { base, method, path }: MountedPath,
  row: RouteRow,
  handler: AnyHandler,
): Route {
  const isOpen = row.access === 'none';
  const route = {
    method,
    path,
    bodyBytesMax: bodyBytesMax(row, parts.maxBatchOrders),
    limits: row.limits,
    throttled: row.api === 'catalog' ? CATALOG_THROTTLED : undefined,
    failure: parts.failures[row.api],
    errorOf: row.api === 'data-v2' ? dataErrorOf : undefined,
    longRefused: isOpen ? undefined : (context: RequestContext) => parts.discarded.refusal(context),
  };
  const prefix = parts.credentialPrefix;
  const headers2 = [
    ...level2Headers(prefix),
    readOnlyHeader(prefix),
    ...choiceHeaders(row),
    ...(row.headers ?? []),
  ];
  if (typeof handler !== 'function') {
    assert.equal(handler.query ?? NO_QUERY, row.query, `${method} ${path} parses another query`);
    return { ...route, headers: handler.headers, run: handler.run };
  }
  const run = handler as Handler<unknown, unknown>;
  const { parse } = row.query;
  if (isOpen) {
    return {
      ...route,
      headers: [],
      readsQuery: row.query !== NO_QUERY,
      run: (context) => {
        const here = (): void | Promise<void> => {
          const query = parse(context.query, context.parameters);
          if (typeof query === 'string') return context.reply(400, query);
          return run(context, query, undefined);
        };
        if (row.writes !== true || parts.forwarder?.isNeeded() !== true) return here();
        return parts.forwarder.forward(context, route, parts.seconds(), here);
      },
    };
  }
  const headers = row.access === 'level1' ? level1Headers(prefix) : headers2;
  return { ...route, headers, run: signedRun(parts, route, row, base, run) };
}

/** Caller without credentials, where a route asks for none. */
const NOBODY = { ok: true } as const;

/** Handler behind credentials; on another node, where that one decides. */
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
  // Changes are decided, and their results known, in one place.
  const isDecided = isLevel1 || (writes(route.method, row) && row.places !== true);
  const runAt = (context: RequestContext, seconds: number): void | Promise<void> => {
    const refused = parts.discarded.admit(context);
    if (refused === undefined) return undefined;
    const isNobody = row.access === 'level2-or-none' && hasNoCredentials(context.headers);
    const caller = isNobody
      ? NOBODY
      : isLevel1
        ? checkLevel1(parts.auth, context.headers, seconds)
        : callerOf(parts.auth, row.access !== 'level2', context, base, seconds);
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
    const running = run(context, query, caller === NOBODY ? undefined : caller);
    if (context.isOverLimit) refused();
    return running;
  };
  return (context) => runAt(context, context.judgedAt ?? parts.seconds());
}

/** Headers of level 2 and of a read-only key, which come first. */
const CREDENTIALS = 6;

function hasNoCredentials(headers: readonly string[]): boolean {
  return headers.every((text, i) => i >= CREDENTIALS || text === '');
}

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
