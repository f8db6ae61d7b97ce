// @ts-check
/** The report of a backtest: figures of every run, charts of all, and what one run did in one market. */
import uPlot from 'uplot';
import { axis, Chart, faint, line, marks, pointer, steppedLine, steps } from './chart.js';
import { byId, choices, make, makeHead, setText } from './dom.js';
import { clockText, countText, NONE, sizeText, timeText } from './format.js';
import { showSweep } from './sweep.js';

/** @import { TradeFigures } from '../result.ts' */
/** @import { ReportData, ReportMarket, ReportRun } from '../report-data.ts' */

/** Rows of the table of fills. */
const ROWS_MAX = 500;
const RUN_COLORS = 6;
const DASHES = [[], [8, 5], [2, 4], [12, 4, 2, 4], [5, 3], [1, 3]];
const BORDERS = ['solid', 'dashed', 'dotted', 'dashed', 'dashed', 'dotted'];
const MONEY = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const STAMP = new Intl.DateTimeFormat('en', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/** @type {ReportData} */
const report = JSON.parse(byId('data').textContent ?? '');
const { runs } = report;

/** @param {number | null} part */
const percent = (part) => (part === null ? NONE : `${(100 * part).toFixed(2)} %`);
/** @param {number} ms */
const stamp = (ms) => STAMP.format(ms);
/** @param {number} amount */
const signed = (amount) => {
  const rounded = Math.round(100 * amount) / 100;
  return `${rounded > 0 ? '+' : ''}${MONEY.format(rounded || 0)}`;
};
/** The class of an amount. @param {number} amount */
const signOf = (amount) => (amount >= 0.005 ? 'is-gain' : amount <= -0.005 ? 'is-loss' : '');

/** @param {number | undefined} value @param {number} digits */
const decimal = (value, digits) => value?.toFixed(digits) ?? NONE;
/** @param {number | string} latency */
const latencyText = (latency) => (typeof latency === 'number' ? `${countText(latency)} ms` : latency);

/** @param {number | string} fee */
const feeText = (fee) => (typeof fee === 'number' ? `${countText(fee)} bps` : fee);

/** Shown figures of trading: of a run, a day or a market. @type {readonly (readonly [string, (figures: TradeFigures) => string])[]} */
const TRADING = [
  ['Turnover', ({ turnover }) => MONEY.format(turnover)],
  ['Fees', ({ fees }) => MONEY.format(fees)],
  ['Fills', ({ fills }) => countText(fills)],
  ['as maker', ({ makerFills }) => countText(makerFills)],
  ['Fill rate', ({ fillRate }) => percent(fillRate ?? null)],
  ['Adverse 1 s', ({ adverse1s }) => decimal(adverse1s, 4)],
  ['10 s', ({ adverse10s }) => decimal(adverse10s, 4)],
  ['60 s', ({ adverse60s }) => decimal(adverse60s, 4)],
  ['At best', ({ timeAtBest }) => percent(timeAtBest ?? null)],
  ['Brier', ({ brier }) => decimal(brier, 4)],
  ['to market', ({ brierAdvantage }) => decimal(brierAdvantage, 4)],
];

/** What is shown of a run. @type {readonly (readonly [string, (run: ReportRun) => string])[]} */
const COLUMNS = [
  ['Profit', ({ figures }) => signed(figures.profit)],
  ['Return', ({ figures }) => percent(figures.return)],
  ['Drawdown', ({ figures }) => MONEY.format(figures.drawdown.amount)],
  ['of peak', ({ figures }) => percent(figures.drawdown.share)],
  ['Sharpe', ({ figures }) => decimal(figures.sharpe, 2)],
  ['Sortino', ({ figures }) => decimal(figures.sortino, 2)],
  ['Hit rate', ({ figures }) => percent(figures.hitRate ?? null)],
  ['Positions, most', ({ figures }) => MONEY.format(figures.inventoryMax)],
  ...TRADING.map(
    ([title, read]) =>
      /** @type {const} */ ([title, (/** @type {ReportRun} */ { figures }) => read(figures)]),
  ),
  ['Orders', ({ figures }) => countText(figures.orders)],
  ['Refused', ({ figures }) => countText(figures.refused)],
  ['Cash', ({ settings }) => MONEY.format(settings.cash)],
  ['Latency', ({ settings }) => latencyText(settings.latencyMs)],
  ['Feed', ({ settings }) => latencyText(settings.feedLatencyMs)],
  ['Taker delay', ({ settings }) => latencyText(settings.takerDelayMs)],
  ['Fee', ({ settings }) => feeText(settings.feeBps)],
  ['Impact', ({ settings }) => settings.impact],
  ['Queue', ({ settings }) => settings.queue],
];

/** What is shown of a day before the figures of trading. @type {readonly (readonly [string, (day: ReportRun['days'][number]) => string])[]} */
const DAY_COLUMNS = [
  ['Day', ({ day }) => day],
  ['Profit', ({ profit }) => signed(profit)],
  ['Return', (day) => percent(day.return)],
  ['Drawdown', ({ drawdown }) => MONEY.format(drawdown)],
  ['Positions', ({ positions }) => MONEY.format(positions)],
  ...TRADING,
];

/** The same of a market. @type {readonly (readonly [string, (market: ReportMarket) => string])[]} */
const MARKET_COLUMNS = [
  ['Market', ({ question }) => question],
  ['Profit', ({ profit }) => signed(profit)],
  ['Drawdown', ({ drawdown }) => MONEY.format(drawdown)],
  ['Sharpe', ({ sharpe }) => decimal(sharpe, 2)],
  ['Sortino', ({ sortino }) => decimal(sortino, 2)],
  ['Shares, most', ({ sharesMax }) => sizeText(sharesMax)],
  ...TRADING,
];

/** Counts that should be 0. @type {readonly (readonly [string, (run: ReportRun) => number])[]} */
const OMISSIONS = [
  ['Damaged messages left out', ({ messagesDamaged }) => messagesDamaged],
  ['Entries with a time before that of an earlier one', ({ timesDecreasing }) => timesDecreasing],
  ['Levels of the source that were refused', ({ levelsRefused }) => levelsRefused],
  ['Pauses in which timers were left out', ({ pausesCut }) => pausesCut],
];

function showRuns() {
  byId('runs-head').replaceWith(makeHead(['Run', ...COLUMNS.map(([title]) => title)]));
  for (const [i, run] of runs.entries()) {
    const row = make('tr');
    const head = make('th', '', run.name);
    head.scope = 'row';
    head.style.setProperty('--run', `var(--run-${i % RUN_COLORS})`);
    head.style.setProperty('--dash', BORDERS[i % BORDERS.length] ?? 'solid');
    const cells = COLUMNS.map(([title, read]) =>
      make('td', title === 'Profit' ? signOf(run.figures.profit) : '', read(run)),
    );
    row.append(head, ...cells);
    byId('runs').append(row);
  }
  const [first] = runs;
  if (first === undefined || first.to === null) return;
  const messages = `${countText(first.messages)} messages`;
  setText(byId('span'), `${stamp(first.from ?? first.to)} to ${stamp(first.to)} · ${messages}`);
  showOmissions();
}

/**
 * Shows the newest or largest rows of a table, one for each item.
 * @template {{ readonly profit: number }} Item
 * @param {string} id @param {readonly (readonly [string, (item: Item) => string])[]} columns @param {readonly Item[]} items
 */
function showTable(id, columns, items) {
  const head = makeHead(columns.map(([title]) => title));
  head.id = `${id}-head`;
  byId(head.id).replaceWith(head);
  const shown = items.slice(0, ROWS_MAX);
  setText(
    byId(`${id}-note`),
    shown.length < items.length ? `${countText(shown.length)} of ${countText(items.length)}` : '',
  );
  byId(id).replaceChildren(
    ...shown.map((item) => {
      const row = make('tr');
      row.append(
        ...columns.map(([title, read]) =>
          make('td', title === 'Profit' ? signOf(item.profit) : '', read(item)),
        ),
      );
      return row;
    }),
  );
}

/** Shows what makes figures less certain. What is the same of all runs is of their recording. */
function showOmissions() {
  const lines = OMISSIONS.flatMap(([words, countOf]) => {
    const counts = runs.map(countOf);
    const isSame = counts.every((count) => count === counts[0]);
    const shown = isSame ? counts.slice(0, 1) : counts;
    return shown.flatMap((count, i) =>
      count === 0 ? [] : [`${isSame ? '' : `${runs[i]?.name}: `}${words}: ${countText(count)}`],
    );
  });
  const list = byId('omissions');
  list.hidden = lines.length === 0;
  list.replaceChildren(...lines.map((line) => make('li', '', line)));
}

/** @param {number} i of a run */
function runColor(i) {
  const style = getComputedStyle(document.documentElement);
  return style.getPropertyValue(i % RUN_COLORS === 0 ? '--accent' : `--run-${i % RUN_COLORS}`).trim();
}

/** Columns of several tables on one axis. @param {readonly uPlot.AlignedData[]} tables */
function joined(tables) {
  return tables.length === 0 ? /** @type {uPlot.AlignedData} */ ([[]]) : uPlot.join([...tables]);
}

/**
 * The table in which a value of these columns holds until the next one of the column: a line in steps has a point at
 * each time then, also where it has none of its own.
 * @param {uPlot.AlignedData} table @param {(column: number) => boolean} isHeld @returns {uPlot.AlignedData}
 */
function held([times, ...columns], isHeld) {
  return [times, ...columns.map((column, i) => (isHeld(i + 1) ? heldColumn(column) : column))];
}

/** @param {ArrayLike<number | null | undefined>} column @returns {(number | null)[]} */
function heldColumn(column) {
  let end = column.length - 1;
  while (end >= 0 && typeof column[end] !== 'number') end -= 1;
  /** @type {number | null} */
  let last = null;
  return Array.from(column, (value, i) => {
    last = value ?? last;
    return i > end ? null : last;
  });
}

/** @param {import('./chart.js').Colors} colors @param {(value: number) => string} text */
function axes(colors, text) {
  return [
    axis(colors, {
      grid: { show: false },
      space: 80,
      size: 24,
      values: (plot, splits, _index, _space, step) => marks(plot, splits, (t) => timeText(t, step)),
    }),
    axis(colors, { side: 1, size: 64, space: 32, values: (_plot, splits) => splits.map(text) }),
  ];
}

/** The range of an axis with some room. @param {number} low @param {number} high @returns {[number, number]} */
function roomy(low, high) {
  const room = (high - low) * 0.08 || Math.max(Math.abs(high) * 0.01, 0.01);
  return [low - room, high + room];
}

/**
 * A column of every run over time, in one chart.
 * @param {string} id @param {(run: ReportRun) => number[]} columnOf @param {boolean} isBelow
 */
function runsChart(id, columnOf, isBelow) {
  const table = held(
    joined(
      runs.map((run) => /** @type {uPlot.AlignedData} */ ([[...run.equity.times], columnOf(run)])),
    ),
    () => true,
  );
  /** @param {number | null | undefined} index */
  const read = (index) => {
    const time = table[0][index ?? -1];
    const values = runs.map((run, i) => {
      const value = lastValue(table[i + 1] ?? [], index ?? -1);
      return value === undefined ? '' : `${runs.length > 1 ? `${run.name} ` : ''}${MONEY.format(value)}`;
    });
    setText(byId(`${id}-read`), time === undefined ? '' : `${values.join(' · ')} · ${stamp(time * 1_000)}`);
  };
  const chart = new Chart(
    byId(id),
    (colors) => ({
      ...pointer(read),
      scales: { y: { range: (_plot, low, high) => (isBelow ? [Math.min(low * 1.1, -0.01), 0] : roomy(low, high)) } },
      axes: axes(colors, (value) => MONEY.format(value)),
      series: [
        {},
        ...runs.map((_, i) => {
          const color = runColor(i);
          const dash = DASHES[i % DASHES.length] ?? [];
          return steps(color, 1, { dash, ...(isBelow ? { fill: faint(color) } : {}) });
        }),
      ],
    }),
    'The strategy never began',
  );
  const ends = runs.map((run) => `${run.name}: ${MONEY.format(columnOf(run).at(-1) ?? 0)}`);
  chart.show(table, `${id === 'equity' ? 'Equity' : 'Drawdown'} at the end: ${ends.join(', ')}`);
}

/** The value at a row, or the last one before it. @param {ArrayLike<number | null | undefined>} column @param {number} index */
function lastValue(column, index) {
  for (let i = index; i >= 0; i--) {
    const value = column[i];
    if (value !== null && value !== undefined) return value;
  }
  return undefined;
}

/** The chosen run and market, and the two charts of them. */
class Chosen {
  constructor() {
    this.run = runs[0];
    this.market = this.run?.markets[0];
    /** @type {uPlot.AlignedData} time, middle, bought, sold, net shares */
    this.table = [[]];
    this.price = new Chart(
      byId('price'),
      (colors) => ({
        ...pointer((index) => this.read(index)),
        scales: { y: { range: (_plot, low, high) => roomy(low, high) } },
        axes: axes(colors, (price) => price.toFixed(3)),
        series: [{}, steps(colors.accent, 1, { width: 1 }), ghost(), ghost()],
        hooks: {
          ...pointer((index) => this.read(index)).hooks,
          draw: [
            (plot) => triangles(plot, 2, colors.bid, 1),
            (plot) => triangles(plot, 3, colors.ask, -1),
          ],
        },
      }),
      'No fill in any market',
    );
    this.inventory = new Chart(
      byId('inventory'),
      (colors) => ({
        ...pointer((index) => this.readInventory(index)),
        scales: { y: { range: (_plot, low, high) => roomy(Math.min(0, low), Math.max(0, high)) } },
        axes: axes(colors, sizeText),
        series: [{}, steppedLine(colors.accent, 1)],
      }),
      'No fill in any market',
    );
  }

  begin() {
    const names = runs.map(({ name }) => name);
    choices('run', names, (index) => {
      this.run = runs[index];
      this.chooseMarkets();
    });
    this.chooseMarkets();
  }

  chooseMarkets() {
    const markets = this.run?.markets ?? [];
    showTable('days', DAY_COLUMNS, (this.run?.days ?? []).toReversed());
    showTable(
      'markets',
      MARKET_COLUMNS,
      markets.toSorted((a, b) => b.turnover - a.turnover),
    );
    const same = markets.findIndex(({ id }) => id === this.market?.id);
    const names = markets.map(
      ({ fills, profit, question }) => `${question} · ${countText(fills)} fills · ${signed(profit)}`,
    );
    choices('market', names, (index) => this.show(markets[index]));
    /** @type {HTMLSelectElement} */ (byId('market')).selectedIndex = Math.max(0, same);
    this.show(markets[Math.max(0, same)]);
  }

  /** @param {ReportMarket | undefined} market */
  show(market) {
    this.market = market;
    const fills = this.fills();
    const [bought, sold] = [merged(fills, true), merged(fills, false)];
    const times = [...(market?.times ?? [])];
    this.table =
      market === undefined
        ? [[]]
        : held(joined([[times, [...market.mid]], bought, sold]), (column) => column === 1);
    const first = market?.outcomes[0] ?? '';
    const words = `${fills.length} fills over the price of ${first}`;
    this.price.show(this.table, words);
    const last = market?.inventory.at(-1) ?? 0;
    this.inventory.show(
      market === undefined ? [[]] : [times, [...market.inventory]],
      `Shares of ${first} less those of the other outcome: ${sizeText(last)} at the end`,
    );
    this.showFills(fills);
  }

  fills() {
    const id = this.market?.id;
    return (this.run?.fills ?? []).filter(({ market }) => market === id);
  }

  /** @param {ReportRun['fills']} fills */
  showFills(fills) {
    const rows = fills.slice(-ROWS_MAX).reverse();
    const all = this.market?.fills ?? 0;
    const note = rows.length < all ? `the newest ${countText(rows.length)} of ${countText(all)}` : '';
    setText(byId('fills-note'), note);
    byId('fills').replaceChildren(
      ...rows.map((fill) => {
        const row = make('tr');
        const side = make('td', fill.side === 'BUY' ? 'is-buy' : 'is-sell', fill.side);
        const { brought } = fill;
        row.append(
          make('td', '', stamp(fill.time * 1_000)),
          make('td', '', fill.outcome),
          side,
          make('td', '', String(fill.price)),
          make('td', '', sizeText(fill.size)),
          make('td', '', MONEY.format(fill.fee)),
          make('td', '', fill.role),
          make('td', signOf(brought ?? 0), brought === null ? NONE : signed(brought)),
        );
        return row;
      }),
    );
  }

  /** @param {number | null | undefined} index */
  read(index) {
    const i = index ?? -1;
    const time = this.table[0][i];
    const price = lastValue(this.table[1] ?? [], i);
    const [bought, sold] = [this.table[2]?.[i], this.table[3]?.[i]];
    const words = [
      price === undefined ? '' : price.toFixed(4),
      typeof bought === 'number' ? `bought at ${bought.toFixed(4)}` : '',
      typeof sold === 'number' ? `sold at ${sold.toFixed(4)}` : '',
      time === undefined ? '' : clockText(time * 1_000),
    ];
    setText(byId('price-read'), words.filter((word) => word !== '').join(' · '));
  }

  /** @param {number | null | undefined} index */
  readInventory(index) {
    const time = this.market?.times[index ?? -1];
    const shares = this.market?.inventory[index ?? -1];
    const isThere = time !== undefined && shares !== undefined;
    setText(
      byId('inventory-read'),
      isThere ? `${sizeText(shares)} shares · ${clockText(time * 1_000)}` : '',
    );
  }
}

/** A column that only the hook draws. */
const ghost = () => line('transparent', { paths: () => null });

/**
 * Fills of one direction in the prices of the first outcome; those of one time are one mark, at their mean.
 * @param {ReportRun['fills']} fills @param {boolean} isBought @returns {uPlot.AlignedData}
 */
function merged(fills, isBought) {
  /** @type {Map<number, { cost: number, size: number }>} */
  const marked = new Map();
  for (const { isSecond, price, side, size, time } of fills) {
    if ((side === 'BUY') === isSecond === isBought) continue;
    const sum = marked.get(time) ?? { cost: 0, size: 0 };
    sum.cost += (isSecond ? 1 - price : price) * size;
    sum.size += size;
    marked.set(time, sum);
  }
  return [[...marked.keys()], [...marked.values()].map(({ cost, size }) => cost / size)];
}

/**
 * Marks of a column, pointing up or down.
 * @param {uPlot} plot @param {number} column @param {string} color @param {1 | -1} direction
 */
function triangles(plot, column, color, direction) {
  const { ctx, data } = plot;
  const size = 5 * devicePixelRatio;
  const [times, values] = [data[0], data[column] ?? []];
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  ctx.clip();
  ctx.fillStyle = color;
  for (let i = 0; i < times.length; i++) {
    const value = values[i];
    if (typeof value !== 'number') continue;
    const x = plot.valToPos(times[i] ?? 0, 'x', true);
    const y = plot.valToPos(value, 'y', true);
    ctx.beginPath();
    ctx.moveTo(x, y - direction * size);
    ctx.lineTo(x - size, y + direction * size);
    ctx.lineTo(x + size, y + direction * size);
    ctx.fill();
  }
  ctx.restore();
}

const FILL_TITLES = ['Time', 'Outcome', 'Side', 'Price', 'Size', 'Fee', 'Role', 'Closing'];
byId('fills-head').replaceWith(makeHead(FILL_TITLES));
showRuns();
runsChart('equity', ({ equity }) => [...equity.equity], false);
runsChart('drawdown', ({ equity }) => equity.drawdown.map((amount) => -amount), true);
new Chosen().begin();
if (report.sweep !== null) showSweep(report.sweep);
