// @ts-check
/**
 * The chosen market and outcome: everything on the page that belongs to one token. Events change
 * the data at once, and the page in the next frame, so that a burst costs no more than one event.
 */
import { Book } from './book.js';
import { DepthChart } from './depth-chart.js';
import {
  byId,
  choose,
  fillChoices,
  inNextFrame,
  setBadge,
  setChoiceValues,
  setText,
} from './dom.js';
import {
  amountText,
  dayText,
  decimalsOf,
  NONE,
  priceText,
  resolutionText,
  stateText,
} from './format.js';
import { Ladder } from './ladder.js';
import { PriceChart } from './price-chart.js';
import { Tape } from './tape.js';

/** @import { Api, Market } from './api.js' */
/** @import { StreamEvent } from './market-stream.js' */

const REREAD_MS = 60_000;
/** A book that has not come by then is not there. */
const BOOK_MS_MAX = 3_000;

export class MarketView {
  /** @param {(outcome: number) => void} onOutcome another outcome was chosen */
  constructor(onOutcome) {
    this.onOutcome = onOutcome;
    this.book = new Book();
    this.ladder = new Ladder(byId('ladder'));
    this.tape = new Tape(byId('tape'));
    this.depth = new DepthChart();
    this.prices = new PriceChart(() => this.readHistory());
    this.outcomes = byId('outcomes');
    this.redraw = inNextFrame(() => this.draw());
    /** @type {Api | undefined} */
    this.api = undefined;
    /** @type {Market | undefined} */
    this.market = undefined;
    this.outcome = 0;
    this.decimals = 2;
    /** @type {number | undefined} price of the last trade */
    this.last = undefined;
    setInterval(() => {
      if (!document.hidden) this.readHistory();
    }, REREAD_MS);
    this.redraw();
  }

  get token() {
    return this.market?.tokens[this.outcome] ?? '';
  }

  /** @param {Market} market @param {number} outcome */
  choose(market, outcome) {
    const isOther = market.id !== this.market?.id;
    this.market = market;
    this.outcome = outcome;
    this.decimals = decimalsOf(market.tick);
    this.last = undefined;
    this.book.clear();
    this.tape.clear();
    this.prices.replace([], this.decimals);
    setText(byId('book-note'), '');
    setText(byId('trades-note'), '');
    if (isOther) {
      setText(byId('event'), market.event);
      setText(byId('question'), market.question);
      fillChoices(this.outcomes, market.outcomes, outcome, this.onOutcome);
      this.outcomes.hidden = market.outcomes.length === 0;
      this.outcomes.toggleAttribute('data-many', market.outcomes.length > 2);
    } else choose(this.outcomes, outcome);
    clearTimeout(this.bookTimer);
    this.bookTimer = setTimeout(() => {
      const isOver = this.market?.state === 'closed';
      if (!this.book.isKnown) setText(byId('book-note'), isOver ? '' : 'no book yet');
    }, BOOK_MS_MAX);
    this.redraw();
  }

  /** New figures of the same market. @param {Market} market */
  update(market) {
    if (market.id !== this.market?.id) return;
    this.market = market;
    this.redraw();
  }

  /** Earlier events may have gaps: what is not in a book is read again. */
  reread() {
    this.readTrades();
    this.readHistory();
  }

  async readTrades() {
    const { api, market, outcome, token } = this;
    if (api === undefined || market === undefined) return;
    const since = Date.now() - 1_000;
    try {
      const trades = await api.trades(market, outcome);
      if (token !== this.token) return;
      this.tape.merge(trades, since);
      this.last = this.tape.trades[0]?.price;
      setText(byId('trades-note'), this.last === undefined ? 'none yet' : '');
    } catch {
      setText(byId('trades-note'), 'earlier ones are not shown');
    }
    this.redraw();
  }

  async readHistory() {
    const { api, token } = this;
    if (api === undefined || token === '') return;
    const { window } = this.prices;
    try {
      const points = await api.history(token, window);
      const isSame = window.interval === this.prices.window.interval;
      if (token === this.token && isSame) this.prices.replace(points, this.decimals);
    } catch {
      // It is read again with the next first book, or in a minute.
    }
  }

  /** @param {StreamEvent} event */
  take(event) {
    const { token } = this;
    if (event.event_type === 'book') {
      this.book.replace(/** @type {any} */ (event));
      // The tick may have changed while the stream was down.
      this.decimals = decimalsOf(Number(event.tick_size));
    } else if (event.event_type === 'price_change') {
      for (const change of event.price_changes) {
        if (change.asset_id === token) this.book.change(change);
      }
    } else if (event.event_type === 'last_trade_price') this.takeTrade(event);
    else if (event.event_type === 'tick_size_change') {
      this.decimals = decimalsOf(Number(event.new_tick_size));
    }
    this.redraw();
  }

  /** @param {StreamEvent} event */
  takeTrade({ price, side, size, timestamp }) {
    const at = Number(timestamp);
    this.last = Number(price);
    this.tape.add({ at, price: this.last, size: Number(size), isSell: side === 'SELL' });
    this.prices.add(at, this.last);
    setText(byId('trades-note'), '');
  }

  /**
   * The payouts of a market that has resolved. Else of the chosen outcome the middle between the
   * best orders or the last trade, of a pair the other's is 1 less it; of the rest the prices of
   * the market.
   * @param {Market} market @param {number | undefined} bid @param {number | undefined} ask
   */
  outcomePrices({ outcomes, prices, resolution }, bid, ask) {
    if (resolution !== undefined) return resolution.payouts.map((pays) => `pays ${pays}`);
    const own = bid === undefined || ask === undefined ? this.last : (bid + ask) / 2;
    return outcomes.map((_, index) => {
      let price = prices[index];
      if (own !== undefined && index === this.outcome) price = own;
      else if (own !== undefined && outcomes.length === 2) price = 1 - own;
      return priceText(price, this.decimals);
    });
  }

  draw() {
    const { book, decimals, market } = this;
    const bid = book.bids.best;
    const ask = book.asks.best;
    const spread = bid === undefined || ask === undefined ? undefined : ask - bid;
    setText(byId('fact-last'), priceText(this.last, decimals));
    setText(byId('fact-bid'), priceText(bid, decimals));
    setText(byId('fact-ask'), priceText(ask, decimals));
    setText(byId('fact-spread'), priceText(spread, decimals));
    setText(byId('fact-day'), market === undefined ? NONE : amountText(market.volumeDay));
    setText(byId('fact-volume'), market === undefined ? NONE : amountText(market.volume));
    setText(byId('fact-end'), market === undefined ? NONE : dayText(market.endDate));
    this.ladder.draw(book, decimals, market?.state === 'closed');
    this.tape.draw(decimals);
    this.depth.draw(book, decimals);
    if (market === undefined) return;
    const resolution = resolutionText(market);
    setBadge(byId('state'), stateText(market));
    setBadge(byId('resolution'), resolution);
    setChoiceValues(this.outcomes, this.outcomePrices(market, bid, ask));
    const price = `${priceText(this.last, decimals)} ${market.outcomes[this.outcome]}`;
    document.title = `${resolution || price} · ${market.question}`;
  }
}
