/**
 * Calls of any route by its key, typed by the node's own schemas: `call('GET /book', { query })`.
 * Adds the credentials that the route requires, repeats a request when that is safe, and throws on
 * every answer except 200.
 */
import { type Identity, level2, readOnly } from './credentials.ts';
import { NoAnswerError, refusal } from './errors.ts';
import type { Method, Reply, Transport } from './http.ts';
import { parseMoney, type TextMoney } from './money.ts';
import { type Answered, type Repeats, untilAnswered } from './retry.ts';
import { ACCESS, type Routes } from './types.ts';

export type RouteKey = keyof Routes;

type PathNames<Key> = Key extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<`/${Rest}`>
  : Key extends `${string}:${infer Name}`
    ? Name
    : never;

/** A parameter that may be repeated is a list; undefined counts as absent. */
type Query<Asked> = {
  readonly [Name in keyof Asked]:
    | Asked[Name]
    | readonly Asked[Name][]
    | (Partial<Pick<Asked, Name>> extends Pick<Asked, Name> ? undefined : never);
};
type Part<Name extends string, Value> =
  Partial<Value> extends Value
    ? { readonly [key in Name]?: Value | undefined }
    : { readonly [key in Name]: Value };

export type RouteRequest<Key extends RouteKey> = ([PathNames<Key>] extends [never]
  ? unknown
  : { readonly path: Readonly<Record<PathNames<Key>, string | number>> }) &
  Part<'query', Query<Omit<Routes[Key]['query'], PathNames<Key>>>> &
  (Routes[Key]['body'] extends undefined ? unknown : { readonly body: Routes[Key]['body'] });

export interface AnyRequest {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** Each of these calls changes something, so one without an answer is not repeated. */
const UNDONE: ReadonlySet<string> = new Set<RouteKey>([
  'POST /auth/readonly-api-key',
  'DELETE /auth/api-key',
  'DELETE /auth/derive-api-key',
  'DELETE /auth/readonly-api-key',
]);

/**
 * Paths that two APIs of a node share. The types have the shapes of the catalog, so these calls use
 * its base path.
 */
const OF_THE_CATALOG: ReadonlySet<string> = new Set<RouteKey>([
  'GET /markets',
  'GET /markets/:id',
  'GET /sampling-markets',
  'GET /sampling-simplified-markets',
]);
const CATALOG_BASE = '/gamma';

/** A request as it is sent: path without query, and the route that it is one of. */
export interface RequestTarget {
  readonly method: Method;
  /** Path of the route, as the node serves it. */
  readonly pattern: string;
  readonly path: string;
  /** Values of the parameters of the path, percent-encoded, in their order. */
  readonly parameters: readonly string[];
  /** Without '?'. */
  readonly query: string;
}

/** Returns what is sent for a route and its request. Pure. */
export function targetOf(
  route: RouteKey,
  { path: values = {}, query = {} }: AnyRequest,
): RequestTarget {
  const [method, own] = route.split(' ') as [Method, string];
  const pattern = OF_THE_CATALOG.has(route) ? `${CATALOG_BASE}${own}` : own;
  const parameters: string[] = [];
  const path = pattern.replaceAll(/:(\w+)/g, (_, name) => {
    const value = encodeURIComponent(values[name] ?? '');
    parameters.push(value);
    return value;
  });
  return { method, pattern, path, parameters, query: queryText(query) };
}

/** The node's clock: ours plus the difference that was observed. */
export class ServerClock {
  readonly #clock: () => number;
  #aheadSeconds = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Unix seconds as decimal text. */
  now(): string {
    return String(Math.floor(this.#clock() / 1_000) + this.#aheadSeconds);
  }

  /** Unix milliseconds, as exact as the seconds of the node are. */
  nowMs(): number {
    return Math.floor(this.#clock()) + 1_000 * this.#aheadSeconds;
  }

  set(seconds: number): void {
    this.#aheadSeconds = seconds - Math.floor(this.#clock() / 1_000);
  }

  /** True when a request was refused because of its timestamp; then the clock is set. */
  learn({ body, status }: Reply): boolean {
    const seconds = status === 401 && /stale timestamp, server time is (\d+)/.exec(body)?.[1];
    if (typeof seconds !== 'string') return false;
    this.set(Number(seconds));
    return true;
  }
}

export class Calls {
  readonly http: Transport;
  readonly clock: ServerClock;
  readonly #patienceMs: number;
  readonly #prefix: string;
  readonly #identity: Identity | undefined;

  constructor(
    http: Transport,
    clock: ServerClock,
    patienceMs: number,
    prefix: string,
    identity: Identity | undefined,
  ) {
    this.http = http;
    this.clock = clock;
    this.#patienceMs = patienceMs;
    this.#prefix = prefix;
    this.#identity = identity;
  }

  /** Returns calls with the same credentials over another transport. */
  over(http: Transport): Calls {
    return new Calls(http, this.clock, this.#patienceMs, this.#prefix, this.#identity);
  }

  get identity(): Identity {
    if (this.#identity === undefined) throw new Error('this call needs a wallet or a key');
    return this.#identity;
  }

  /** Returns the answer of the node unchanged. @throws ApiError, NoAnswerError */
  async call<Key extends RouteKey>(
    route: Key,
    request: RouteRequest<Key>,
  ): Promise<Routes[Key]['answer']> {
    return JSON.parse((await this.#bodyOf(route, request)).body) as Routes[Key]['answer'];
  }

  /** Returns an answer with all money as decimal text. */
  async callMoney<Key extends RouteKey>(
    route: Key,
    request: RouteRequest<Key>,
  ): Promise<TextMoney<Routes[Key]['answer']>> {
    return parseMoney<Routes[Key]['answer']>((await this.#bodyOf(route, request)).body);
  }

  /** Sends a body of exactly these bytes. Also returns how many earlier tries got no answer. */
  async callText<Key extends RouteKey>(
    route: Key,
    request: AnyRequest,
    text: string,
  ): Promise<{ readonly answer: Routes[Key]['answer']; readonly lost: number }> {
    const { body, lost } = await this.#bodyOf(route, request, text);
    return { answer: JSON.parse(body) as Routes[Key]['answer'], lost };
  }

  /** @param text in place of the body of the request */
  async #bodyOf(
    route: RouteKey,
    request: AnyRequest,
    text = request.body === undefined ? '' : JSON.stringify(request.body),
  ): Promise<{ readonly body: string; readonly lost: number }> {
    const { path: values = {}, query = {} } = request;
    const { method, path, query: asked } = targetOf(route, request);
    const headers = (): Record<string, string> => this.#headers(route, method, path, text);
    const target = asked === '' ? path : `${path}?${asked}`;
    const { lost, reply } = await this.send(route, method, target, headers, text);
    if (reply.status !== 200) {
      const tokenId = values.token_id ?? query.token_id;
      const error = refusal(route, reply, tokenId === undefined ? undefined : String(tokenId));
      // An earlier try without an answer may have been carried out, although this one is refused.
      throw lost > 0 && method !== 'GET' ? new NoAnswerError(route, error) : error;
    }
    return { body: reply.body, lost };
  }

  /**
   * Sends a request until it is answered; corrects a wrong clock once. New headers each time.
   * @param corrected called before the request is sent again with another clock
   */
  async send(
    route: RouteKey,
    method: Method,
    target: string,
    headers: () => Readonly<Record<string, string>>,
    body: string,
    corrected?: () => Promise<void>,
  ): Promise<Answered> {
    const repeats: Repeats = UNDONE.has(route) ? 'undone' : 'always';
    const sendOnce = (): Promise<Reply> => this.http.send(method, target, headers(), body);
    const first = await untilAnswered(route, repeats, this.#patienceMs, sendOnce, this.http);
    if (!this.clock.learn(first.reply)) return first;
    await corrected?.();
    const second = await untilAnswered(route, repeats, this.#patienceMs, sendOnce, this.http);
    return { ...second, lost: first.lost + second.lost };
  }

  #headers(route: RouteKey, method: Method, path: string, body: string): Record<string, string> {
    const access = (ACCESS as Readonly<Record<string, string>>)[route];
    const isOpen = access === 'level2-or-none' && this.#identity === undefined;
    if (access === undefined || isOpen) return {};
    const { identity } = this;
    if ('key' in identity) {
      const { address, key } = identity;
      return level2(this.#prefix, address, key, method, path, body, this.clock.now());
    }
    return readOnly(this.#prefix, identity.address, identity.readOnlyKey);
  }
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) pairs.append(name, String(each));
    }
  }
  return pairs.toString();
}
