/**
 * Error bodies of the routes below /v2. Rules: docs/protocol.md#data-api-v2
 *
 * Thread: any.
 */
import { Type } from '../common/schema.ts';
import { RETRY_SOON } from '../common/unavailable.ts';
import type { Headers } from '../http/answer-head.ts';
import { nextRequestId } from '../http/failed-request.ts';
import type { RefusedAnswer, RequestContext } from '../http/request-context.ts';

interface ErrorCode {
  readonly status: number;
  /** True where the request may succeed later, unchanged. */
  readonly retryable: boolean;
}

const ERROR_CODES = {
  invalid_request: { status: 400, retryable: false },
  unauthorized: { status: 401, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  rate_limited: { status: 429, retryable: true },
  internal: { status: 500, retryable: true },
  dependency_unavailable: { status: 503, retryable: true },
} as const satisfies Readonly<Record<string, ErrorCode>>;

export type DataErrorCode = keyof typeof ERROR_CODES;

const CODES = Object.keys(ERROR_CODES) as DataErrorCode[];

export const DataError = Type.Object({
  error: Type.String(),
  code: Type.Union(CODES.map((code) => Type.Literal(code))),
  retryable: Type.Boolean({ description: 'the same request may succeed later' }),
  trace_id: Type.String({ description: 'also in the header x-trace-id' }),
  parameter: Type.Optional(Type.String({ description: 'the parameter that breaks its rule' })),
});

const TRACE_HEADER = 'x-trace-id';
const UNAVAILABLE = 503;

/** @param parameter as it was sent; undefined = none is at fault */
export function dataErrorBody(code: DataErrorCode, error: string, parameter?: string): string {
  const { retryable } = ERROR_CODES[code];
  return JSON.stringify({ error, code, retryable, trace_id: nextRequestId(), parameter });
}

export function traceHeader(body: string): Headers {
  const { trace_id } = JSON.parse(body) as { readonly trace_id: string };
  return [[TRACE_HEADER, trace_id]];
}

export function replyDataError(
  context: RequestContext,
  code: DataErrorCode,
  error: string,
  parameter?: string,
): void {
  const { status } = ERROR_CODES[code];
  const body = dataErrorBody(code, error, parameter);
  context.reply(status, body, [
    ...traceHeader(body),
    ...(status === UNAVAILABLE ? RETRY_SOON : []),
  ]);
}

/** Rewrites an error that the server gives in place of a handler. */
export function dataErrorOf(status: number, body: string): RefusedAnswer {
  const { detail = '', error } = JSON.parse(body) as {
    readonly error: string;
    readonly detail?: string;
  };
  const code = CODES.find((name) => ERROR_CODES[name].status === status) ?? 'internal';
  const own = dataErrorBody(code, detail === '' ? error : `${error}: ${detail}`);
  return { body: own, headers: traceHeader(own) };
}
