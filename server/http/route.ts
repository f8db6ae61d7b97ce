/**
 * Definition of a route: a row, the source of router, documents, limits and client types, and the handler
 * beside it. Folders list theirs with `route` or `rawRoute`; server/routes collects the lists.
 *
 * Thread: any. Rows can be read without a running node: a handler is made when its service exists.
 */
import type { KeyOwner, WalletOwner } from '../auth/auth.ts';
import type { JsonBounds } from '../common/json-measure.ts';
import { NO_QUERY, type QuerySpec } from '../common/query.ts';
import type { TSchema } from '../common/schema.ts';
import type { RateClass } from './limits/rate-limits.ts';
import type { Handler, Method, RequestContext } from './request-context.ts';

/** The APIs, whose errors have different bodies (docs/protocol.md#status-codes). */
export type Api = 'catalog' | 'data' | 'data-v2' | 'trading';

/**
 * Credentials: none; a wallet's signature (level 1); an API key's HMAC (level 2), for which a read-only key is enough
 * with `level2-read`; either or none with `level2-or-none`.
 */
export type Access = 'none' | 'level1' | 'level2' | 'level2-read' | 'level2-or-none';

type BodyBound = 'none' | 'mebibyte' | 'batch';

export type RouteGroup =
  | 'orders'
  | 'books'
  | 'account'
  | 'keys'
  | 'data'
  | 'catalog'
  | 'trading markets'
  | 'programs'
  | 'node';

export interface RouteSettings {
  readonly apiKeysAnswer: 'array' | 'object';
  readonly app: 'demo' | 'off' | 'on';
  readonly catalogSyncUrl: string;
  readonly dataTrades: 'own' | 'both';
  readonly demo: boolean;
  readonly faults: 'off' | 'operator' | 'on';
  readonly marketRoutes: 'catalog' | 'trading';
  readonly mcp: boolean;
  readonly maxBatchOrders: number;
  readonly maxCancelIds: number;
  readonly orderVersion: '1' | '2' | 'both';
  readonly priceOfBuy: 'ask' | 'bid';
  readonly readyRoute: boolean;
  readonly relayer: boolean;
  readonly resolveConditionId: boolean;
  readonly revokedAnswer: 'object' | 'text';
}

export interface RouteRow {
  /** One line for docs/reference/api.md and the OpenAPI document. */
  readonly does: string;
  /** `does` is relative to the previous row without this mark. */
  readonly repeats?: true;
  readonly api: Api;
  readonly access: Access;
  readonly bodyMax: BodyBound;
  /** Every rate limit that covers it (docs/protocol.md#rate-limits). */
  readonly limits: readonly RateClass[];
  readonly query: QuerySpec<unknown>;
  /** Undefined where no body is read. */
  readonly body: TSchema | undefined;
  readonly example?: unknown;
  readonly bodyBounds?: JsonBounds;
  readonly answer: TSchema;
  /** Body of a 503 that is an answer and no error. */
  readonly unavailable?: TSchema;
  /** Content types of a 200, JSON by default. With several, the header Accept is the last in `headers`. */
  readonly media?: readonly string[];
  /** Answers carry an ETag; If-None-Match with it is answered 304. */
  readonly tagged?: true;
  /** A page for browsers: served at the root alone, and no part of the OpenAPI document. */
  readonly isPage?: true;
  /** Places orders: a follower of a cluster checks the request before it forwards it. */
  readonly places?: true;
  /** May change something without credentials: the body is signed. */
  readonly writes?: true;
  /** Lower-case names of further headers, which are the last ones of the request. */
  readonly headers?: readonly string[];
  /**
   * Errors of the protocol that the route speaks, bodies of a 400, 404 or 500 too. A message that needs no answer gets a
   * 202 without a body.
   */
  readonly protocolError?: TSchema;
  /** May answer 425. */
  readonly restarts?: true;
  /** May answer 409. */
  readonly conflicts?: true;
  /** TRADES_ALLOWLIST applies, outside of the data API. */
  readonly listed?: true;
  /** Absent: the group of its list. */
  readonly group?: RouteGroup;
  readonly configured?: (settings: RouteSettings) => Partial<RouteRow>;
  readonly served?: (settings: RouteSettings) => boolean;
}

type Defaulted = 'api' | 'access' | 'bodyMax' | 'limits' | 'query' | 'body';

/**
 * Row without its defaults: the trading API, no credentials, the rate limit of its API, no query, no body. A
 * body is at most a mebibyte by default.
 */
export type RouteDefinition = Omit<RouteRow, Defaulted> & Partial<Pick<RouteRow, Defaulted>>;

export type RouteName = `${Method} /${string}`;

type QueryOf<Definition> = Definition extends { readonly query: QuerySpec<infer Query> }
  ? Query
  : unknown;
type CallerOf<Definition> = Definition extends { readonly access: 'level1' }
  ? WalletOwner
  : Definition extends { readonly access: 'level2' | 'level2-read' }
    ? KeyOwner
    : Definition extends { readonly access: 'level2-or-none' }
      ? KeyOwner | undefined
      : undefined;

/** Handler that reads request headers and parses its query itself. */
export interface RawHandler {
  /** Lower-case names. */
  readonly headers: readonly string[];
  /** Must be the query of the row; absent where none is read. */
  readonly query?: QuerySpec<unknown>;
  readonly run: (context: RequestContext) => void | Promise<void>;
}

export type AnyHandler = Handler<never, never> | RawHandler;

/** Row of either listener with its handler. */
export interface Defined<Key extends string, Row, Service, Made> {
  readonly key: Key;
  readonly row: Row;
  readonly handler: (service: Service) => Made;
}

export type DefinedRoute<
  Key extends string = RouteName,
  Service = never,
  Made extends AnyHandler = AnyHandler,
> = Defined<Key, RouteRow, Service, Made>;

const API_LIMITS = {
  catalog: ['catalog'],
  data: ['trades'],
  'data-v2': ['trades'],
  trading: ['trading'],
} as const;

export function route<
  const Key extends RouteName,
  const Definition extends RouteDefinition,
  Service,
>(
  key: Key,
  definition: Definition,
  handler: (service: Service) => Handler<QueryOf<Definition>, CallerOf<Definition>>,
): DefinedRoute<Key, Service, Handler<QueryOf<Definition>, CallerOf<Definition>>> {
  return { key, row: rowOf(definition), handler };
}

/** A route without credentials whose handler parses its query itself. */
export function rawRoute<const Key extends RouteName, Service>(
  key: Key,
  definition: RouteDefinition,
  handler: (service: Service) => RawHandler,
): DefinedRoute<Key, Service, RawHandler> {
  return { key, row: rowOf(definition), handler };
}

function rowOf(definition: RouteDefinition): RouteRow {
  const { api = 'trading', body } = definition;
  return {
    api,
    access: 'none',
    bodyMax: body === undefined ? 'none' : 'mebibyte',
    limits: API_LIMITS[api],
    query: NO_QUERY,
    body,
    ...definition,
  };
}

type RouteList = readonly Defined<string, unknown, never, unknown>[];

export type ServiceOf<Routes extends RouteList> = Routes[number]['handler'] extends (
  service: infer Service,
) => unknown
  ? Service
  : never;

export type HandlersOf<Routes extends RouteList> = {
  readonly [Route in Routes[number] as Route['key']]: ReturnType<Route['handler']>;
};

export function handlersOf<const Routes extends RouteList>(
  routes: Routes,
  service: ServiceOf<Routes>,
): HandlersOf<Routes> {
  const handlers = routes.map(({ handler, key }) => [key, handler(service as never)] as const);
  return Object.fromEntries(handlers) as HandlersOf<Routes>;
}

type Lists = Readonly<Record<string, RouteList>>;

export type ServicesOf<Given extends Lists> = {
  readonly [Name in keyof Given]: ServiceOf<Given[Name]>;
};

/** Returns the handlers of the lists that have a service, by the keys of their routes. */
export function handlersOfLists<Given extends Lists, Name extends keyof Given>(
  lists: Given,
  services: Pick<ServicesOf<Given>, Name>,
): HandlersOf<Given[Name]> {
  const names = Object.keys(services) as Name[];
  const made = names.map((name) => handlersOf(lists[name]!, services[name] as never));
  return Object.assign({}, ...made) as HandlersOf<Given[Name]>;
}

/** True where requests may change something; in a cluster the leader decides them. */
export function writes(method: string, row: Pick<RouteRow, 'access' | 'writes'>): boolean {
  const isOpen = row.access === 'none' || row.access === 'level2-or-none';
  return method !== 'GET' && (!isOpen || row.writes === true);
}

/** Text of a row that repeats the one before it without a difference. */
export const SAME = 'the same';
