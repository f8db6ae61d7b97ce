/**
 * Requests of the load tool that may safely be sent again: over the client's connections, one after
 * another.
 * Thread: the tool's only one.
 */
import { Calls, ServerClock } from '../../client/calls.ts';
import { ApiError } from '../../client/errors.ts';
import { HttpClient, type Method, type Reply } from '../../client/http.ts';
import { Keys } from '../../client/keys.ts';
import { untilAnswered } from '../../client/retry.ts';

/** No answer within this time counts as none at all. */
const ANSWER_TIMEOUT_MS = 60_000;
const PATIENCE_MS = 20_000;
const BUSY_PAUSE_MS = 50;

/** A client with a single connection. */
export function openClient(url: URL): HttpClient {
  return new HttpClient(url, { connections: 1, timeoutMs: ANSWER_TIMEOUT_MS });
}

/**
 * Waits where the node is busy, throttles or has just dropped the connection, and throws on any other
 * answer but 200.
 */
export async function ask(
  client: HttpClient,
  method: Method,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Promise<unknown> {
  const what = `${method} ${path}`;
  const send = (): Promise<Reply> => client.send(method, path, headers, body);
  const { reply } = await untilAnswered(what, 'always', PATIENCE_MS, send);
  if (reply.status !== 200) throw new ApiError(what, reply.status, reply.body);
  return JSON.parse(reply.body);
}

/** Rules of a node for requests of API keys. */
export interface Level1 {
  readonly prefix: string;
  readonly chainId: number;
}

/** The level-1 routes. */
export function keysOf(client: HttpClient, { chainId, prefix }: Level1): Keys {
  const clock = new ServerClock(Date.now);
  return new Keys(new Calls(client, clock, PATIENCE_MS, prefix, undefined), prefix, chainId);
}

export function busyPauseMs(reply: Reply): number {
  return reply.retryAfterSeconds > 0 ? reply.retryAfterSeconds * 1000 : BUSY_PAUSE_MS;
}

export function refusal(method: string, path: string, reply: Reply): string {
  return `${method} ${path} answered ${reply.status} ${reply.body.slice(0, 300)}`;
}
