/**
 * The common part of all catalog routes: the generation from which a request is answered, 304 for
 * callers that already have the answer, compression, and the texts of rejects
 * (docs/protocol.md#catalog-errors).
 *
 * Thread: the I/O thread. Non-goals: what a request selects, and what an answer contains.
 */
import { typedErrorBody } from '../common/error-bodies.ts';
import type { RequestContext } from '../http/http.ts';
import { ignoredHeaders } from '../http/ignored-parameters.ts';
import type { RawHandler } from '../http/route.ts';
import type { CatalogGeneration } from './catalog-generation.ts';
import { acceptsGzip, CompressedAnswers } from './compressed.ts';
import { FragmentWriter, type Steps } from './fragment-writer.ts';
import { badRequest, type CatalogErrors, type Parameters, ruleFirst } from './parameters.ts';
import type { CatalogQuery } from './query.ts';
import { RepeatedAnswers } from './repeated-answers.ts';

type Headers = readonly (readonly [string, string])[];

/**
 * Content of a route's answers: live statistics, which change every second, or texts, which stay
 * within a generation.
 */
export type Shown = 'statistics' | 'texts';

export interface Served {
  readonly generation: CatalogGeneration;
  readonly shown: Shown;
  readonly etag: string;
  readonly headers: Headers;
  readonly gzipHeaders: Headers;
}

/** Answer: its bytes, valid until another one is written, or the steps that write it. */
export type Rendered = Uint8Array | Steps;

export interface CheckedRequest {
  readonly context: RequestContext;
  readonly served: Served;
  readonly query: CatalogQuery;
  readonly ignored: readonly string[];
  /** Key of its answer within a catalog generation and its statistics. */
  readonly question: string;
}

export interface CatalogRoute {
  readonly parameters: Parameters;
  readonly shown?: Shown;
  /**
   * Returns a function that renders the answer for a caller that does not have it yet; anything else
   * when the request was answered, or will be answered later.
   */
  readonly answer: (request: CheckedRequest) => (() => Rendered) | void | Promise<void>;
}

const UNTAGGED: Headers = [['Vary', 'Accept-Encoding']];
const HEADERS_READ = ['if-none-match', 'accept-encoding'] as const;

export class CatalogAnswers {
  /** Shared by all requests, and never used across an await. */
  readonly writer = new FragmentWriter();
  private readonly generation: () => CatalogGeneration;
  private readonly kinds = { statistics: newKind(), texts: newKind() };
  private handlers = 0;
  private accepted = '';
  private isGzipAccepted = false;

  private readonly errors: CatalogErrors;

  constructor(generation: () => CatalogGeneration, errors: CatalogErrors = 'literal') {
    this.generation = generation;
    this.errors = errors;
  }

  /** Recent answers come from the caches; the route is not called. */
  handler({ answer, parameters, shown = 'statistics' }: CatalogRoute): RawHandler {
    const kind = this.kinds[shown];
    this.handlers += 1;
    const name = String(this.handlers);
    return {
      headers: HEADERS_READ,
      query: parameters,
      run: (context) => {
        const ignored: string[] = [];
        const query = parameters.parse(context.query, [], ignored);
        if (typeof query === 'string') {
          return context.reply(400, this.errors === 'literal' ? query : ruleFirst(query));
        }
        const question = questionOf(name, context);
        const request = { context, served: this.served(shown), query, ignored, question };
        if (this.acceptsGzip(context)) {
          const known = kind.compressed.get(question);
          if (known !== undefined) {
            const headers = headersOf(request, request.served.gzipHeaders);
            if (!this.confirm(request)) context.reply(200, known, headers);
            return;
          }
        } else {
          const known = kind.repeated.get(question);
          if (known !== undefined) {
            const { headers } = request.served;
            if (!this.confirm(request)) context.reply(200, known, headersOf(request, headers));
            return;
          }
        }
        const render = answer(request);
        if (typeof render !== 'function') return render;
        if (this.confirm(request)) return;
        return this.respond(request, render(), request.served.etag);
      },
    };
  }

  refuse(context: RequestContext, detail: string): void {
    context.reply(400, badRequest(detail, this.errors));
  }

  /** Answers 304 if the caller has the answer of this generation; otherwise returns false. */
  confirm(request: CheckedRequest): boolean {
    const { etag, headers } = request.served;
    const known = request.context.headers[0]!;
    if (known === '' || !isKnown(known, etag)) return false;
    request.context.reply(304, '', headersOf(request, headers));
    return true;
  }

  /**
   * Answers 200, at once or when all steps are over, compressed if the caller accepts it.
   * @param etag tag of the statistics by which rows were selected; if others are current by then,
   * the answer has no tag
   */
  respond(request: CheckedRequest, answer: Rendered, etag: string): void | Promise<void> {
    const isWritten = answer instanceof Uint8Array;
    const written = isWritten ? answer : this.writer.run(answer, () => request.context.aborted);
    if (!(written instanceof Promise)) return this.send(request, written, etag, false);
    return written.then((bytes) => {
      if (bytes !== undefined) return this.send(request, bytes, etag, true);
    });
  }

  /** @param isStable the bytes stay unchanged: they are not in the shared writer */
  private send(
    request: CheckedRequest,
    bytes: Uint8Array,
    etag: string,
    isStable: boolean,
  ): void | Promise<void> {
    const { context } = request;
    const { generation, shown } = request.served;
    const isServed = generation === this.generation();
    const served = isServed ? this.served(shown) : servedFrom(generation, shown);
    const isTagged = served.etag === etag;
    if (isTagged && isServed) {
      const { compressed, repeated } = this.kinds[shown];
      if (this.acceptsGzip(context)) {
        const compressing = compressed.add(request.question, bytes, isStable);
        if (compressing !== undefined) {
          const headers = headersOf(request, served.gzipHeaders);
          return compressing.then((gzip) => context.reply(200, gzip, headers));
        }
      } else repeated.add(request.question, bytes, isStable);
    }
    const headers = headersOf(request, isTagged ? served.headers : UNTAGGED);
    if (isStable) context.reply(200, bytes, headers);
    else context.replyTransient(200, bytes, headers);
  }

  private served(shown: Shown): Served {
    const kind = this.kinds[shown];
    const { current } = kind;
    const generation = this.generation();
    if (current?.generation === generation && current.etag === etagOf(generation, shown)) {
      return current;
    }
    // Answers of a replaced generation are dropped from the cache.
    for (const each of Object.values(this.kinds)) {
      if (each.current?.generation === generation) continue;
      each.compressed.clear();
      each.repeated.clear();
      each.current = undefined;
    }
    kind.compressed.clear();
    kind.repeated.clear();
    kind.current = servedFrom(generation, shown);
    return kind.current;
  }

  private acceptsGzip(context: RequestContext): boolean {
    const accepted = context.headers[1]!;
    if (accepted !== this.accepted) {
      this.accepted = accepted;
      this.isGzipAccepted = acceptsGzip(accepted);
    }
    return this.isGzipAccepted;
  }
}

function newKind() {
  return {
    compressed: new CompressedAnswers(),
    repeated: new RepeatedAnswers(),
    current: undefined as Served | undefined,
  };
}

function etagOf({ statistics, prepared }: CatalogGeneration, shown: Shown): string {
  return shown === 'statistics' ? statistics.etag : prepared.etag;
}

function servedFrom(generation: CatalogGeneration, shown: Shown): Served {
  const etag = etagOf(generation, shown);
  const headers: Headers = [
    ['ETag', etag],
    ['Vary', 'Accept-Encoding'],
  ];
  return {
    generation,
    shown,
    etag,
    headers,
    gzipHeaders: [...headers, ['Content-Encoding', 'gzip']],
  };
}

function headersOf({ ignored }: CheckedRequest, headers: Headers): Headers {
  if (ignored.length === 0) return headers;
  return [...headers, ...ignoredHeaders(ignored.filter((name) => name !== ''))];
}

/** @param handler name of the handler; a route may be served at several paths */
function questionOf(handler: string, { parameters, query }: RequestContext): string {
  return parameters.length === 0
    ? `${handler}?${query}`
    : `${handler}/${parameters.join('/')}?${query}`;
}

/** Returns true when If-None-Match names the tag; tags are compared weakly (RFC 9110 8.8.3.2). */
function isKnown(known: string, etag: string): boolean {
  if (known === etag) return true;
  const opaque = etag.slice('W/'.length);
  for (const item of known.split(',')) {
    const tag = item.trim();
    if (tag === '*' || tag === etag || tag === opaque) return true;
  }
  return false;
}

export function refuseUnknown(context: RequestContext, key: 'id' | 'slug'): void {
  context.reply(
    404,
    typedErrorBody('not found error', key === 'id' ? 'UNKNOWN_ID' : 'UNKNOWN_SLUG'),
  );
}
