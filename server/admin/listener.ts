/**
 * Admin listener: a second HTTP server in the I/O thread, on an address of its own, for operators. It opens
 * before recovery and closes last, so it can show the state of the node at any time.
 *
 * Not here: the answers (admin-table.ts, summary.ts); the readiness of the node.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { errorBodyOf } from '../common/error-bodies.ts';
import { isLoopback } from '../http/address.ts';
import { listenError } from '../http/listening.ts';
import { sequenceHeaders } from '../http/sequence.ts';
import {
  type HttpRequest,
  type HttpResponse,
  loadUws,
  type us_listen_socket,
} from '../http/uws.ts';
import { ADMIN_TABLE, type AdminPath } from './admin-table.ts';
import type { OperationRow } from './operation-row.ts';
import { isOfPlay, isOperation, OPERATIONS, type OperationKey } from './operation-table.ts';
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
  /** 0 = an ephemeral port. */
  readonly port: number;
  /** '' = no token is required. */
  readonly token: string;
  readonly handlers: Readonly<Record<AdminPath, () => AdminAnswer | Promise<AdminAnswer>>>;
  /** Undefined while the node starts or ends. */
  readonly operations: () => AdminOperations | undefined;
  readonly files: ReadonlyMap<string, PageFile>;
  /** Files read at their first request; undefined for other paths. */
  readonly lateFile: (path: string) => Promise<PageFile> | undefined;
  /** The public API, to which the page may connect. */
  readonly api: () => PublicApi;
  readonly log: (line: string) => void;
  /** Milliseconds of a monotonic clock, for the time budget of costly answers. */
  readonly elapsed?: () => number;
}

/** Operations of a node, and the token that they require. */
export interface AdminOperations {
  readonly token: string;
  readonly run: (call: OperationCall) => Promise<OperationAnswer>;
}

export interface AdminServer {
  readonly port: number;
  /** Closes every connection. */
  close(): void;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers: readonly (readonly [string, string])[];
  readonly policy?: string;
}

const JSON_TYPE = 'application/json';
const NO_STORE = [['Cache-Control', 'no-store']] as const;
/** The page must be of the same version as the node that serves it. */
const NO_CACHE = [['Cache-Control', 'no-cache']] as const;
const METHODS: readonly string[] = ['get', 'head', 'post'];
const CHALLENGE = [['WWW-Authenticate', 'Bearer'], ...NO_STORE] as const;

/**
 * Requests in an event-loop iteration, of all connections together. Operators and scrapers send far fewer. A
 * client that pipelines more is served until the library has read its bytes, and is then disconnected.
 */
const REQUESTS_PER_TURN = 64;

/** These answers take milliseconds, so they have a time budget (work-budget.ts). */
const COSTLY: readonly AdminPath[] = ['/metrics', '/page/summary'];

const BODY_BYTES_MAX = 64 * 1024;
/** Name that a caller states: the token does not distinguish operators. */
const OPERATOR = /^[\w.@+ -]{1,64}$/;
const STARTING = 'the node starts, ends or cannot write: operations are not taken';

/** Values by which browsers mark requests from pages of other sites. Other clients send none. */
const FOREIGN_SITES: readonly string[] = ['cross-site', 'same-site'];

/** A host name or an IPv4 address, or an IPv6 one in brackets, and a port. */
const AUTHORITY = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/;

/** Listens. Rejects with advice when the port is taken or the address is not local. */
export async function listenAdmin(options: AdminOptions): Promise<AdminServer> {
  const uws = loadUws();
  const app = uws.App();
  const answerer = new Answerer(options);
  app.any('/*', (response, request) => answerer.answer(response, request));
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(options.host, options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (socket === false) {
    app.close();
    throw await listenError(options.host, options.port, 'ADMIN_HOST, ADMIN_PORT');
  }
  return { port: uws.us_socket_local_port(socket), close: () => void app.close() };
}

class Answerer {
  private readonly options: AdminOptions;
  private readonly isLocal: boolean;
  private readonly tokenHash: Buffer | undefined;
  private readonly budget: WorkBudget<AdminAnswer>;
  private inTurn = 0;

  constructor(options: AdminOptions) {
    this.options = options;
    this.budget = new WorkBudget(options.elapsed ?? (() => performance.now()));
    this.isLocal = isLoopback(options.host);
    this.tokenHash = options.token === '' ? undefined : hashOf(options.token);
  }

  answer(response: HttpResponse, request: HttpRequest): void {
    if (!this.fitsTurn()) {
      response.close();
      return;
    }
    const isHead = request.getMethod() === 'head';
    const host = AUTHORITY.exec(request.getHeader('host'))?.[1];
    let isOver = false;
    const send = (answer: Answer): void => {
      if (isOver) return;
      isOver = true;
      response.cork(() => this.write(response, answer, isHead, host ?? ''));
    };
    response.onAborted(() => {
      isOver = true;
    });
    const answer = this.refusal(request, host) ?? this.find(request, response);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }

  private fitsTurn(): boolean {
    if (this.inTurn === 0) {
      setImmediate(() => {
        this.inTurn = 0;
      });
    }
    this.inTurn += 1;
    return this.inTurn <= REQUESTS_PER_TURN;
  }

  /**
   * On a loopback address only names of this machine are accepted. Otherwise a web page whose own name
   * resolves to this address could read the answers of the node (DNS rebinding).
   */
  private refusal(request: HttpRequest, host: string | undefined): Answer | undefined {
    if (host === undefined || (this.isLocal && !isLoopback(host.replace(/^\[|\]$/g, '')))) {
      return problem(421, 'misdirected request', 'Host must be a name of this machine');
    }
    const allowed = methodsOf(request.getUrl());
    const method = request.getMethod() === 'post' ? 'POST' : 'GET';
    if (!allowed.includes(method) || !METHODS.includes(request.getMethod())) {
      const names = allowed.map((name) => (name === 'GET' ? 'GET, HEAD' : name)).join(', ');
      return problem(405, 'method not allowed', '', [['Allow', names]]);
    }
    // A browser names the page with each POST. No page may change anything in the name of its reader.
    if (method === 'POST' && request.getHeader('origin') !== '') {
      return problem(403, 'forbidden', 'not from a web page');
    }
    return undefined;
  }

  private find(request: HttpRequest, response: HttpResponse): Answer | Promise<Answer> {
    const path = request.getUrl();
    const file = this.options.files.get(path);
    if (file !== undefined) return fileAnswer(file);
    const key = operationOf(request);
    if (key !== undefined) return this.operate(key, request, response);
    if (!Object.hasOwn(ADMIN_TABLE, path)) {
      return this.options.lateFile(path)?.then(fileAnswer) ?? problem(404, 'not found');
    }
    const row = ADMIN_TABLE[path as AdminPath];
    // The page could not read the answer, but could have it made many times.
    if (isForeign(request)) return problem(403, 'forbidden', 'not for pages of other sites');
    if (row.token && !this.isAllowed(request)) return UNAUTHORIZED;
    return this.run(path as AdminPath);
  }

  /**
   * Operations need a token in any case: that of the configuration, or that of DATA_DIR, which other users of
   * this machine cannot read.
   */
  private operate(
    key: OperationKey,
    request: HttpRequest,
    response: HttpResponse,
  ): Answer | Promise<Answer> {
    if (isForeign(request)) return problem(403, 'forbidden', 'not for pages of other sites');
    if (!this.isAllowed(request)) return UNAUTHORIZED;
    const operations = this.options.operations();
    if (operations === undefined) return problem(503, 'not ready', STARTING);
    if (!isOfPlay(key) && !hasToken(request, hashOf(operations.token))) return UNAUTHORIZED;
    const name = OPERATOR.exec(request.getHeader('x-operator'))?.[0];
    const address = Buffer.from(response.getRemoteAddressAsText()).toString();
    const actor = name === undefined ? address : `${name}, ${address}`;
    const query = request.getQuery() ?? '';
    const { bodyBytes = BODY_BYTES_MAX }: OperationRow = OPERATIONS[key];
    return bodyOf(request, response, bodyBytes).then(async (body) => {
      if (body === undefined) return problem(413, 'body too large', `${bodyBytes} bytes`);
      const { sequence, ...answer } = await operations.run({ key, query, body, actor });
      const written = sequence === undefined ? [] : sequenceHeaders(sequence);
      return { ...answer, type: JSON_TYPE, headers: [...NO_STORE, ...written] };
    });
  }

  private async run(path: AdminPath): Promise<Answer> {
    try {
      const make = this.options.handlers[path];
      const isCostly = COSTLY.includes(path);
      const { body, status } = await (isCostly ? this.budget.answer(path, make) : make());
      return { status, type: ADMIN_TABLE[path].type, body, headers: NO_STORE };
    } catch (error) {
      this.options.log(
        `admin ${path} failed: ${error instanceof Error ? error.stack : String(error)}`,
      );
      return problem(500, 'internal_error');
    }
  }

  private isAllowed(request: HttpRequest): boolean {
    return this.tokenHash === undefined || hasToken(request, this.tokenHash);
  }

  private write(response: HttpResponse, answer: Answer, isHead: boolean, host: string): void {
    const { body, headers, status, type } = answer;
    response.writeStatus(`${status} ${STATUS_CODES[status]}`);
    response.writeHeader('Content-Type', type);
    response.writeHeader('X-Content-Type-Options', 'nosniff');
    response.writeHeader('Referrer-Policy', 'no-referrer');
    response.writeHeader('Cross-Origin-Resource-Policy', 'same-origin');
    response.writeHeader('Content-Security-Policy', answer.policy ?? this.policy(host));
    for (const [name, value] of headers) response.writeHeader(name, value);
    if (isHead) response.endWithoutBody(Buffer.byteLength(body));
    else response.end(body);
  }

  /** Allows only the listener's own files, and the public API, for books and trades on the page. */
  private policy(host: string): string {
    const { host: apiHost, port } = this.options.api();
    const api = `${apiHost || host || 'localhost'}:${port}`;
    return (
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      `manifest-src 'self'; connect-src 'self' http://${api} ws://${api}; base-uri 'none'; ` +
      "form-action 'self'; frame-ancestors 'none'"
    );
  }
}

/** Methods of a path; GET for an unknown path. */
function methodsOf(path: string): ('GET' | 'POST')[] {
  if (Object.hasOwn(ADMIN_TABLE, path)) return [ADMIN_TABLE[path as AdminPath].method];
  const taken = (['GET', 'POST'] as const).filter((method) => isOperation(`${method} ${path}`));
  return taken.length === 0 ? ['GET'] : taken;
}

function operationOf(request: HttpRequest): OperationKey | undefined {
  const method = request.getMethod() === 'post' ? 'POST' : 'GET';
  const key = `${method} ${request.getUrl()}`;
  return isOperation(key) ? key : undefined;
}

/** Bytes of a body; undefined beyond the bound. */
function bodyOf(
  request: HttpRequest,
  response: HttpResponse,
  bytesMax: number,
): Promise<Buffer | undefined> {
  if (request.getMethod() !== 'post') return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      // The chunk is detached when this returns.
      if (bytes <= bytesMax) chunks.push(Buffer.from(new Uint8Array(chunk)));
      else resolve(undefined);
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
}

function fileAnswer({ bytes, policy, type }: PageFile): Answer {
  const common = { status: 200, type, body: bytes, headers: NO_CACHE };
  return policy === undefined ? common : { ...common, policy };
}

function hasToken(request: HttpRequest, hash: Buffer): boolean {
  const token = /^Bearer +(\S+)$/i.exec(request.getHeader('authorization'))?.[1];
  return token !== undefined && timingSafeEqual(hashOf(token), hash);
}

/** Returns true for a request from a page of another site. */
function isForeign(request: HttpRequest): boolean {
  const origin = request.getHeader('origin');
  const isOther = origin !== '' && origin !== `http://${request.getHeader('host')}`;
  return isOther || FOREIGN_SITES.includes(request.getHeader('sec-fetch-site'));
}

function problem(
  status: number,
  error: string,
  detail = '',
  headers: Answer['headers'] = NO_STORE,
): Answer {
  return { status, type: JSON_TYPE, body: errorBodyOf(error, detail), headers };
}

const UNAUTHORIZED = problem(
  401,
  'unauthorized',
  'Authorization: Bearer and ADMIN_TOKEN; where none is set, operations take that of DATA_DIR/admin.token',
  CHALLENGE,
);

/** Hashes have equal length, which timingSafeEqual requires. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
