// @ts-check
/** The trades of the chosen token, newest first, in a fixed number of rows that are used again. */
import { make, makeHead, setText } from './dom.js';
import { clockText, priceText, sizeText } from './format.js';

/** @import { Trade } from './api.js' */

const ROWS = 40;
/** The column shows the sign alone; a screen reader reads the word. */
const SIDES = { buy: '▲ Buy', sell: '▼ Sell' };

export class Tape {
  /** @param {HTMLElement} table */
  constructor(table) {
    this.body = make('tbody');
    table.append(makeHead(['Time', 'Taker', 'Price', 'Shares']), this.body);
    // What scrolls can be scrolled with keys, in every browser.
    if (table.parentElement !== null) table.parentElement.tabIndex = 0;
    /** @type {Trade[]} newest first */
    this.trades = [];
    /** @type {Trade[]} not drawn yet, oldest first */
    this.added = [];
  }

  clear() {
    this.replace([]);
  }

  /** @param {readonly Trade[]} trades newest first */
  replace(trades) {
    this.trades = trades.slice(0, ROWS);
    this.added = [];
    this.isWhole = true;
  }

  /** @param {Trade} trade */
  add(trade) {
    this.added.push(trade);
    if (this.added.length > ROWS) this.added.shift();
  }

  /**
   * Replaces all trades by what was read, and what came after the request and is not in it.
   * @param {readonly Trade[]} read newest first @param {number} since unix milliseconds
   */
  merge(read, since) {
    const current = [...this.added].reverse().concat(this.trades);
    const left = new Map();
    for (const trade of read) left.set(keyOf(trade), (left.get(keyOf(trade)) ?? 0) + 1);
    const missing = current.filter((trade) => {
      if (trade.at < since) return false;
      const count = left.get(keyOf(trade)) ?? 0;
      left.set(keyOf(trade), count - 1);
      return count <= 0;
    });
    this.replace([...missing, ...read]);
  }

  /** @param {number} decimals */
  draw(decimals) {
    if (this.isWhole) {
      this.isWhole = false;
      while (this.body.rows.length > this.trades.length) this.body.deleteRow(-1);
      this.trades.forEach((trade, index) => {
        const row = this.body.rows[index] ?? this.body.appendChild(makeRow());
        fill(row, trade, decimals);
        row.classList.remove('is-new');
      });
    }
    for (const trade of this.added) {
      const isFull = this.body.rows.length >= ROWS;
      const row = (isFull && this.body.rows[ROWS - 1]) || makeRow();
      row.classList.remove('is-new');
      fill(row, trade, decimals);
      this.body.prepend(row);
      row.classList.add('is-new');
    }
    this.trades = [...this.added].reverse().concat(this.trades).slice(0, ROWS);
    this.added = [];
  }
}

/** Times of trades that are read are whole seconds. @param {Trade} trade */
function keyOf({ at, isSell, price, size }) {
  return `${Math.floor(at / 1_000)}/${price}/${size}/${isSell}`;
}

function makeRow() {
  const row = make('tr');
  for (let i = 0; i < 4; i++) row.append(make('td'));
  return row;
}

/** @param {HTMLTableRowElement} row @param {Trade} trade @param {number} decimals */
function fill(row, { at, isSell, price, size }, decimals) {
  const [time, side, priceCell, sizeCell] = row.cells;
  if (!time || !side || !priceCell || !sizeCell) return;
  setText(time, clockText(at));
  setText(side, isSell ? SIDES.sell : SIDES.buy);
  side.className = isSell ? 'is-sell' : 'is-buy';
  setText(priceCell, priceText(price, decimals));
  setText(sizeCell, sizeText(size));
}
