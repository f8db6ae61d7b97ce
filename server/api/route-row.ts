/**
 * What a row of the route table says.
 *
 * Thread: any.
 */
import type { JsonBounds } from '../common/json-measure.ts';
import type { QuerySpec } from '../common/query.ts';
import type { TSchema } from '../common/schema.ts';
import type { RateClass } from '../http/rate-limits.ts';

/**
 * Whose errors a route speaks: the three APIs have different bodies
 * (docs/protocol.md#status-codes).
 */
export type Api = 'catalog' | 'data' | 'trading';

/**
 * What a caller has to prove: nothing; a wallet by its signature (level 1); an API key by its HMAC
 * (level 2), where `level2-read` is content with a read-only key.
 */
export type Access = 'none' | 'level1' | 'level2' | 'level2-read';

/** The largest body: none is read, a mebibyte, or what a batch of orders may take. */
export type BodyBound = 'none' | 'mebibyte' | 'batch';

export interface RouteRow {
  /** One line for API.md and the API document. */
  readonly does: string;
  /** It does what the row before it does that has no such mark; `does` says how it differs. */
  readonly repeats?: true;
  readonly api: Api;
  readonly access: Access;
  readonly bodyMax: BodyBound;
  /** Every rate limit that covers it (docs/protocol.md#rate-limits). */
  readonly limits: readonly RateClass[];
  readonly query: QuerySpec<unknown>;
  /** Undefined where no body is read. */
  readonly body: TSchema | undefined;
  /** A body as the API document shows it. */
  readonly example?: unknown;
  /** How deep a body may go and how many values it may hold, of routes that read one. */
  readonly bodyBounds?: JsonBounds;
  /** Of a 200. */
  readonly answer: TSchema;
  /** Of a 503 that is an answer of the route and no error. */
  readonly unavailable?: TSchema;
  /** Content types of a 200; JSON unless said. Of a caller's choice of several its header Accept is read last. */
  readonly media?: readonly string[];
  /** Answers carry an ETag, and who sends it back is answered 304 until they change. */
  readonly tagged?: true;
  /** It places orders: a node that another one leads checks them before it forwards them. */
  readonly places?: true;
  /** It may be answered 409. */
  readonly conflicts?: true;
  /** Outside of the data API: TRADES_ALLOWLIST says who may ask. */
  readonly listed?: true;
}

/** Whether requests of a route may change something; where another node leads, it decides them. */
export function writes(method: string, { access }: Pick<RouteRow, 'access'>): boolean {
  return method !== 'GET' && access !== 'none';
}

/** Of a row that repeats the one before it without a difference. */
export const same = { repeats: true, does: 'the same' } as const;
