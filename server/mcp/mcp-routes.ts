/**
 * POST /mcp: the tools over streamable HTTP. Each request stands for itself: there are no sessions, and no streams stay
 * open. Rules: docs/protocol.md#tools-for-agents
 *
 * Thread: I/O, outside of the path of orders: a tool call is some requests of other routes.
 */
import { type Auth, type KeyOwner, level2Headers, readOnlyHeader } from '../auth/auth.ts';
import { checksumAddress } from '../auth/checksum.ts';
import { errorBody, OUTCOME_UNKNOWN } from '../common/error-bodies.ts';
import { readJson, TOO_MUCH, TOO_MUCH_DETAIL } from '../common/json.ts';
import type { JsonBounds } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import type { CorsOrigins } from '../http/cors.ts';
import type { RequestContext, Route } from '../http/http.ts';
import { route } from '../http/route.ts';
import { type NodeVenueParts, nodeVenue, type ToolCaller } from './node-venue.ts';
import type { ToolProtocol } from './protocol.ts';

/** Headers of the protocol. */
const HEADERS = ['origin', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;
/** Headers that clients of all versions send. As on other routes, a body is JSON whatever its Content-Type. */
const USUAL = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
/** Members of a message; others are ignored. */
const MEMBERS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
/** Position of the read-only key, behind the headers of level 2. */
const READ_ONLY_AT = 5;
const BOUNDS: JsonBounds = { depth: 16, values: 1_000 };

const Message = Type.Object(
  { jsonrpc: Type.Literal('2.0', { description: '2.0' }) },
  { description: 'a message of the Model Context Protocol' },
);

const QUERY = compileQuery(
  Type.Object({
    wallet: Type.Optional(
      Type.String({
        pattern: '^0x[0-9a-fA-F]{40}$',
        description: 'a wallet whose agent the caller is',
      }),
    ),
  }),
);

const FOREIGN_ORIGIN = errorBody('ORIGIN_NOT_ALLOWED');
const ELSEWHERE = errorBody('NOT_APPLIED_YET');
const TOO_LARGE = errorBody('INVALID_BODY', TOO_MUCH_DETAIL);
const NO_MESSAGE = errorBody('INVALID_BODY', 'the body must be one JSON-RPC message');

/** Statuses of the protocol that the node documents; other refusals become a 400. */
const STATUSES: ReadonlySet<number> = new Set([200, 202, 400, 404]);
/** Status of the protocol where the time of a request is over. */
const OVER = 499;
const BAD_REQUEST = 400;
const FAILED = 500;

export interface McpParts {
  readonly auth: Auth;
  readonly credentialPrefix: string;
  readonly corsOrigins: CorsOrigins;
  /** Unix seconds. */
  readonly seconds: () => number;
}

/** Tools of a running node. */
export class McpService {
  private readonly protocol: ToolProtocol;
  private readonly parts: McpParts;
  private readonly routes = new Map<string, Route>();
  private readonly venueParts: NodeVenueParts;

  constructor(protocol: ToolProtocol, parts: McpParts) {
    const { credentialPrefix, seconds } = parts;
    this.protocol = protocol;
    this.parts = parts;
    this.venueParts = {
      routes: this.routes,
      headers2: level2Headers(credentialPrefix),
      readOnlyHeader: readOnlyHeader(credentialPrefix),
      seconds,
    };
  }

  /** Names the routes that tools call, once all of them are made. */
  open(routes: readonly Route[]): void {
    for (const each of routes) this.routes.set(`${each.method} ${each.path}`, each);
  }

  reply(
    context: RequestContext,
    caller: KeyOwner | undefined,
    agentOf: string | undefined,
  ): void | Promise<void> {
    const sent = context.headers.slice(-HEADERS.length);
    const [origin = ''] = sent;
    // A page of another site must not use a node that only its reader's machine reaches.
    if (origin !== '' && !this.parts.corsOrigins.includes(origin)) {
      return context.reply(403, FOREIGN_ORIGIN);
    }
    const requests = context.innerRequests?.();
    // A node of a cluster that does not know the key yet has forwarded the request.
    if (requests === undefined) return context.reply(503, ELSEWHERE, RETRY_SOON);
    const venue = nodeVenue(this.venueParts, requests, this.callerOf(context, caller, agentOf));
    const named = HEADERS.map((name, i) => [name, sent[i] ?? '']);
    const headers = Object.fromEntries(named.filter(([, value]) => value !== ''));
    return readJson(context, BOUNDS, async (message) => {
      if (message === TOO_MUCH) return context.reply(BAD_REQUEST, TOO_LARGE);
      if (typeof message !== 'object' || message === null || Array.isArray(message)) {
        return context.reply(BAD_REQUEST, NO_MESSAGE);
      }
      const known = MEMBERS.flatMap((name) =>
        Object.hasOwn(message, name) ? [[name, message[name as keyof typeof message]]] : [],
      );
      const { body, status } = await this.protocol.http(
        { ...headers, ...USUAL },
        Object.fromEntries(known),
        venue,
      );
      if (status === OVER) return context.reply(503, OUTCOME_UNKNOWN, RETRY_SOON);
      const shown = STATUSES.has(status) || status >= FAILED ? status : BAD_REQUEST;
      context.reply(shown, body);
    });
  }

  private callerOf(
    { headers }: RequestContext,
    caller: KeyOwner | undefined,
    agentOf: string | undefined,
  ): ToolCaller {
    if (caller === undefined) {
      return { rights: 'none', key: '', address: '', agentOf: undefined, credential: undefined };
    }
    const address = checksumAddress(caller.address);
    const isReadOnly = headers[1] === '' && headers[READ_ONLY_AT] !== '';
    const known = { key: caller.apiKey, address, agentOf };
    if (isReadOnly) return { ...known, rights: 'read', credential: undefined };
    const credential = this.parts.auth.registry.lookup(caller.apiKey);
    return { ...known, rights: 'trade', credential };
  }
}

export const MCP_ROUTES = [
  route(
    'POST /mcp',
    {
      access: 'level2-or-none',
      limits: ['mcp', 'trading'],
      query: QUERY,
      body: Message,
      example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      bodyBounds: BOUNDS,
      answer: Message,
      headers: HEADERS,
      protocolError: Message,
      served: ({ mcp }) => mcp,
      does: 'tools for agents (Model Context Protocol), with an API key also those of its wallet, or of the one whose agent it is: `wallet`; needs `MCP=on`',
    },
    (service: McpService | undefined) =>
      (context, { wallet }, caller) =>
        service?.reply(context, caller, wallet),
  ),
];
