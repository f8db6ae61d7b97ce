/**
 * The common part of all catalog routes: the generation from which a request is answered, 304 for
 * callers that already have the answer, compression, and the texts of rejects
 * (docs/protocol.md#catalog-errors).
 *
 * Thread: the I/O thread. Non-goals: what a request selects, and what an answer contains.
 */
import { typedErrorBody } from '../common/error-bodies.ts';
import type { RequestContext, Route } from '../http/http.ts';
import { ignoredHeaders } from '../http/ignored.ts';
import { AnswerWriter, type Rendered } from './answer-writer.ts';
import { acceptsGzip, CompressedAnswers } from './compressed.ts';
import type { Generation } from './generation.ts';
import { badRequest, type CatalogErrors, type Parameters, ruleFirst } from './parameters.ts';
import type { CatalogQuery } from './query.ts';
import { Page } from './select.ts';

type Headers = readonly (readonly [string, string])[];

/**
 * Whether the answers of a route show live figures, which change every second on a busy node, or
 * only texts, which stay the same within a generation.
 */
export type Shown = 'figures' | 'texts';

/** The data from which a request is answered, from its beginning to its end. */
export interface Served {
  readonly generation: Generation;
  readonly shown: Shown;
  /** Of the generation, and of its figures if they are shown. */
  readonly etag: string;
  /** Headers of plain answers and of 304; made once, because every answer has them. */
  readonly headers: Headers;
  readonly gzipHeaders: Headers;
}

/** A request with a valid query. */
export interface CheckedRequest {
  readonly context: RequestContext;
  readonly served: Served;
  readonly query: CatalogQuery;
  /** Names that were sent and are not known, for the header that names them. */
  readonly ignored: readonly string[];
}

/** A GET route of the catalog. */
export interface CatalogRoute {
  readonly path: string;
  readonly parameters: Parameters;
  /** `figures` by default. */
  readonly shown?: Shown;
  /**
   * Renders the answer for a caller that does not have it yet. Returns a function that renders;
   * anything else when the request was answered, or will be answered later.
   */
  readonly answer: (request: CheckedRequest) => (() => Rendered) | void | Promise<void>;
}

/** A route with what it parses its query with. */
export interface ParsedRoute extends Route {
  readonly query: Parameters;
}

const UNTAGGED: Headers = [['Vary', 'Accept-Encoding']];
const HEADERS_READ = ['if-none-match', 'accept-encoding'] as const;

export class CatalogAnswers {
  /** All requests share both: neither is used across an await. */
  readonly writer = new AnswerWriter();
  readonly page = new Page();
  private readonly generation: () => Generation;
  /** Cached answers, in groups of routes that change together. */
  private readonly kinds = {
    figures: { compressed: new CompressedAnswers(), current: undefined as Served | undefined },
    texts: { compressed: new CompressedAnswers(), current: undefined as Served | undefined },
  };
  /**
   * The last value of Accept-Encoding and its meaning, because a few clients send most requests.
   */
  private accepted = '';
  private isGzipAccepted = false;

  private readonly errors: CatalogErrors;

  /** @param errors what a 400 says first */
  constructor(generation: () => Generation, errors: CatalogErrors = 'literal') {
    this.generation = generation;
    this.errors = errors;
  }

  /** Recent compressed answers come from the cache; the route is not called. */
  route({ answer, parameters, path, shown = 'figures' }: CatalogRoute): ParsedRoute {
    const kind = this.kinds[shown];
    return {
      method: 'GET',
      path,
      headers: HEADERS_READ,
      query: parameters,
      bodyBytesMax: 0,
      run: (context) => {
        const ignored: string[] = [];
        const query = parameters.parse(context.query, [], ignored);
        if (typeof query === 'string') {
          return context.reply(400, this.errors === 'literal' ? query : ruleFirst(query));
        }
        const request = { context, served: this.served(shown), query, ignored };
        if (this.acceptsGzip(context)) {
          const known = kind.compressed.get(urlOf(context));
          if (known !== undefined) {
            const headers = headersOf(request, request.served.gzipHeaders);
            if (!this.confirm(request)) context.reply(200, known, headers);
            return;
          }
        }
        const render = answer(request);
        if (typeof render !== 'function') return render;
        if (this.confirm(request)) return;
        return this.respond(request, render(), request.served.etag, shown);
      },
    };
  }

  /** @param detail names the parameter and the broken rule */
  refuse(context: RequestContext, detail: string): void {
    context.reply(400, badRequest(detail, this.errors));
  }

  /**
   * Answers 304 if the caller already has the answer of this generation; otherwise returns false.
   */
  confirm(request: CheckedRequest): boolean {
    const { etag, headers } = request.served;
    const known = request.context.headers[0]!;
    if (known === '' || !isKnown(known, etag)) return false;
    request.context.reply(304, '', headersOf(request, headers));
    return true;
  }

  /**
   * Answers 200, compressed if the caller accepts it and the bytes are large enough.
   * @param isStable the bytes stay unchanged: they are not in the shared writer
   */
  private send(
    request: CheckedRequest,
    bytes: Uint8Array,
    served: Served,
    isStable: boolean,
  ): void | Promise<void> {
    const { context } = request;
    const kind = this.kinds[served.shown];
    if (kind.current === served && this.acceptsGzip(context)) {
      const compressed = kind.compressed.add(urlOf(context), bytes, isStable);
      if (compressed !== undefined) {
        const headers = headersOf(request, served.gzipHeaders);
        return compressed.then((gzip) => context.reply(200, gzip, headers));
      }
    }
    reply(context, bytes, headersOf(request, served.headers), isStable);
  }

  /**
   * Answers 200, at once or when the answer is complete. The rows were selected by the figures of a tag;
   * the answer shows the current figures. If these differ, the answer does not belong to one moment, and
   * has no tag.
   */
  respond(
    request: CheckedRequest,
    answer: Rendered,
    etag: string,
    shown: Shown = 'figures',
  ): void | Promise<void> {
    if (!(answer instanceof Promise)) return this.sendNow(request, answer, etag, shown, false);
    return answer.then((bytes) => {
      if (bytes !== undefined) return this.sendNow(request, bytes, etag, shown, true);
    });
  }

  private sendNow(
    request: CheckedRequest,
    bytes: Uint8Array,
    etag: string,
    shown: Shown,
    isStable: boolean,
  ): void | Promise<void> {
    const { generation } = request.served;
    const isServed = generation === this.generation();
    const served = isServed ? this.served(shown) : servedFrom(generation, shown);
    if (served.etag === etag) return this.send(request, bytes, served, isStable);
    reply(request.context, bytes, headersOf(request, UNTAGGED), isStable);
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
      each.current = undefined;
    }
    kind.compressed.clear();
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

function etagOf({ figures, prepared }: Generation, shown: Shown): string {
  return shown === 'figures' ? figures.etag : prepared.etag;
}

function servedFrom(generation: Generation, shown: Shown): Served {
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

function reply(
  context: RequestContext,
  bytes: Uint8Array,
  headers: Headers,
  isStable: boolean,
): void {
  if (isStable) context.reply(200, bytes, headers);
  else context.replyTransient(200, bytes, headers);
}

/** With the header that names the parameters that had no effect. */
function headersOf({ ignored }: CheckedRequest, headers: Headers): Headers {
  if (ignored.length === 0) return headers;
  return [...headers, ...ignoredHeaders(ignored.filter((name) => name !== ''))];
}

/** The query string as it was sent is part of the key. */
function urlOf({ path, query }: RequestContext): string {
  return `${path}?${query}`;
}

/** Whether a value of If-None-Match names an entity tag; tags are compared weakly (RFC 9110 8.8.3.2). */
function isKnown(known: string, etag: string): boolean {
  if (known === etag) return true;
  const opaque = etag.slice('W/'.length);
  for (const item of known.split(',')) {
    const tag = item.trim();
    if (tag === '*' || tag === etag || tag === opaque) return true;
  }
  return false;
}

/** @param key by what the object was searched */
export function refuseUnknown(context: RequestContext, key: 'id' | 'slug'): void {
  context.reply(404, typedErrorBody('not found error', `${key} not found`));
}
