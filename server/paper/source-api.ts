/**
 * Requests to a mirrored source: books and catalog. Every request has a limit of time and of bytes.
 *
 * Thread: the I/O thread, or that of a command.
 */

import { isObject, type JsonObject, listOf, textList } from '../../storage/catalog/catalog-json.ts';
import { askedCondition, wholeCondition } from '../../storage/catalog/condition-ids.ts';
import { tradedTokens } from '../../storage/catalog/market-form.ts';
import { type Payout, recordedPayout } from '../../storage/catalog/payout.ts';
import {
  DamagedMessage,
  readBook,
  type SourceSnapshot,
} from '../../storage/recordings/source-message.ts';
import { failureReason } from '../common/failure-reason.ts';
import { httpCall } from '../common/http-call.ts';

const REQUEST_MS_MAX = 10_000;
const BODY_BYTES_MAX = 64 * 2 ** 20;
/** Tokens or condition ids of one request. Every known source accepts so many. */
const ITEMS_MAX = 50;
const PAGE_ROWS = 100;
/** Bound of a list: a source that ignores `offset` repeats one page without end. */
const ROWS_MAX = 20_000;

export interface SourceMarket {
  readonly id: string;
  /** In lower case. */
  readonly condition: string;
  readonly event: string;
  /** Names of the outcomes; undefined if their number differs from that of the tokens. */
  readonly outcomes: readonly string[] | undefined;
  readonly tokens: readonly string[];
  readonly negRisk: boolean | undefined;
  readonly isClosed: boolean;
  /** Weights in the order of the tokens; undefined while uncertain. */
  readonly payout: Payout | undefined;
}

export class SourceApi {
  private readonly books: string;
  private readonly catalog: string;
  private readonly signal: AbortSignal;

  /**
   * @param booksUrl base of `POST /books`
   * @param catalogUrl base of `GET /markets`
   * @param signal ends every request
   */
  constructor(booksUrl: string, catalogUrl: string, signal: AbortSignal) {
    this.books = withoutSlash(booksUrl);
    this.catalog = withoutSlash(catalogUrl);
    this.signal = signal;
  }

  /**
   * Returns the books of the tokens that the source has. Unreadable books are left out.
   * @param tokens one page (pagesOf)
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

  async marketsBy(
    filter: 'id' | 'slug' | 'condition_ids' | 'tag_slug',
    values: readonly string[],
    isClosed = false,
  ): Promise<SourceMarket[]> {
    const found: SourceMarket[] = [];
    const asked = filter === 'condition_ids' ? values.map(askedCondition) : values;
    for (const page of pagesOf(asked)) {
      const query = page.map((value) => `${filter}=${encodeURIComponent(value)}`).join('&');
      found.push(...(await this.pages(`${query}&closed=${isClosed}`, Number.POSITIVE_INFINITY)));
    }
    return found;
  }

  /**
   * Returns the open markets with the largest volumes, the largest first.
   * @param isWanted true for the markets that `count` counts; others in between are in the answer too
   */
  marketsByVolume(
    count: number,
    isWanted: (market: SourceMarket) => boolean,
  ): Promise<SourceMarket[]> {
    const query = 'closed=false&active=true&order=volumeNum&ascending=false';
    return this.pages(query, count, isWanted);
  }

  async event(id: string): Promise<JsonObject> {
    const json = await this.json(`${this.catalog}/events/${id}`);
    if (!isObject(json)) throw new Error(`${this.catalog}/events/${id}: the answer is no object`);
    return json;
  }

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
    const call = {
      method: body === undefined ? undefined : 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body,
      signal: this.signal,
      msMax: REQUEST_MS_MAX,
      bytesMax: BODY_BYTES_MAX,
    };
    try {
      return await httpCall(url, call, async (answer) => {
        if (answer.status < 200 || answer.status > 299) throw new Error(`status ${answer.status}`);
        return JSON.parse((await answer.body()).toString());
      });
    } catch (error) {
      this.signal.throwIfAborted();
      throw new Error(`${withoutQuery(url)}: ${failureReason(error)}`, { cause: error });
    }
  }
}

export function pagesOf(values: readonly string[]): string[][] {
  const count = Math.ceil(values.length / ITEMS_MAX);
  return Array.from({ length: count }, (_, i) => values.slice(i * ITEMS_MAX, (i + 1) * ITEMS_MAX));
}

export function marketsOfEvent({ markets }: JsonObject): SourceMarket[] {
  return Array.isArray(markets) ? markets.filter(isObject).flatMap(readMarket) : [];
}

function readMarket(json: JsonObject): SourceMarket[] {
  const tokens = textList(tradedTokens(json));
  if (typeof json.conditionId !== 'string' || tokens === undefined) return [];
  const outcomes = textList(json.outcomes);
  const payout = recordedPayout(json);
  return [
    {
      id: String(json.id),
      condition: wholeCondition(json.conditionId.toLowerCase()),
      event: String(listOf(json.events)?.filter(isObject)[0]?.id ?? ''),
      outcomes: outcomes?.length === tokens.length ? outcomes : undefined,
      tokens,
      negRisk: typeof json.negRisk === 'boolean' ? json.negRisk : undefined,
      isClosed: json.closed === true,
      payout: isOfTokens(payout, tokens) ? payout : undefined,
    },
  ];
}

function isOfTokens(payout: Payout | undefined, tokens: readonly string[]): boolean {
  return payout === undefined || payout === 'void' || payout.length === tokens.length;
}

/**
 * Returns the market with its outcomes in another order.
 * @param places index of each outcome in `market`
 */
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

export function streamOf(url: string): string {
  return `${withoutSlash(url).replace(/^http/, 'ws')}/ws/market`;
}

/** Removes the query, because conditions of fifty markets make an address unreadable. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/, '');
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
