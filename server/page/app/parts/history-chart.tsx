/** Price history of some tokens, with ranges; read again each minute, and continued by the trades of the stream. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { priceText, timeText } from '../format.ts';
import { publicClient } from '../node/api.ts';
import { onTrade } from '../node/follow.ts';
import {
  axis,
  Chart,
  type ChartData,
  type ChartOptions,
  type ChartSeries,
  type Colors,
  faint,
  steps,
} from './chart.tsx';
import { Choices } from './choices.tsx';

export interface HistoryLine {
  readonly tokenId: string;
  readonly name: string;
}

const RANGES = [
  { text: '1 h', words: 'one hour', interval: '1h', fidelity: 1 },
  { text: '6 h', words: 'six hours', interval: '6h', fidelity: 1 },
  { text: '1 d', words: 'one day', interval: '1d', fidelity: 1 },
  { text: '1 w', words: 'one week', interval: '1w', fidelity: 5 },
  { text: 'All', words: 'all time', interval: 'all', fidelity: 1 },
] as const;
const CHOICES = RANGES.map(({ text, words }, value) => ({ value, text, label: words }));
const FIRST_CHOSEN = 2;
const READ_AGAIN_MS = 60_000;
/** Time between two drawings with new trades. */
const ADD_MS = 1_000;
/** The time axis shows at least so many seconds, also right after a first trade. */
const SECONDS_MIN = 120;
/** And the price axis so much. */
const SPAN_MIN = 0.04;
/** Distances of the marks of the price axis: whole hundredths, which every market has. */
const PRICE_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5];
const DASHES: readonly (number[] | undefined)[] = [undefined, [6, 4], [2, 3], [10, 3, 2, 3]];

interface Point {
  readonly t: number;
  readonly p: number;
}

interface Shown {
  readonly lines: readonly HistoryLine[];
  readonly decimals?: number;
}

export function HistoryChart({ decimals = 2, lines }: Shown) {
  const chosen = useSignal(FIRST_CHOSEN);
  const range = RANGES[chosen.value] ?? RANGES[FIRST_CHOSEN];
  const names = lines.map(({ tokenId }) => tokenId).join();
  const [histories, setHistories] = useState<readonly (readonly Point[])[]>([]);
  useEffect(() => {
    let isOver = false;
    const tokens = names === '' ? [] : names.split(',');
    const read = (): void => {
      Promise.all(tokens.map((token) => readHistory(token, range.interval, range.fidelity))).then(
        (found) => {
          if (!isOver) setHistories(found);
        },
        () => undefined,
      );
    };
    read();
    const timer = setInterval(read, READ_AGAIN_MS);
    let added: { readonly token: string; readonly point: Point }[] = [];
    const add = (): void => {
      if (added.length === 0) return;
      const latest = added;
      added = [];
      setHistories((before) =>
        before.map((points, i) => [
          ...points,
          ...latest.flatMap(({ point, token }) => (token === tokens[i] ? [point] : [])),
        ]),
      );
    };
    const adding = setInterval(add, ADD_MS);
    const stop = onTrade((token, { at, price }) => {
      if (!tokens.includes(token)) return;
      added.push({ token, point: { t: Math.floor(at / 1_000), p: price } });
    });
    return () => {
      isOver = true;
      clearInterval(timer);
      clearInterval(adding);
      stop();
      setHistories([]);
    };
  }, [names, range]);
  const data = useMemo(() => aligned(histories), [histories]);
  return (
    <>
      <Choices
        legend="Range of the chart"
        name="range"
        options={CHOICES}
        value={chosen.value}
        choose={(value) => {
          chosen.value = value;
        }}
      />
      <Chart
        data={data}
        label={wordsOf(range.words, lines, histories, decimals)}
        emptyText="No trade in this time yet"
        optionsKey={`${lines.length}/${decimals}`}
        options={(colors) => optionsOf(colors, lines.length, decimals)}
      />
      {lines.length > 1 && (
        <ol class="chart-key">
          {lines.map(({ name, tokenId }, i) => (
            <li key={tokenId} data-line={i}>
              {name}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

async function readHistory(
  market: string,
  interval: (typeof RANGES)[number]['interval'],
  fidelity: number,
): Promise<Point[]> {
  const client = await publicClient();
  const { history } = await client.marketData.history({ market, interval, fidelity });
  return history.map(({ p, t }) => ({ t: Number(t), p: Number(p) }));
}

/** One time axis for all lines; each price holds until the next one, and the last one until now. */
function aligned(histories: readonly (readonly Point[])[]): ChartData {
  const times = new Set<number>();
  for (const points of histories) for (const { t } of points) times.add(t);
  if (times.size === 0) return [[], ...histories.map(() => [])];
  const sorted = [...times].sort((a, b) => a - b);
  const last = sorted.at(-1)!;
  sorted.push(Math.max(last + 1, Math.floor(Date.now() / 1_000)));
  return [sorted, ...histories.map((points) => heldAt(points, sorted))];
}

function heldAt(points: readonly Point[], times: readonly number[]): (number | null)[] {
  let i = 0;
  let price: number | null = null;
  return times.map((time) => {
    for (let next = points[i]; next !== undefined && next.t <= time; next = points[i]) {
      price = next.p;
      i += 1;
    }
    return price;
  });
}

function optionsOf(colors: Colors, count: number, decimals: number): ChartOptions {
  const strokes = [colors.accent, colors.ask, colors.bid, colors.muted];
  const lines = Array.from({ length: count }, (_none, i): ChartSeries => {
    const stroke = strokes[i] ?? colors.muted;
    const dash = DASHES[i];
    const more: ChartSeries = count === 1 ? { fill: faint(stroke) } : {};
    return steps(stroke, 1, dash === undefined ? more : { ...more, dash });
  });
  return {
    padding: [8, 4, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { range: (_plot, from, to) => [Math.min(from, to - SECONDS_MIN), to] },
      y: { range: (_plot, low, high) => widened(low, high) },
    },
    axes: [
      axis(colors, {
        grid: { show: false },
        space: 72,
        size: 24,
        values: (_plot, splits, _index, _space, step) => splits.map((t) => timeText(t, step)),
      }),
      axis(colors, {
        side: 1,
        size: 48,
        space: 32,
        incrs: PRICE_STEPS,
        values: (_plot, splits) => splits.map((split) => priceText(split, decimals)),
      }),
    ],
    series: [{}, ...lines],
  };
}

function widened(low: number, high: number): [number, number] {
  const room = Math.max((high - low) * 0.15, (SPAN_MIN - (high - low)) / 2, 0.002);
  return [Math.max(0, low - room), Math.min(1, high + room)];
}

/** Content of the chart in words, for screen readers. */
function wordsOf(
  words: string,
  lines: readonly HistoryLine[],
  histories: readonly (readonly Point[])[],
  decimals: number,
): string {
  const parts = lines.map(({ name }, i) => {
    const points = histories[i] ?? [];
    if (points.length === 0) return `${name}: no trade`;
    const text = (point: Point | undefined): string => priceText(point?.p, decimals);
    return `${name}: from ${text(points[0])} to ${text(points.at(-1))}`;
  });
  return `Price history, ${words}. ${parts.join('; ')}`;
}
