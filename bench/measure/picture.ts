/**
 * Single entry point to the package echarts: the picture of a measuring run, latency by percentile
 * and latency over time, and pictures of figures over time, as the text of an SVG file.
 * Thread: the tool's only one.
 * Non-goals: pictures that move or answer to a mouse.
 */
import { LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { PercentileFigures, Result } from './result.ts';

use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

const WIDTH = 1000;
const HEIGHT = 900;
/** An axis of 10 to some power cannot show 0. */
const LEAST_MS = 0.001;

const OVER_TIME: readonly (readonly [string, keyof PercentileFigures | 'max'])[] = [
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['p99.9', 'p99_9'],
  ['max', 'max'],
];

const COURSE_HEIGHT = 190;

type ChartOptions = Parameters<ReturnType<typeof init>['setOption']>[0];
type Points = (readonly [number, number | undefined])[];

/** The SVG text of one result. */
export function picture(result: Result): string {
  return svgOf(options(result), HEIGHT);
}

/** Something that was measured again and again: seconds and values. */
export interface Course {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
}

/** The SVG text of figures over time, one below the other, from 0. */
export function coursePicture(text: string, courses: readonly Course[]): string {
  const top = (i: number): number => 70 + i * COURSE_HEIGHT;
  const axes = courses.map(({ name }, i) => ({ name, gridIndex: i }));
  const option: ChartOptions = {
    animation: false,
    backgroundColor: '#ffffff',
    title: { text, left: 'center', top: 8, textStyle: { fontSize: 15 } },
    grid: courses.map((_, i) => ({ left: 90, right: 40, top: top(i), height: 130 })),
    xAxis: axes.map(({ gridIndex }) => ({ type: 'value' as const, gridIndex, name: 's' })),
    yAxis: axes.map((axis) => ({ type: 'value' as const, min: 0, ...axis })),
    series: courses.map(({ name, points }, i) => ({
      name,
      type: 'line' as const,
      showSymbol: false,
      xAxisIndex: i,
      yAxisIndex: i,
      data: points.map(([x, y]) => [x, y]),
    })),
  };
  return svgOf(option, top(courses.length));
}

function svgOf(option: ChartOptions, height: number): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  try {
    chart.setOption(option);
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

function options(result: Result): ChartOptions {
  const { percentiles, servicePercentiles, latencyMs, overTime } = result;
  const isClosed = result.options.rate === undefined;
  // The axis is 1 / (1 - share): 10 at 90 %, 100 at 99 %; the longest lies where its share would.
  const byShare = (points: Result['percentiles']): Points =>
    points.map(([percent, value]) => {
      const x = percent < 100 ? 1 / (1 - percent / 100) : Math.max(1, latencyMs.count);
      return [x, Math.max(LEAST_MS, value)] as const;
    });
  const xMax = 10 ** Math.max(1, Math.ceil(Math.log10(Math.max(1, latencyMs.count))));
  const lines = (name: string, data: Points, gridIndex: number) => ({
    name,
    data,
    type: 'line' as const,
    showSymbol: false,
    connectNulls: false,
    xAxisIndex: gridIndex,
    yAxisIndex: gridIndex,
  });
  const time = OVER_TIME.map(([name, figure]) => {
    const points = overTime.map(({ fromSeconds, latencyMs: of }) => {
      return [fromSeconds, of && Math.max(LEAST_MS, of[figure])] as const;
    });
    return lines(name, points, 1);
  });
  const axisMs = { type: 'log' as const, name: 'ms', axisLabel: { formatter: plain } };
  return {
    animation: false,
    backgroundColor: '#ffffff',
    title: [
      { text: title(result), left: 'center', top: 8, textStyle: { fontSize: 15 } },
      { text: subtitle(result), left: 'center', top: 30, textStyle: { fontSize: 11 } },
      { text: 'latency by percentile', left: 60, top: 56, textStyle: { fontSize: 13 } },
      { text: 'latency over time', left: 60, top: 476, textStyle: { fontSize: 13 } },
    ],
    legend: [
      { data: isClosed ? ['from sent'] : ['from due', 'from sent'], top: 56, right: 40 },
      { data: OVER_TIME.map(([name]) => name), top: 476, right: 40 },
    ],
    grid: [
      { left: 70, right: 40, top: 100, height: 320 },
      { left: 70, right: 40, top: 520, height: 320 },
    ],
    xAxis: [
      {
        type: 'log',
        gridIndex: 0,
        min: 1,
        name: 'percentile',
        nameLocation: 'middle',
        nameGap: 26,
        max: xMax,
        axisLabel: { formatter: share },
      },
      { type: 'value', gridIndex: 1, name: 'seconds', nameLocation: 'middle', nameGap: 26 },
    ],
    yAxis: [
      { ...axisMs, gridIndex: 0 },
      { ...axisMs, gridIndex: 1 },
    ],
    series: [
      ...(isClosed ? [] : [lines('from due', byShare(percentiles), 0)]),
      lines('from sent', byShare(servicePercentiles), 0),
      ...time,
    ],
  };
}

function plain(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** 1 -> 0%, 10 -> 90%, 1000 -> 99.9%. */
function share(value: number): string {
  return `${Number((100 * (1 - 1 / value)).toPrecision(8))}%`;
}

function title({ options: o, ordersPerSecond }: Result): string {
  const target = o.rate === undefined ? 'closed loop' : `${o.rate} orders/s sent`;
  return `${target}, ${ordersPerSecond.toFixed(0)} orders/s answered, batches of ${o.batch}`;
}

function subtitle({ options: o, latencyMs, startedAt, machine }: Result): string {
  const mix = Object.entries(o.mix).map(([kind, percent]) => `${kind} ${percent}%`);
  const where = `${machine.processors} x ${machine.model}`;
  return `${mix.join(', ')}; ${latencyMs.count} requests on ${o.connections} connections; ${startedAt}; ${where}`;
}
