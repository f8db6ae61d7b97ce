/**
 * The common part of all catalog routes: the generation from which a request is answered, 304 for
 * callers that already have the answer, compression, and the texts of rejects
 * (docs/protocol.md#catalog-errors).
 *
 * Thread: the I/O thread. Non-goals: what a request selects, and what an answer contains.
 */
import type { Exchange, Route } from '../http/http.ts';
import { ignoredHeaders } from '../http/ignored.ts';
import { AnswerWriter } from './answer-writer.ts';
import { acceptsGzip, CompressedAnswers } from './compressed.ts';
import type { Generation } from './generation.ts';
import type { Parameters } from './parameters.ts';
import { type CatalogQuery, parseQuery } from './query.ts';
import type { Rendered } from './rendered.ts';
import { Page } from './select-page.ts';

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
export interface Asked {
  readonly context: Exchange;
  readonly served: Served;
  readonly query: CatalogQuery;
}

/** A GET route of the catalog. */
export interface CatalogRoute {
  readonly path: string;
  readonly parameters: Parameters;
  /** `figures` by default. */
  readonly shown?: Shown;
  /** Answers an invalid query; by default in the form of the catalog API. */
  readonly refuse?: (context: Exchange, detail: string) => void;
  /**
   * Renders the answer for a caller that does not have it yet. Returns a function that renders;
   * anything else when the request was answered, or will be answered later.
   */
  readonly answer: (asked: Asked) => (() => Rendered) | void | Promise<void>;
}

const UNTAGGED: Headers = [['Vary', 'Accept-Encoding']];
const HEADERS_KEPT = ['if-none-match', 'accept-encoding'] as const;

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

  constructor(generation: () => Generation) {
    this.generation = generation;
  }

  /** Recent answers come from the cache, without calling `answer`. */
  route({ answer, parameters, path, refuse, shown = 'figures' }: CatalogRoute): Route {
    const kind = this.kinds[shown];
    return {
      method: 'GET',
      path,
      headers: HEADERS_KEPT,
      bodyBytesMax: 0,
      run: (context) => {
        const query = parseQuery(context.query, parameters);
        if (typeof query === 'string') return (refuse ?? refuseBadRequest)(context, query);
        const asked = { context, served: this.served(shown), query };
        if (this.acceptsGzip(context)) {
          const known = kind.compressed.get(urlOf(context));
          if (known !== undefined) {
            const headers = headersOf(asked, asked.served.gzipHeaders);
            if (!this.confirm(asked)) context.reply(200, known, headers);
            return;
          }
        }
        const render = answer(asked);
        if (typeof render !== 'function') return render;
        if (!this.confirm(asked)) return this.sendMade(asked, render());
      },
    };
  }

  /**
   * Answers 304 if the caller already has the answer of this generation; otherwise returns false.
   */
  confirm(asked: Asked): boolean {
    const { etag, headers } = asked.served;
    const known = asked.context.headers[0]!;
    if (known === '' || !isKnown(known, etag)) return false;
    asked.context.reply(304, '', headersOf(asked, headers));
    return true;
  }

  /** Answers 200 with bytes that were rendered within this call, or are being rendered. */
  private sendMade(asked: Asked, made: Rendered): void | Promise<void> {
    const { etag, shown } = asked.served;
    if (made instanceof Promise) return this.sendLate(asked, made, etag, shown);
    return this.send(asked, made, asked.served, false);
  }

  /**
   * Answers 200, compressed if the caller accepts it and the bytes are large enough.
   * @param isKept the bytes stay unchanged: they are not in the shared writer
   */
  private send(
    asked: Asked,
    bytes: Uint8Array,
    served: Served,
    isKept: boolean,
  ): void | Promise<void> {
    const { context } = asked;
    const kind = Object.values(this.kinds).find(({ current }) => current === served);
    if (kind !== undefined && this.acceptsGzip(context)) {
      const compressed = kind.compressed.add(urlOf(context), bytes, isKept);
      if (compressed !== undefined) {
        const headers = headersOf(asked, served.gzipHeaders);
        return compressed.then((gzip) => context.reply(200, gzip, headers));
      }
    }
    reply(context, bytes, headersOf(asked, served.headers), isKept);
  }

  /**
   * Answers 200 after a wait. The rows were selected by the figures of a tag; the answer shows the
   * current figures. If these differ, the answer does not belong to one moment, and has no tag.
   */
  sendLate(
    asked: Asked,
    made: Rendered,
    etag: string,
    shown: Shown = 'figures',
  ): void | Promise<void> {
    if (!(made instanceof Promise)) return this.sendNow(asked, made, etag, shown, false);
    return made.then((bytes) => {
      if (bytes !== undefined) return this.sendNow(asked, bytes, etag, shown, true);
    });
  }

  private sendNow(
    asked: Asked,
    bytes: Uint8Array,
    etag: string,
    shown: Shown,
    isKept: boolean,
  ): void | Promise<void> {
    const { generation } = asked.served;
    const isServed = generation === this.generation();
    const served = isServed ? this.served(shown) : servedFrom(generation, shown);
    if (served.etag === etag) return this.send(asked, bytes, served, isKept);
    reply(asked.context, bytes, headersOf(asked, UNTAGGED), isKept);
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

  private acceptsGzip(context: Exchange): boolean {
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

function reply(context: Exchange, bytes: Uint8Array, headers: Headers, isKept: boolean): void {
  if (isKept) context.reply(200, bytes, headers);
  else context.replyTransient(200, bytes, headers);
}

/** Adds the header that lists the ignored parameters of the query. */
function headersOf({ query }: Asked, headers: Headers): Headers {
  return query.ignored.length === 0 ? headers : [...headers, ...ignoredHeaders(query.ignored)];
}

/** The query string as it was sent is part of the key. */
function urlOf({ path, query }: Exchange): string {
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

/** @param detail names the parameter and the broken rule */
export function refuseBadRequest(context: Exchange, detail: string): void {
  context.reply(400, JSON.stringify({ type: 'bad request', error: 'q is required', detail }));
}

/** @param key by what the object was searched */
export function refuseUnknown(context: Exchange, key: 'id' | 'slug'): void {
  context.reply(404, `{"type":"not found error","error":"${key} not found"}`);
}
