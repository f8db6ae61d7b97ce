// @ts-check
/** The sweep of a report: its combinations, a heat map of two parameters, or its walk-forward windows. */
import { byId, choices, make, makeHead, setText } from './dom.js';
import { countText, NONE } from './format.js';

/** @import { SweepData, SweptData, WindowsData } from '../report-data.ts' */

const SWEEP_ROWS_MAX = 500;
/** The figure that windows always show. */
const PROFIT = 'profit';
const ALL_RECORDINGS = 'all together';
const FIGURE = new Intl.NumberFormat('en', { maximumFractionDigits: 4 });
/** Share of its colour that the strongest cell has. */
const HEAT_MAX = 55;

/** @param {number | null} value */
const figureText = (value) => (value === null ? NONE : FIGURE.format(value));

/** Time in UTC without milliseconds. @param {number} ms */
const utcText = (ms) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** @param {SweepData} sweep */
export function showSweep(sweep) {
  byId('sweep').hidden = false;
  if (sweep.kind === 'windows') showWindows(sweep);
  else {
    showCombinations(sweep);
    if (sweep.names.length > 0) new HeatMap(sweep).begin();
  }
}

/** @param {SweptData} sweep */
function showCombinations({ combinations, figures, names, rank, recordings, rows }) {
  const shown = rows.slice(0, SWEEP_ROWS_MAX);
  const count =
    shown.length < combinations
      ? `the best ${countText(shown.length)} of ${countText(combinations)} combinations`
      : `${countText(combinations)} combinations`;
  const over = recordings.length === 1 ? recordings[0] : `${recordings.length} recordings`;
  setText(byId('sweep-note'), `${count} over ${over}, by ${rank}; the first one is below`);
  byId('sweep-head').replaceWith(makeHead([...names, ...figures]));
  byId('sweep-rows').replaceChildren(
    ...shown.map(({ all, values }) => {
      const row = make('tr');
      row.append(
        ...values.map((value) => make('td', '', String(value))),
        ...all.map((value) => make('td', '', figureText(value))),
      );
      return row;
    }),
  );
}

/** @param {WindowsData} windows */
function showWindows({ rank, rows }) {
  document.querySelector('main')?.classList.add('is-alone');
  const sum = rows.reduce((total, { profit }) => total + profit, 0);
  setText(byId('sweep-title'), 'Walk-forward windows');
  setText(byId('sweep-note'), `${countText(rows.length)} windows, profit ${figureText(sum)}`);
  byId('sweep-head').replaceWith(
    makeHead([
      'Recording',
      'Train from, UTC',
      'Test from',
      'Test to',
      'Values',
      `${rank} of train`,
      ...(rank === PROFIT ? [] : [`${rank} of test`]),
      'Profit of test',
    ]),
  );
  byId('sweep-rows').replaceChildren(
    ...rows.map(({ profit, recording, tested, times, trained, values }) => {
      const row = make('tr');
      const texts = [
        recording,
        ...times.map(utcText),
        values,
        ...[trained, ...(rank === PROFIT ? [] : [tested]), profit].map(figureText),
      ];
      row.append(...texts.map((text) => make('td', '', text)));
      return row;
    }),
  );
}

/** Cells of two parameters. A cell has the row that is ranked first of those with its two values. */
class HeatMap {
  /** @param {SweptData} sweep */
  constructor(sweep) {
    this.sweep = sweep;
    this.across = 0;
    this.down = Math.min(1, sweep.names.length - 1);
    this.figure = Math.max(0, sweep.figures.indexOf(sweep.rank));
    /** Index of a recording; -1 = all together. */
    this.recording = -1;
  }

  begin() {
    const { figures, names, recordings } = this.sweep;
    byId('heat').hidden = false;
    this.choose('heat-across', names, this.across, (index) => {
      this.across = index;
    });
    this.choose('heat-down', names, this.down, (index) => {
      this.down = index;
    });
    this.choose('heat-figure', figures, this.figure, (index) => {
      this.figure = index;
    });
    this.choose('heat-recording', [ALL_RECORDINGS, ...recordings], 0, (index) => {
      this.recording = index - 1;
    });
    this.show();
  }

  /** @param {string} id @param {readonly string[]} texts @param {number} first @param {(index: number) => void} take */
  choose(id, texts, first, take) {
    choices(id, texts, (index) => {
      take(index);
      this.show();
    });
    /** @type {HTMLSelectElement} */ (byId(id)).selectedIndex = first;
  }

  show() {
    const { figures, names, rank, rows } = this.sweep;
    const isPair = this.across !== this.down;
    const columns = this.valuesOf(this.across);
    const lines = isPair ? this.valuesOf(this.down) : [''];
    const cells = lines.map((line) =>
      columns.map((column) => {
        const row = rows.find(
          ({ values }) =>
            values[this.across] === column && (!isPair || values[this.down] === line),
        );
        const own = this.recording < 0 ? row?.all : row?.each[this.recording];
        return own?.[this.figure] ?? null;
      }),
    );
    const most = Math.max(...cells.flat().map((value) => Math.abs(value ?? 0)));
    const others = names.filter((_, i) => i !== this.across && i !== this.down);
    const chosen = others.length === 0 ? '' : `, with the ${others.join(' and ')} that ranks first`;
    const best = rows[0]?.values;
    setText(byId('heat-note'), `${figures[this.figure]}${chosen}; framed: first by ${rank}`);
    byId('heat-head').replaceWith(
      withId(makeHead([isPair ? `${names[this.down]} \\ ${names[this.across]}` : `${names[this.across]}`, ...columns.map(String)]), 'heat-head'),
    );
    byId('heat-rows').replaceChildren(
      ...lines.map((line, i) => {
        const row = make('tr');
        const head = make('th', '', String(line));
        head.scope = 'row';
        const own = cells[i] ?? [];
        row.append(
          head,
          ...own.map((value, j) => {
            const isBest =
              best?.[this.across] === columns[j] && (!isPair || best?.[this.down] === line);
            const cell = make('td', isBest ? 'is-best' : '', figureText(value));
            cell.style.setProperty('--heat', (value ?? 0) < 0 ? 'var(--ask)' : 'var(--bid)');
            const share = most === 0 ? 0 : (HEAT_MAX * Math.abs(value ?? 0)) / most;
            cell.style.setProperty('--share', `${share.toFixed(1)}%`);
            return cell;
          }),
        );
        return row;
      }),
    );
  }

  /** Values of a parameter: numbers by size, others as they come. @param {number} parameter */
  valuesOf(parameter) {
    const values = [...new Set(this.sweep.rows.map(({ values }) => values[parameter] ?? ''))];
    return values.sort((one, other) =>
      typeof one === 'number' && typeof other === 'number' ? one - other : 0,
    );
  }
}

/** @template {HTMLElement} Kind @param {Kind} element @param {string} id */
function withId(element, id) {
  element.id = id;
  return element;
}
