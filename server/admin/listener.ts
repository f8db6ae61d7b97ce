/**
 * The admin listener: an HTTP server of its own in the I/O thread, on an address of its own, for
 * operators. It opens before recovery and closes last, so it can show the state of the node at any
 * time. Each path is a route of server/http; who may call it is decided before its body is read.
 *
 * Not here: the answers (admin-table.ts, summary.ts); the readiness of the node.
 */

import { errorBodyOf } from '../common/error-bodies.ts';
import { isLoopback } from '../http/address.ts';
import type { Headers } from '../http/answer-head.ts';
import {
  type HttpServer,
  listen,
  type Method,
  type RequestContext,
  type Route,
} from '../http/http.ts';
import { sequenceHeaders } from '../http/sequence.ts';
import { Access, type RoleTokens } from './access.ts';
import { ADMIN_TABLE, type AdminPath } from './admin-table.ts';
import type { OperationRow } from './operation-row.ts';
import { mayRun, type OperationKey, operationRows } from './operation-table.ts';
import type { OperationAnswer, OperationCall } from './operations.ts';
import type { PageFile } from './page-files.ts';
import type { PublicApi } from './summary.ts';
import { WorkBudget } from './work-budget.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** Those of the settings: metrics and the page need one where that of the operator is set. */
  readonly tokens: RoleTokens;
  readonly handlers: Readonly<Record<AdminPath, () => AdminAnswer | Promise<AdminAnswer>>>;
  /** Undefined while the node starts or ends. */
  readonly operations: () => AdminOperations | undefined;
  readonly file: (path: string) => PageFile | Promise<PageFile> | undefined;
  readonly api: () => PublicApi;
  readonly log: (line: string) => void;
  /** Milliseconds of a monotonic clock, for the time budget of costly answers. */
  readonly elapsed?: () => number;
}

export interface AdminOperations {
  /** Those of the settings, or of the files in their place. */
  readonly tokens: RoleTokens;
  readonly run: (call: OperationCall) => Promise<OperationAnswer>;
}

export type AdminServer = Pick<HttpServer, 'close' | 'port'>;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers: Headers;
  readonly policy?: string | undefined;
}

const JSON_TYPE = 'application/json';
const NO_STORE: Headers = [['Cache-Control', 'no-store']];
/** The page must be of the same version as the node that serves it. */
const NO_CACHE: Headers = [['Cache-Control', 'no-cache']];
const SAFETY: Headers = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/** Request headers of every route, in the order of `Asked`. */
const HEADERS = ['host', 'origin', 'sec-fetch-site', 'authorization', 'x-operator'];
type Asked = readonly [host: string, origin: string, site: string, token: string, operator: string];

/**
 * Requests of one event-loop iteration, of all connections together, beyond the seven that are never counted.
 * Operators and scrapers send far fewer. A connection that pipelines more ends.
 */
const REQUESTS_PER_ITERATION = 57;

/** These answers take milliseconds, so they have a time budget (work-budget.ts). */
const COSTLY: readonly AdminPath[] = ['/metrics', '/page/summary'];

const BODY_BYTES_MAX = 64 * 1024;
/** Name that a caller states: the token tells roles apart, not people. */
const OPERATOR = /^[\w.@+ -]{1,64}$/;

/** Values by which browsers mark requests from pages of other sites. Other clients send none. */
const FOREIGN_SITES: readonly string[] = ['cross-site', 'same-site'];

const AUTHORITY = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/;

/** Listens. Rejects with advice when the port is taken or the address is not local. */
export function listenAdmin(options: AdminOptions): Promise<AdminServer> {
  const { host, log, port } = options;
  const routes = new AdminRoutes(options);
  return listen(routes.all(), {
    host,
    port,
    settings: 'ADMIN_HOST, ADMIN_PORT',
    trustProxy: 0,
    corsOrigins: [],
    headers: SAFETY,
    otherMethods: routes.otherMethods(),
    requestsPerIteration: REQUESTS_PER_ITERATION,
    drainMsMax: 0,
    log: (line) => log(`admin ${line}`),
  });
}

class AdminRoutes {
  private readonly options: AdminOptions;
  private readonly isLocal: boolean;
  private readonly access: Access;
  private readonly budget: WorkBudget<AdminAnswer>;
  private readonly methods = new Map<string, string[]>();

  constructor(options: AdminOptions) {
    this.options = options;
    const elapsed = options.elapsed ?? (() => performance.now());
    this.budget = new WorkBudget(elapsed);
    this.access = new Access(elapsed);
    this.isLocal = isLoopback(options.host);
  }

  all(): Route[] {
    const routes = [
      ...(Object.keys(ADMIN_TABLE) as AdminPath[]).map((path) => this.probe(path)),
      ...operationRows().map(([key, row]) => this.operation(key, row)),
    ];
    for (const { method, path } of routes) {
      this.methods.set(path, [...(this.methods.get(path) ?? []), method]);
    }
    return [...routes, this.route('GET', '/*', NOBODY_REFUSED, (context) => this.file(context))];
  }

  otherMethods(): Route {
    return this.route('GET', '/*', NOBODY_REFUSED, ({ path }) => this.notAllowed(path));
  }

  /** @param refusal of a caller, before its body is read */
  private route(
    method: Method,
    path: string,
    refusal: (context: RequestContext) => Answer | undefined,
    answer: (context: RequestContext) => Answer | Promise<Answer>,
    bodyBytesMax = 0,
  ): Route {
    const admits = (context: RequestContext): boolean => {
      const refused = this.misdirected(context) ?? refusal(context);
      if (refused !== undefined) this.send(context, refused);
      return refused === undefined;
    };
    // A request that is pipelined behind one that waits ends the connection, so no answer waits without need.
    const run = (context: RequestContext) =>
      then(answer(context), (made) => this.send(context, made));
    const tooLarge = errorBodyOf('body too large', `${bodyBytesMax} bytes`);
    return { method, path, headers: HEADERS, bodyBytesMax, admits, run, tooLarge };
  }

  /**
   * On a loopback address only names of this machine are accepted. Otherwise a web page whose own name
   * resolves to this address could read the answers of the node (DNS rebinding).
   */
  private misdirected(context: RequestContext): Answer | undefined {
    const host = hostOf(context);
    if (host !== undefined && !(this.isLocal && !isLoopback(host.replace(/^\[|\]$/g, '')))) {
      return undefined;
    }
    return problem(421, 'misdirected request', 'Host must be a name of this machine');
  }

  private probe(path: AdminPath): Route {
    const { method, token, type } = ADMIN_TABLE[path];
    const make = this.options.handlers[path];
    const answer = COSTLY.includes(path) ? () => this.budget.answer(path, make) : make;
    const needs = (): boolean =>
      token === 'always' || (token !== 'no' && this.options.tokens.operator !== '');
    return this.route(
      method,
      path,
      (context) =>
        foreign(context) ??
        (needs()
          ? this.refusal(context, token === 'where it is set, or RESOLVER_TOKEN')
          : undefined),
      () => then(answer(), (made) => ({ ...made, type, headers: NO_STORE })),
    );
  }

  private operation(key: OperationKey, row: OperationRow): Route {
    const { bodyBytes = BODY_BYTES_MAX } = row;
    const [method, path] = key.split(' ') as [Method, string];
    const refusal = (context: RequestContext): Answer | undefined => {
      const refused = foreign(context);
      if (refused !== undefined) return refused;
      if (row.ofPlay !== true || this.options.tokens.operator !== '') {
        const unnamed = this.refusal(context, mayRun('resolver', row));
        if (unnamed !== undefined) return unnamed;
      }
      return this.options.operations() === undefined ? STARTING : undefined;
    };
    const answer = async (context: RequestContext): Promise<Answer> => {
      const operations = this.options.operations();
      if (operations === undefined) return STARTING;
      const { address, body, query } = context;
      const [, , , token, operator] = asked(context);
      const actor = OPERATOR.test(operator) ? `${operator}, ${address}` : address;
      const role = this.access.roleOf(token, operations.tokens) || 'operator';
      const { sequence, ...made } = await operations.run({ key, query, body, actor, role });
      const written = sequence === undefined ? [] : sequenceHeaders(sequence);
      return { ...made, type: JSON_TYPE, headers: [...NO_STORE, ...written] };
    };
    return this.route(method, path, refusal, answer, method === 'POST' ? bodyBytes : 0);
  }

  private file({ path }: RequestContext): Answer | Promise<Answer> {
    if (this.methods.has(path)) return this.notAllowed(path);
    const file = this.options.file(path);
    return file === undefined ? problem(404, 'not found') : then(file, fileAnswer);
  }

  private notAllowed(path: string): Answer {
    const methods = this.methods.get(path) ?? ['GET'];
    const names = methods.map((name) => (name === 'GET' ? 'GET, HEAD' : name)).join(', ');
    return problem(405, 'method not allowed', '', [['Allow', names]]);
  }

  private refusal(context: RequestContext, allowsResolver: boolean): Answer | undefined {
    const tokens = this.options.operations()?.tokens ?? this.options.tokens;
    if (tokens.operator === '') return STARTING;
    const { address } = context;
    const seconds = this.access.waitSeconds(address);
    if (seconds > 0) return tooMany(seconds);
    const role = this.access.roleOf(asked(context)[3], tokens);
    if (role === 'operator') return undefined;
    if (role === 'resolver') return allowsResolver ? undefined : OF_OPERATOR;
    if (role === undefined) this.access.countWrong(address);
    return UNAUTHORIZED;
  }

  private send(context: RequestContext, { body, headers, policy, status, type }: Answer): void {
    context.reply(status, body, [
      ['Content-Type', type],
      ...headers,
      ['Content-Security-Policy', policy ?? this.policy(hostOf(context))],
    ]);
  }

  /** Allows only the listener's own files, and the public API, for books and trades on the page. */
  private policy(host: string | undefined): string {
    const { host: apiHost, port } = this.options.api();
    const api = `${apiHost || host || 'localhost'}:${port}`;
    return (
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      `manifest-src 'self'; connect-src 'self' http://${api} ws://${api}; base-uri 'none'; ` +
      "form-action 'self'; frame-ancestors 'none'"
    );
  }
}

function then<T, U>(value: T | Promise<T>, use: (value: T) => U): U | Promise<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}

const NOBODY_REFUSED = (): undefined => undefined;

function asked({ headers }: RequestContext): Asked {
  return headers as Asked;
}

function hostOf(context: RequestContext): string | undefined {
  return AUTHORITY.exec(asked(context)[0])?.[1];
}

function fileAnswer({ bytes, policy, type }: PageFile): Answer {
  return { status: 200, type, body: bytes, headers: NO_CACHE, policy };
}

/** Refusal of a request from a web page that is not of this listener. */
function foreign(context: RequestContext): Answer | undefined {
  const [host, origin, site] = asked(context);
  const isOther = origin !== '' && origin !== `http://${host}`;
  if (!isOther && !FOREIGN_SITES.includes(site)) return undefined;
  return problem(403, 'forbidden', 'not for pages of other sites');
}

function tooMany(seconds: number): Answer {
  const detail = `wrong tokens came from this address: it may send one again in ${seconds} s`;
  return problem(429, 'Too Many Requests', detail, [['Retry-After', `${seconds}`], ...NO_STORE]);
}

function problem(
  status: number,
  error: string,
  detail = '',
  headers: Answer['headers'] = NO_STORE,
): Answer {
  return { status, type: JSON_TYPE, body: errorBodyOf(error, detail), headers };
}

const STARTING = problem(
  503,
  'not ready',
  'the node starts, ends or cannot write: operations are not taken',
);
const UNAUTHORIZED = problem(
  401,
  'unauthorized',
  'Authorization: Bearer and ADMIN_TOKEN; where none is set, operations take that of DATA_DIR/admin.token',
  [['WWW-Authenticate', 'Bearer'], ...NO_STORE],
);
const OF_OPERATOR = problem(
  403,
  'forbidden',
  'RESOLVER_TOKEN does not allow this: it needs ADMIN_TOKEN',
);
