// @ts-check
/**
 * Single entry point to uPlot: a chart in an element whose height the style sheet sets, in the
 * colours of the page. It is drawn again when width or colour scheme change, at most ten times a
 * second.
 */
import uPlot from 'uplot';
import { inNextFrame, make } from './dom.js';

const DRAW_MS_MIN = 100;
/** Half of the width of a text. */
const CUT_PX = 18;

/** @typedef {Record<'muted' | 'line' | 'accent' | 'bid' | 'ask', string>} Colors */
/** @typedef {(colors: Colors) => Omit<uPlot.Options, 'width' | 'height'>} MakeOptions */

export class Chart {
  /**
   * @param {HTMLElement} host @param {MakeOptions} makeOptions
   * @param {string} emptyText is shown while there is no data
   */
  constructor(host, makeOptions, emptyText) {
    this.host = host;
    this.makeOptions = makeOptions;
    this.empty = make('p', 'chart-empty', emptyText);
    host.append(this.empty);
    /** @type {uPlot.AlignedData} */
    this.data = [[]];
    /** @type {uPlot | undefined} */
    this.plot = undefined;
    this.redraw = inNextFrame(() => this.draw(), DRAW_MS_MIN);
    new ResizeObserver(() => this.resize()).observe(host);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.rebuild());
  }

  /** @param {uPlot.AlignedData} data @param {string} label what the chart shows, in words */
  show(data, label) {
    this.data = data;
    this.label = label;
    this.redraw();
  }

  draw() {
    const { clientHeight: height, clientWidth: width } = this.host;
    if (width === 0) return;
    const isEmpty = this.data[0].length === 0;
    this.empty.hidden = !isEmpty;
    this.host.toggleAttribute('data-empty', isEmpty);
    if (this.label !== undefined) this.host.setAttribute('aria-label', this.label);
    if (this.plot === undefined) {
      const own = this.makeOptions(colors());
      const options = { legend: { show: false }, ...own, width, height };
      this.plot = new uPlot(options, this.data, this.host);
    } else this.plot.setData(this.data);
  }

  resize() {
    const { clientHeight: height, clientWidth: width } = this.host;
    if (width === 0) return;
    if (this.plot === undefined) this.redraw();
    else if (this.plot.width !== width || this.plot.height !== height) {
      this.plot.setSize({ width, height });
    }
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = undefined;
    this.redraw();
  }
}

/** @returns {Colors} */
function colors() {
  const style = getComputedStyle(document.documentElement);
  const of = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  return {
    muted: of('muted'),
    line: of('line'),
    accent: of('accent'),
    bid: of('bid'),
    ask: of('ask'),
  };
}

/** The page's axis. @param {Colors} colors @param {uPlot.Axis} more @returns {uPlot.Axis} */
export function axis({ line, muted }, more) {
  return {
    stroke: muted,
    font: '11px Inter, system-ui, sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    border: { show: false },
    gap: 4,
    ...more,
  };
}

/**
 * Texts of the marks of a horizontal axis, but for those that would be cut off.
 * @param {uPlot} plot @param {readonly number[]} splits @param {(split: number) => string} text
 */
export function marks(plot, splits, text) {
  const end = plot.over.clientWidth;
  return splits.map((split) => {
    const at = plot.valToPos(split, 'x');
    return at < CUT_PX || (end > 0 && at > end + CUT_PX) ? '' : text(split);
  });
}

/** A colour of six hex digits with an opacity of a sixth. @param {string} color */
export function faint(color) {
  return `${color}2a`;
}

/** A line of a colour. @param {string} stroke @param {uPlot.Series} more @returns {uPlot.Series} */
export function line(stroke, more) {
  return { stroke, width: 2, points: { show: false }, ...more };
}

/** A line in steps, with its area. @param {string} stroke @param {1 | -1} align @param {uPlot.Series} [more] */
export function steppedLine(stroke, align, more = {}) {
  return steps(stroke, align, { fill: faint(stroke), ...more });
}

/** A line in steps. @param {string} stroke @param {1 | -1} align @param {uPlot.Series} more */
export function steps(stroke, align, more) {
  return line(stroke, { paths: stepped(align), ...more });
}

/** A pointer over a chart that reads the values under it. @param {(index?: number | null) => void} read */
export function pointer(read) {
  /** @type {Pick<uPlot.Options, 'padding' | 'cursor' | 'hooks'>} */
  const options = {
    padding: [8, 4, 0, 0],
    cursor: { y: false, points: { size: 8 }, drag: { x: false, y: false } },
    hooks: { setCursor: [({ cursor }) => read(cursor.idx)] },
  };
  return options;
}

/** Lines that go sideways first, then up or down. */
const stepped = (/** @type {1 | -1} */ align) => made(uPlot.paths.stepped?.({ align }));

/**
 * The types say that a path builder may be missing; the served file has all of them.
 * @param {uPlot.Series.PathBuilder | undefined} paths
 */
function made(paths) {
  if (paths === undefined) throw new Error('uPlot lacks a way to draw');
  return paths;
}
