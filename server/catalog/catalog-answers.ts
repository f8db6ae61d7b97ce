/**
 * What all catalog routes share: the generation a request is answered from, 304 for callers that
 * have the answer already, compression, and the texts of refusals (SPEC 7, GAPS 6.2).
 *
 * Thread: the I/O thread. Non-goals: what is asked for and what is answered.
 */
import type { Exchange, Route } from '../http/http.ts';
import { AnswerWriter } from './answer-writer.ts';
import { acceptsGzip, CompressedAnswers } from './compressed.ts';
import type { Generation } from './generation.ts';
import { Page } from './select-page.ts';

type Headers = readonly (readonly [string, string])[];

/**
 * Whether the answers of a route show live figures, which change every second on a node that trades,
 * or only texts, which stay as long as their generation.
 */
export type Shown = 'figures' | 'texts';

/** What a request is answered from, from its beginning to its end. */
export interface Served {
  readonly generation: Generation;
  /** Of the generation, and of its figures where they are shown. */
  readonly etag: string;
  /** Of plain answers and of 304; made once, as every answer carries them. */
  readonly headers: Headers;
  readonly gzipHeaders: Headers;
}

/** Ends with an answer, in the end. */
export type Answerer = (exchange: Exchange, served: Served) => void | Promise<void>;

const HEADERS_KEPT = ['if-none-match', 'accept-encoding'] as const;

export class CatalogAnswers {
  /** Both shared by all requests: neither is held over an await. */
  readonly writer = new AnswerWriter();
  readonly page = new Page();
  private readonly generation: () => Generation;
  private readonly kinds: Readonly<Record<Shown, Kind>> = {
    figures: { compressed: new CompressedAnswers(), current: undefined },
    texts: { compressed: new CompressedAnswers(), current: undefined },
  };
  /** The last value of Accept-Encoding and what it meant: a few clients make most requests. */
  private accepted = '';
  private isGzipAccepted = false;

  constructor(generation: () => Generation) {
    this.generation = generation;
  }

  /** A GET route. Answers made lately are given from memory, without asking the answerer. */
  route(path: string, answerer: Answerer, shown: Shown = 'figures'): Route {
    const kind = this.kinds[shown];
    return {
      method: 'GET',
      path,
      headers: HEADERS_KEPT,
      bodyBytesMax: 0,
      run: (exchange) => {
        const served = this.served(shown);
        if (this.acceptsGzip(exchange)) {
          const known = kind.compressed.get(urlOf(exchange));
          if (known !== undefined) {
            if (!this.confirm(exchange, served)) exchange.reply(200, known, served.gzipHeaders);
            return;
          }
        }
        return answerer(exchange, served);
      },
    };
  }

  /** Answers 304 if the caller has what this generation says; false if it hasn't. */
  confirm(exchange: Exchange, { etag, headers }: Served): boolean {
    const known = exchange.headers[0]!;
    if (known === '' || !isKnown(known, etag)) return false;
    exchange.reply(304, '', headers);
    return true;
  }

  /** Answers 200 with bytes of the shared writer, compressed if that is wanted and possible. */
  send(exchange: Exchange, served: Served, bytes: Uint8Array): void | Promise<void> {
    const kind = Object.values(this.kinds).find(({ current }) => current === served);
    if (kind !== undefined && this.acceptsGzip(exchange)) {
      const compressed = kind.compressed.add(urlOf(exchange), bytes);
      if (compressed !== undefined) {
        return compressed.then((gzip) => exchange.reply(200, gzip, served.gzipHeaders));
      }
    }
    exchange.replyTransient(200, bytes, served.headers);
  }

  /**
   * The same generation with its figures of now, which is what is rendered after a wait: a request
   * that waited began with others.
   */
  renewed({ generation }: Served): Served {
    if (generation === this.generation()) return this.served('figures');
    return servedFrom(generation, 'figures');
  }

  private served(shown: Shown): Served {
    const kind = this.kinds[shown];
    const { current } = kind;
    const generation = this.generation();
    if (current?.generation === generation && current.etag === etagOf(generation, shown)) {
      return current;
    }
    kind.compressed.clear();
    kind.current = servedFrom(generation, shown);
    return kind.current;
  }

  private acceptsGzip(exchange: Exchange): boolean {
    const accepted = exchange.headers[1]!;
    if (accepted !== this.accepted) {
      this.accepted = accepted;
      this.isGzipAccepted = acceptsGzip(accepted);
    }
    return this.isGzipAccepted;
  }
}

/** Answers of routes that change together. */
interface Kind {
  readonly compressed: CompressedAnswers;
  current: Served | undefined;
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
  return { generation, etag, headers, gzipHeaders: [...headers, ['Content-Encoding', 'gzip']] };
}

/** The query string is part of it as it was sent. */
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

/** @param detail names the parameter and the rule it broke */
export function refuseBadRequest(exchange: Exchange, detail: string): void {
  exchange.reply(400, JSON.stringify({ type: 'bad request', error: 'q is required', detail }));
}

/** @param key what nothing was found by */
export function refuseUnknown(exchange: Exchange, key: 'id' | 'slug'): void {
  exchange.reply(404, `{"type":"not found error","error":"${key} not found"}`);
}
