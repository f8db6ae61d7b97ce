/** Shares that can be bought up to a price, or sold down to it. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { priceText, sharesText } from '../format.ts';
import { bookVersion, type Level, type Levels, levelsOf } from '../node/follow.ts';
import {
  axis,
  Chart,
  type ChartData,
  type ChartOptions,
  type Colors,
  faint,
  steps,
} from './chart.tsx';

/** Time between two drawings, which cost more than those of the ladder. */
const DRAW_MS = 250;
/** Share of each side that is in view. */
const SHOWN = 0.95;
/** Widths of a side: the next larger one is taken, so that the axis does not move with every order. */
const WIDTHS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1];

export function DepthChart({
  decimals,
  tokenId,
}: {
  readonly tokenId: string;
  readonly decimals: number;
}) {
  const [levels, setLevels] = useState(() => levelsOf(tokenId));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLevels(levelsOf(tokenId));
    const stop = bookVersion(tokenId).subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setLevels(levelsOf(tokenId));
      }, DRAW_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [tokenId]);
  const data = useMemo(() => (levels === undefined ? EMPTY : linesOf(levels)), [levels]);
  return (
    <Chart
      data={data}
      label={levels === undefined ? 'Depth of the book' : wordsOf(levels)}
      emptyText="Nothing rests in this book"
      optionsKey={String(decimals)}
      options={(colors) => optionsOf(colors, decimals)}
    />
  );
}

const EMPTY: ChartData = [[], [], []];

function linesOf({ asks, bids }: Levels): ChartData {
  if (asks.length + bids.length === 0) return EMPTY;
  const [low, high] = rangeOf(bids, asks);
  const bidSums = summed(bids.filter(({ price }) => price >= low));
  const askSums = summed(asks.filter(({ price }) => price <= high));
  const left = [{ price: low, size: bidSums.at(-1)?.size ?? null }, ...bidSums.reverse()];
  const right = [...askSums, { price: high, size: askSums.at(-1)?.size ?? null }];
  return [
    [...left, ...right].map(({ price }) => price),
    [...left.map(({ size }) => size), ...right.map(() => null)],
    [...left.map(() => null), ...right.map(({ size }) => size)],
  ];
}

function optionsOf(colors: Colors, decimals: number): ChartOptions {
  return {
    padding: [8, 4, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: (_plot, low, high) => [low, high] },
      y: { range: (_plot, _low, high) => [0, (high || 1) * 1.1] },
    },
    axes: [
      axis(colors, {
        grid: { show: false },
        size: 24,
        space: 56,
        values: (_plot, splits) => splits.map((price) => priceText(price, decimals)),
      }),
      axis(colors, {
        side: 1,
        size: 48,
        space: 32,
        values: (_plot, splits) => splits.map(sharesText),
      }),
    ],
    series: [
      {},
      steps(colors.bid, -1, { fill: faint(colors.bid) }),
      steps(colors.ask, 1, { fill: faint(colors.ask), dash: [6, 4] }),
    ],
  };
}

/** @param levels best first. @returns them with the shares up to each */
function summed(levels: readonly Level[]): Level[] {
  let sum = 0;
  return levels.map(({ price, size }) => {
    sum += size;
    return { price, size: sum };
  });
}

/** Prices that contain most of what rests, as far on both sides of the spread. */
function rangeOf(bids: readonly Level[], asks: readonly Level[]): [number, number] {
  const bid = bids[0]?.price ?? asks[0]?.price ?? 0.5;
  const ask = asks[0]?.price ?? bid;
  const needed = Math.max(bid - farPrice(bids, bid), farPrice(asks, ask) - ask);
  const width = WIDTHS.find((one) => one >= needed) ?? 1;
  return [Math.max(0, bid - width), Math.min(1, ask + width)];
}

function farPrice(levels: readonly Level[], none: number): number {
  const sums = summed(levels);
  const enough = (sums.at(-1)?.size ?? 0) * SHOWN;
  return sums.find(({ size }) => size >= enough)?.price ?? none;
}

function wordsOf({ asks, bids }: Levels): string {
  const total = (side: readonly Level[]): string => sharesText(summed(side).at(-1)?.size ?? 0);
  const bidden = `${total(bids)} shares bid at ${bids.length} prices`;
  return `Depth of the book: ${bidden}, ${total(asks)} offered at ${asks.length}`;
}
