// @ts-check
/**
 * The ladder: asks above, bids below, the best ones at the spread. Rows stay in place, and only
 * cells whose text has changed are written.
 */
import { make, makeHead, setBar, setText } from './dom.js';
import { NONE, priceText, sizeText } from './format.js';

/** @import { Book, Level } from './book.js' */

const ROWS = 10;

/** @typedef {{ row: HTMLElement, price: HTMLElement, size: HTMLElement, total: HTMLElement }} Row */

export class Ladder {
  /** @param {HTMLElement} table */
  constructor(table) {
    this.asks = makeRows();
    this.bids = makeRows();
    this.spread = make('td');
    this.spread.colSpan = 3;
    const between = make('tbody', 'spread');
    const betweenRow = make('tr');
    betweenRow.append(this.spread);
    between.append(betweenRow);
    const upper = make('tbody', 'asks');
    upper.append(...this.asks.map(({ row }) => row).reverse());
    const lower = make('tbody', 'bids');
    lower.append(...this.bids.map(({ row }) => row));
    table.append(makeHead(['Price', 'Shares', 'Total']), upper, between, lower);
  }

  /** @param {Book} book @param {number} decimals @param {boolean} isOver no orders are taken any more */
  draw({ asks, bids, isKnown }, decimals, isOver) {
    const ask = asks.best;
    const bid = bids.best;
    let text = '↑ asks · bids ↓';
    if (isKnown && ask !== undefined && bid !== undefined) {
      text = `↑ asks · spread ${priceText(ask - bid, decimals)} · bids ↓`;
    } else if (isOver) text = 'Trading has ended';
    else if (isKnown) {
      text = ask === bid ? 'Nobody offers anything yet' : 'One side is empty';
    }
    setText(this.spread, text);
    const most = Math.max(totalOf(asks.levels), totalOf(bids.levels));
    drawSide(this.asks, asks.levels, most, decimals);
    drawSide(this.bids, bids.levels, most, decimals);
  }
}

/** @returns {Row[]} the best one first */
function makeRows() {
  return Array.from({ length: ROWS }, () => {
    const row = make('tr');
    const price = make('th');
    price.scope = 'row';
    const size = make('td');
    const total = make('td');
    row.append(price, size, total);
    return { row, price, size, total };
  });
}

/** @param {readonly Level[]} levels @returns {number} shares of those shown */
function totalOf(levels) {
  return levels.slice(0, ROWS).reduce((sum, { size }) => sum + size, 0);
}

/**
 * @param {readonly Row[]} rows @param {readonly Level[]} levels best first
 * @param {number} most the total that fills the width @param {number} decimals
 */
function drawSide(rows, levels, most, decimals) {
  let sum = 0;
  rows.forEach(({ price, row, size, total }, index) => {
    const level = levels[index];
    sum += level?.size ?? 0;
    setText(price, level === undefined ? NONE : priceText(level.price, decimals));
    setText(size, level === undefined ? '' : sizeText(level.size));
    setText(total, level === undefined ? '' : sizeText(sum));
    row.toggleAttribute('data-none', level === undefined);
    setBar(row, level === undefined ? 0 : sum / most);
  });
}
