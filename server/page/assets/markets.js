// @ts-check
/**
 * The list of markets: the busiest in a state, or the results of a search. Rows are links; arrow keys move
 * between rows, and Escape clears the search. A row has the chance of the first of two outcomes, of more
 * outcomes the chance of each, and what a market has resolved to.
 */
import { byId, make, markCurrent, setBadge, setText } from './dom.js';
import { amountText, chanceText, resolutionText, stateText } from './format.js';

/** @import { Api, Filter, Market } from './api.js' */

const REFRESH_MS = 3_000;
const TYPING_MS = 150;
/**
 * Where a list is empty, and where a search has found nothing.
 * @type {Readonly<Record<Filter, readonly [string, string]>>}
 */
const NOTHING = {
  open: ['No open market yet', 'Nothing open'],
  paused: ['No market is paused', 'Nothing paused'],
  ended: ['No open market is past its end date', 'Nothing past its end date'],
  closed: ['No market is closed', 'Nothing closed'],
  all: ['No market yet', 'Nothing'],
};

export class MarketList {
  /** @param {(markets: readonly Market[]) => void} onMarkets figures of markets are new */
  constructor(onMarkets) {
    this.onMarkets = onMarkets;
    this.list = byId('markets');
    this.found = byId('found');
    this.input = /** @type {HTMLInputElement} */ (byId('search'));
    this.choice = /** @type {HTMLSelectElement} */ (byId('filter'));
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {Api | undefined} */
    this.api = undefined;
    this.current = '';
    this.requests = 0;
    /** @type {number | undefined} timer */
    this.typing = undefined;
    this.shown = '';
    this.input.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.refresh(), TYPING_MS);
    });
    this.choice.addEventListener('change', () => this.refresh());
    this.input.addEventListener('keydown', (event) => this.searchKey(event));
    this.list.addEventListener('keydown', (event) => this.listKey(event));
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      this.input.focus();
    });
    setInterval(() => {
      if (!document.hidden) this.refresh();
    }, REFRESH_MS);
  }

  /** @param {Api} api */
  begin(api) {
    this.api = api;
    return this.refresh();
  }

  get words() {
    return this.input.value.trim();
  }

  get filter() {
    return /** @type {Filter} */ (this.choice.value);
  }

  async refresh() {
    if (this.api === undefined) return;
    this.requests += 1;
    const { filter, requests, words } = this;
    try {
      const markets = await (words === ''
        ? this.api.busiest(filter)
        : this.api.search(words, filter));
      // A later request was sent meanwhile.
      if (requests !== this.requests) return;
      this.draw(markets, words, filter);
      this.onMarkets(markets);
    } catch {
      if (this.rows.size === 0) setText(this.found, 'The API does not answer');
    }
  }

  /** @param {string} id */
  setCurrent(id) {
    this.current = id;
    for (const [key, { link }] of this.rows) markCurrent(link, key === id);
  }

  /** @param {readonly Market[]} markets @param {string} words @param {Filter} filter */
  draw(markets, words, filter) {
    setText(this.found, headOf(markets.length, words, filter));
    const shown = `${filter} ${words}`;
    const isOther = shown !== this.shown;
    this.shown = shown;
    const ids = new Set(markets.map(({ id }) => id));
    for (const [id, { item }] of this.rows) {
      if (ids.has(id)) continue;
      item.remove();
      this.rows.delete(id);
    }
    const items = markets.map((market) => this.row(market).item);
    // Nothing moves under a pointer or away from who is choosing with keys.
    const isInUse = this.list.matches(':hover, :focus-within');
    const isInOrder = items.every((item, index) => this.list.children[index] === item);
    if (isOther || (!isInUse && !isInOrder)) this.list.replaceChildren(...items);
    else for (const item of items) if (!item.isConnected) this.list.append(item);
    if (isOther) this.list.scrollTop = 0;
  }

  /** @param {Market} market @returns {Row} with what is new */
  row(market) {
    let row = this.rows.get(market.id);
    if (row === undefined) {
      row = new Row(market.id);
      markCurrent(row.link, market.id === this.current);
      this.rows.set(market.id, row);
    }
    row.fill(market);
    return row;
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      this.list.querySelector('a')?.focus();
    } else if (event.key === 'Enter') this.list.querySelector('a')?.click();
    else if (event.key === 'Escape') {
      this.input.value = '';
      this.refresh();
    }
  }

  /** @param {KeyboardEvent} event */
  listKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const links = [...this.list.querySelectorAll('a')];
    const next = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement)) + step;
    if (next < 0) this.input.focus();
    else links[next]?.focus();
  }
}

class Row {
  /** @param {string} id of the market */
  constructor(id) {
    this.item = make('li');
    this.link = make('a', 'market');
    this.link.href = `#${id}`;
    this.words = make('span', 'market-words');
    this.chance = make('span', 'market-chance');
    const about = make('span', 'market-about');
    this.badge = make('span', 'badge');
    this.event = make('span', 'market-event clip');
    about.append(this.badge, this.event);
    this.volume = make('span', 'market-volume');
    this.outcomes = make('span', 'market-outcomes');
    this.link.append(this.words, this.chance, this.outcomes, about, this.volume);
    this.item.append(this.link);
  }

  /** @param {Market} market */
  fill(market) {
    const { event, prices, question, resolution, volumeDay } = market;
    const isPair = prices.length <= 2;
    setText(this.words, question);
    setText(this.chance, isPair && resolution === undefined ? chanceText(prices[0]) : '');
    if (resolution !== undefined) setText(this.outcomes, resolutionText(market));
    else this.fillOutcomes(isPair ? [] : market.outcomes, prices);
    setBadge(this.badge, stateText(market));
    setText(this.event, event);
    setText(this.volume, `${amountText(volumeDay)} today`);
  }

  /** @param {readonly string[]} outcomes @param {readonly (number | undefined)[]} prices */
  fillOutcomes(outcomes, prices) {
    const { children } = this.outcomes;
    if (children.length !== outcomes.length) {
      const parts = outcomes.map(() => {
        const part = make('span', 'market-outcome');
        part.append(make('span', 'clip'), make('b'));
        return part;
      });
      this.outcomes.replaceChildren(...parts);
    }
    outcomes.forEach((outcome, i) => {
      const [name, chance] = children[i]?.children ?? [];
      if (name !== undefined) setText(name, outcome);
      if (chance !== undefined) setText(chance, chanceText(prices[i]));
    });
  }
}

/** @param {number} count @param {string} words @param {Filter} filter */
function headOf(count, words, filter) {
  const [none, nothing] = NOTHING[filter];
  if (words === '') return count === 0 ? none : 'Busiest first, by 24 h volume';
  if (count === 0) return `${nothing} is found for “${words}”`;
  return `${count} found for “${words}”`;
}
