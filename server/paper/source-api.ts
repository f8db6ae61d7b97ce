/**
 * Requests to a venue that is mirrored: its books, and what its catalog says of markets. Every request has a time
 * and a size beyond which it is given up.
 *
 * Thread: the I/O thread, or that of a command.
 */
import { isObject, type JsonObject, listOf, textList } from '../../storage/catalog/catalog-json.ts';
import { type Payout, recordedPayout } from '../../storage/catalog/payout.ts';
import {
  DamagedMessage,
  readBook,
  type SourceSnapshot,
} from '../../storage/recordings/source-message.ts';
import { failureReason } from '../common/failure-reason.ts';
import { fetchFromHost } from '../common/redirects.ts';

const REQUEST_MS_MAX = 10_000;
const BODY_BYTES_MAX = 64 * 2 ** 20;
/** Tokens of one request for books, and condition ids of one list: what any venue takes. */
const ITEMS_MAX = 50;
/** Rows of a page of a list. */
const PAGE_ROWS = 100;
/** Rows of a whole list: a source that takes no offset answers the same page again and again. */
const ROWS_MAX = 20_000;

/** What the catalog of the source says of a market. */
export interface SourceMarket {
  /** Of its catalog. */
  readonly id: string;
  /** In lower case. */
  readonly condition: string;
  /** Id of its event. */
  readonly event: string;
  /** Names of the outcomes; undefined = there is not one for each token. */
  readonly outcomes: readonly string[] | undefined;
  readonly tokens: readonly string[];
  /** Undefined = the catalog does not say it. */
  readonly negRisk: boolean | undefined;
  readonly isClosed: boolean;
  /** Weights in the order of the tokens; undefined = that is not certain yet. */
  readonly payout: Payout | undefined;
}

export class SourceApi {
  private readonly books: string;
  private readonly catalog: string;
  private readonly signal: AbortSignal;

  /**
   * @param booksUrl where `POST /books` is answered
   * @param catalogUrl where `GET /markets` is
   * @param signal ends every request
   */
  constructor(booksUrl: string, catalogUrl: string, signal: AbortSignal) {
    this.books = withoutSlash(booksUrl);
    this.catalog = withoutSlash(catalogUrl);
    this.signal = signal;
  }

  /**
   * The books of the tokens that the source has; what cannot be read is left out.
   * @param tokens as many as one request takes (pagesOf)
   */
  async snapshots(tokens: readonly string[]): Promise<SourceSnapshot[]> {
    const items = tokens.map((token_id) => ({ token_id }));
    const list = await this.list(`${this.books}/books`, JSON.stringify(items));
    return list.flatMap((json) => {
      try {
        return [readBook(json)];
      } catch (error) {
        if (!(error instanceof DamagedMessage)) throw error;
        return [];
      }
    });
  }

  /** The open markets, or the closed ones, that a filter of the catalog finds: any of the values. */
  async marketsBy(
    filter: 'id' | 'slug' | 'condition_ids' | 'tag_slug',
    values: readonly string[],
    isClosed = false,
  ): Promise<SourceMarket[]> {
    const found: SourceMarket[] = [];
    for (const page of pagesOf(values)) {
      const query = page.map((value) => `${filter}=${encodeURIComponent(value)}`).join('&');
      found.push(...(await this.pages(`${query}&closed=${isClosed}`, Number.POSITIVE_INFINITY)));
    }
    return found;
  }

  /**
   * The open markets with the largest volumes, the largest first.
   * @param isWanted of these `count`; the others that were passed over are among the answer
   */
  marketsByVolume(
    count: number,
    isWanted: (market: SourceMarket) => boolean,
  ): Promise<SourceMarket[]> {
    const query = 'closed=false&active=true&order=volumeNum&ascending=false';
    return this.pages(query, count, isWanted);
  }

  /** An event as its own route shows it, with its markets. */
  async event(id: string): Promise<JsonObject> {
    const json = await this.json(`${this.catalog}/events/${id}`);
    if (!isObject(json)) throw new Error(`${this.catalog}/events/${id}: the answer is no object`);
    return json;
  }

  /** Rows of a list, up to the last one of the `most` that are wanted. */
  private async pages(
    query: string,
    most: number,
    isWanted: (market: SourceMarket) => boolean = () => true,
  ): Promise<SourceMarket[]> {
    const found: SourceMarket[] = [];
    const limit = Math.min(PAGE_ROWS, most);
    let wanted = 0;
    for (let offset = 0; ; ) {
      const path = `/markets?${query}&limit=${limit}&offset=${offset}`;
      const page = await this.list(this.catalog + path);
      for (const market of page.flatMap(readMarket)) {
        found.push(market);
        if (isWanted(market)) wanted += 1;
        if (wanted === most) return found;
      }
      offset += page.length;
      if (page.length < limit) return found;
      if (offset >= ROWS_MAX) throw new Error(`${this.catalog}${path}: the list does not end`);
    }
  }

  private async list(url: string, body?: string): Promise<JsonObject[]> {
    const json = await this.json(url, body);
    if (!Array.isArray(json)) throw new Error(`${withoutQuery(url)}: the answer is no list`);
    return json.filter(isObject);
  }

  private async json(url: string, body?: string): Promise<unknown> {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(REQUEST_MS_MAX)]);
    const headers = { accept: 'application/json', 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body };
    try {
      const response = await fetchFromHost(url, { ...post, headers, signal });
      if (response.ok) return JSON.parse(await textOf(response));
      await response.body?.cancel();
      throw new Error(`status ${response.status}`);
    } catch (error) {
      this.signal.throwIfAborted();
      const why = signal.aborted ? `no answer within ${REQUEST_MS_MAX} ms` : failureReason(error);
      throw new Error(`${withoutQuery(url)}: ${why}`, { cause: error });
    }
  }
}

/** Groups of which one request takes each. */
export function pagesOf(values: readonly string[]): string[][] {
  const count = Math.ceil(values.length / ITEMS_MAX);
  return Array.from({ length: count }, (_, i) => values.slice(i * ITEMS_MAX, (i + 1) * ITEMS_MAX));
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`an answer of over ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The markets of an event, as its catalog gives it. */
export function marketsOfEvent({ markets }: JsonObject): SourceMarket[] {
  return Array.isArray(markets) ? markets.filter(isObject).flatMap(readMarket) : [];
}

function readMarket(json: JsonObject): SourceMarket[] {
  const tokens = textList(json.clobTokenIds);
  if (typeof json.conditionId !== 'string' || tokens === undefined) return [];
  const outcomes = textList(json.outcomes);
  const payout = recordedPayout(json);
  return [
    {
      id: String(json.id),
      condition: json.conditionId.toLowerCase(),
      event: String(listOf(json.events)?.filter(isObject)[0]?.id ?? ''),
      outcomes: outcomes?.length === tokens.length ? outcomes : undefined,
      tokens,
      negRisk: typeof json.negRisk === 'boolean' ? json.negRisk : undefined,
      isClosed: json.closed === true,
      payout: isOfTokens(payout, tokens) ? payout : undefined,
    },
  ];
}

/** Prices of more or fewer outcomes say of none what it pays. */
function isOfTokens(payout: Payout | undefined, tokens: readonly string[]): boolean {
  return payout === undefined || payout === 'void' || payout.length === tokens.length;
}

/** The market with its outcomes in another order: `places` has the place of each. */
export function reordered(market: SourceMarket, places: readonly number[]): SourceMarket {
  const { outcomes, payout, tokens } = market;
  const inOrder = <T>(list: readonly T[]): T[] => places.map((place) => list[place]!);
  return {
    ...market,
    outcomes: outcomes && inOrder(outcomes),
    tokens: inOrder(tokens),
    payout: payout === undefined || payout === 'void' ? payout : inOrder(payout),
  };
}

/** The market stream of a venue whose other routes are at this address. */
export function streamOf(url: string): string {
  return `${withoutSlash(url).replace(/^http/, 'ws')}/ws/market`;
}

/** Conditions of fifty markets are no part of an address that a person reads. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/, '');
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
