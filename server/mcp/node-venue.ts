/**
 * The node as tools in the node itself see it: requests of its own routes, for the caller of a tool. Credentials, limits
 * and refusals are those of clients.
 *
 * Thread: I/O.
 */
import { type AnyRequest, type RouteKey, targetOf } from '../../client/calls.ts';
import { refusal } from '../../client/errors.ts';
import type { Routes } from '../../client/types.ts';
import { type SignedRequest, signedHeaders } from '../auth/auth.ts';
import type { Credential } from '../auth/key-registry.ts';
import type { InnerRequests, Route } from '../http/request-context.ts';
import type { Rights, Venue } from './tool.ts';

/** Caller of a tool, whose credentials were checked. */
export interface ToolCaller {
  readonly rights: Rights;
  /** API key or read-only key; '' without one. */
  readonly key: string;
  /** Address with its checksum; '' without a key. */
  readonly address: string;
  /** Wallet whose agent the address is. */
  readonly agentOf: string | undefined;
  /** Absent for a read-only key. */
  readonly credential: Credential | undefined;
}

export interface NodeVenueParts {
  /** Routes by method and path. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Lower-case names of the headers of level 2, and of a read-only key. */
  readonly headers2: readonly string[];
  readonly readOnlyHeader: string;
  /** Unix seconds. */
  readonly seconds: () => number;
}

const DONE = 200;
const NO_HEADERS: ReadonlyMap<string, string> = new Map();

export function nodeVenue(
  parts: NodeVenueParts,
  requests: InnerRequests,
  caller: ToolCaller,
): Venue {
  const call = async <Key extends RouteKey>(
    name: Key,
    request: AnyRequest,
  ): Promise<Routes[Key]['answer']> => {
    const { method, parameters, path, pattern, query } = targetOf(name, request);
    const route = parts.routes.get(`${method} ${pattern}`);
    if (route === undefined) throw new Error(`${name} is not served`);
    const body = Buffer.from(request.body === undefined ? '' : JSON.stringify(request.body));
    const values = credentialHeaders(parts, caller, { method, path, body });
    const headers = route.headers.map((each) => values.get(each) ?? '');
    const { body: text, status } = await requests.run(route, {
      path,
      query,
      parameters,
      headers,
      body,
    });
    if (status !== DONE) throw refusal(name, { status, body: text });
    return JSON.parse(text) as Routes[Key]['answer'];
  };
  const { address, agentOf, key, rights } = caller;
  return { rights, owner: key, address, wallet: agentOf ?? address, agentOf, call };
}

/** Header values by name with which a route finds the same caller. */
function credentialHeaders(
  { headers2, readOnlyHeader, seconds }: NodeVenueParts,
  { address, credential, key }: ToolCaller,
  request: Pick<SignedRequest, 'body' | 'method' | 'path'>,
): ReadonlyMap<string, string> {
  if (key === '') return NO_HEADERS;
  if (credential === undefined) {
    return new Map([
      [headers2[0]!, address],
      [readOnlyHeader, key],
    ]);
  }
  const values = signedHeaders(credential, request, seconds());
  return new Map(headers2.map((name, i) => [name, values[i]!]));
}
