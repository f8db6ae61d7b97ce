/**
 * Pages of GET /trades that were requested twice while nothing changed: their bytes, by the text of the query. A fill,
 * a lost fill and a new catalog generation end all of them, so a page is the one that would be rendered now.
 *
 * Thread: I/O. Non-goals: rendering (trades-render.ts), pages of several event-loop iterations.
 */
import type { MarketLookup, TokenTexts } from './texts.ts';
import type { TradesIndex } from './trades-index.ts';

/** Bytes of all pages; one more empties the cache. To know which was read last costs as much as a twentieth of an answer. */
const BYTES_MAX = 2 ** 22;
/** Largest page, and longest query, that is cached. */
const PAGE_BYTES_MAX = 2 ** 16;
const QUERY_CHARACTERS_MAX = 256;
/** Queries that were seen once. */
const SEEN_MAX = 1_024;

export class TradesPages {
  private readonly index: TradesIndex;
  private readonly texts: TokenTexts;
  private readonly pages = new Map<string, Buffer>();
  private bytes = 0;
  private readonly seen = new Set<string>();
  // State that the pages show.
  private end = 0;
  private first = 0;
  private catalog: MarketLookup | undefined;

  constructor(index: TradesIndex, texts: TokenTexts) {
    this.index = index;
    this.texts = texts;
  }

  find(query: string): Buffer | undefined {
    const { end, first } = this.index;
    const catalog = this.texts.pinnedLookup();
    if (end === this.end && first === this.first && catalog === this.catalog)
      return this.pages.get(query);
    this.end = end;
    this.first = first;
    this.catalog = catalog;
    this.clear();
    return undefined;
  }

  /** Takes a page that was rendered since find() of its query, in the same event-loop iteration. */
  add(query: string, page: Uint8Array): void {
    if (page.length > PAGE_BYTES_MAX || query.length > QUERY_CHARACTERS_MAX) return;
    if (!this.seen.has(query)) {
      if (this.seen.size === SEEN_MAX) this.seen.clear();
      this.seen.add(query);
      return;
    }
    if (this.bytes + page.length > BYTES_MAX) this.clear();
    this.bytes += page.length;
    this.pages.set(query, Buffer.from(page));
  }

  private clear(): void {
    this.pages.clear();
    this.seen.clear();
    this.bytes = 0;
  }
}
