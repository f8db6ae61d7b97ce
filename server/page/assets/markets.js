// @ts-check
/**
 * The list of markets: the busiest, or the results of a search. Rows are links; arrow keys move
 * between rows, and Escape clears the search.
 */
import { byId, make, markCurrent, setText } from './dom.js';
import { amountText, chanceText } from './format.js';

/** @import { Api, Market } from './api.js' */

const REFRESH_MS = 3_000;
const TYPING_MS = 150;

export class MarketList {
  /** @param {(markets: readonly Market[]) => void} onMarkets figures of markets are new */
  constructor(onMarkets) {
    this.onMarkets = onMarkets;
    this.list = byId('markets');
    this.found = byId('found');
    this.input = /** @type {HTMLInputElement} */ (byId('search'));
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {Api | undefined} */
    this.api = undefined;
    this.current = '';
    this.requests = 0;
    /** @type {number | undefined} timer */
    this.typing = undefined;
    this.shownWords = '';
    this.input.addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.refresh(), TYPING_MS);
    });
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

  async refresh() {
    if (this.api === undefined) return;
    this.requests += 1;
    const { requests, words } = this;
    try {
      const markets = await (words === '' ? this.api.busiest() : this.api.search(words));
      // A later request was sent meanwhile.
      if (requests !== this.requests) return;
      this.draw(markets, words);
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

  /** @param {readonly Market[]} markets @param {string} words */
  draw(markets, words) {
    setText(this.found, headOf(markets.length, words));
    const isOther = words !== this.shownWords;
    this.shownWords = words;
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
    this.event = make('span', 'market-event clip');
    this.volume = make('span', 'market-volume');
    this.link.append(this.words, this.chance, this.event, this.volume);
    this.item.append(this.link);
  }

  /** @param {Market} market */
  fill({ event, outcomes, prices, question, volumeDay }) {
    // Of more than two outcomes the likeliest, by its name.
    const isPair = prices.length <= 2;
    const likeliest = isPair ? 0 : prices.indexOf(Math.max(...prices));
    const price = prices[likeliest];
    setText(this.words, question);
    setText(this.chance, price === undefined ? '' : chanceText(price));
    setText(this.event, isPair ? event : `${outcomes[likeliest]} leads`);
    setText(this.volume, `${amountText(volumeDay)} today`);
  }
}

/** @param {number} count @param {string} words */
function headOf(count, words) {
  if (words === '') return count === 0 ? 'No open market yet' : 'Busiest first, by 24 h volume';
  if (count === 0) return `Nothing open is found for “${words}”`;
  return `${count} found for “${words}”`;
}
