/** Single entry point to uPlot: a chart in an element whose height the style sheet sets, in the colours of the page. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

export type Colors = Readonly<Record<'muted' | 'line' | 'accent' | 'bid' | 'ask', string>>;
export type ChartData = uPlot.AlignedData;
export type ChartSeries = uPlot.Series;
export type ChartOptions = Omit<uPlot.Options, 'width' | 'height'>;

export interface ChartProps {
  readonly data: ChartData;
  /** Content of the chart in words. */
  readonly label: string;
  readonly emptyText: string;
  /** Names the options: other ones draw a new chart. */
  readonly optionsKey: string;
  readonly options: (colors: Colors) => ChartOptions;
}

export function Chart({ data, emptyText, label, options, optionsKey }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(data);
  latest.current = data;
  const isVisible = useRef(true);
  const draw = (): void => {
    if (isVisible.current && plot.current?.data !== latest.current) {
      plot.current?.setData(latest.current);
    }
  };
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const open = (): void => {
      plot.current?.destroy();
      plot.current = undefined;
      const { clientHeight: height, clientWidth: width } = element;
      if (width === 0) return;
      const all = { legend: { show: false }, ...options(colors()), width, height };
      plot.current = new uPlot(all, latest.current, element);
    };
    const resize = (): void => {
      const { clientHeight: height, clientWidth: width } = element;
      if (width === 0) return;
      if (plot.current === undefined) open();
      else if (plot.current.width !== width || plot.current.height !== height) {
        plot.current.setSize({ width, height });
      }
    };
    const resized = new ResizeObserver(resize);
    resized.observe(element);
    // What is not on the screen is drawn when it comes there.
    const shown = new IntersectionObserver((changes) => {
      isVisible.current = changes.at(-1)!.isIntersecting;
      draw();
    });
    shown.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', open);
    open();
    return () => {
      resized.disconnect();
      shown.disconnect();
      scheme.removeEventListener('change', open);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [optionsKey]);
  useEffect(draw, [data]);
  const isEmpty = (data[0]?.length ?? 0) === 0;
  return (
    <div class="chart" ref={host} role="img" aria-label={label} data-empty={isEmpty || undefined}>
      {isEmpty && <p class="chart-empty">{emptyText}</p>}
    </div>
  );
}

function colors(): Colors {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    muted: of('muted'),
    line: of('line'),
    accent: of('accent'),
    bid: of('bid'),
    ask: of('ask'),
  };
}

export function axis({ line, muted }: Colors, more: uPlot.Axis): uPlot.Axis {
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

export function line(stroke: string, more: uPlot.Series = {}): uPlot.Series {
  return { stroke, width: 2, points: { show: false }, ...more };
}

/** A line in steps. @param align 1 = sideways first, then up or down */
export function steps(stroke: string, align: 1 | -1, more: uPlot.Series = {}): uPlot.Series {
  return line(stroke, { paths: uPlot.paths.stepped!({ align }), ...more });
}

export function bars(fill: string): uPlot.Series {
  const paths = uPlot.paths.bars!({ size: [0.82, 64], radius: 0.15 });
  return line(fill, { fill, width: 0, paths });
}

/** A colour of six hex digits with an opacity of a sixth. */
export function faint(color: string): string {
  return `${color}2a`;
}
