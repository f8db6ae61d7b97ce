/**
 * Public market data: books, prices, history and trades. Money is decimal text. A call for one token throws
 * UnknownTokenError where no market has it, NotFoundError where it has no such value.
 */
import type { Calls } from './calls.ts';
import type { TextMoney } from './money.ts';
import type { BookAnswer, LastPriceAnswer, Routes } from './types.ts';

type Side = 'BUY' | 'SELL';
type Decimals = Routes['POST /midpoints']['answer'];

export class MarketData {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** One book, best level last. */
  book(token_id: string): Promise<BookAnswer> {
    return this.#calls.call('GET /book', { query: { token_id } });
  }

  /** Up to 500 books; unknown tokens are left out. */
  books(tokens: readonly string[]): Promise<readonly BookAnswer[]> {
    return this.#calls.call('POST /books', { body: items(tokens) });
  }

  /** Price that a buyer pays (BUY, the best ask), or that a seller gets. */
  async price(token_id: string, side: Side): Promise<string> {
    return (await this.#calls.call('GET /price', { query: { token_id, side } })).price;
  }

  prices(tokens: readonly string[]): Promise<Routes['POST /prices']['answer']> {
    return this.#calls.call('POST /prices', { body: items(tokens) });
  }

  midpoints(tokens: readonly string[]): Promise<Decimals> {
    return this.#calls.call('POST /midpoints', { body: items(tokens) });
  }

  spreads(tokens: readonly string[]): Promise<Decimals> {
    return this.#calls.call('POST /spreads', { body: items(tokens) });
  }

  lastTrade(token_id: string): Promise<LastPriceAnswer> {
    return this.#calls.call('GET /last-trade-price', { query: { token_id } });
  }

  lastTradePrices(
    tokens: readonly string[],
  ): Promise<Routes['POST /last-trades-prices']['answer']> {
    return this.#calls.call('POST /last-trades-prices', { body: items(tokens) });
  }

  history(
    query: Routes['GET /prices-history']['query'],
  ): Promise<TextMoney<Routes['GET /prices-history']['answer']>> {
    return this.#calls.callMoney('GET /prices-history', { query });
  }

  /** Fills of the whole exchange, newest first. */
  trades(
    query: Routes['GET /trades']['query'] = {},
  ): Promise<TextMoney<Routes['GET /trades']['answer']>> {
    return this.#calls.callMoney('GET /trades', { query });
  }
}

function items(tokens: readonly string[]): { readonly token_id: string }[] {
  return tokens.map((token_id) => ({ token_id }));
}
