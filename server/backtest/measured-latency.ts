/**
 * Measured latencies: a CSV file with the columns `time` (unix milliseconds, never decreasing), `feed` and `order`
 * (milliseconds). A row holds from its time to that of the next; before the first row the first one holds.
 *
 * Thread: that of the caller. Non-goals: files larger than memory.
 */
import { readFileSync } from 'node:fs';
import { isRecordingTime } from '../../storage/recordings/times.ts';
import { csvCells } from '../../storage/texts/csv.ts';
import { isMs, type Latency } from './latency.ts';

const COLUMNS = ['time', 'feed', 'order'] as const;

export class MeasuredLatency {
  private readonly times: readonly number[];
  private readonly feeds: readonly number[];
  private readonly orders: readonly number[];

  /** Throws a RangeError that names file, line and column of what is wrong. */
  constructor(path: string) {
    const [times, feeds, orders] = read(path);
    this.times = times;
    this.feeds = feeds;
    this.orders = orders;
  }

  feed(): Latency {
    return heldOf(this.times, this.feeds);
  }

  order(): Latency {
    return heldOf(this.times, this.orders);
  }
}

/** Returns a function of times that hardly ever decrease, as those of a run. */
function heldOf(times: readonly number[], values: readonly number[]): Latency {
  let row = 0;
  return (time) => {
    while (row > 0 && times[row]! > time) row -= 1;
    while (row + 1 < times.length && times[row + 1]! <= time) row += 1;
    return values[row]!;
  };
}

function read(path: string): readonly [number[], number[], number[]] {
  const lines = textOf(path)
    .split(/\r?\n/)
    .map((line, i) => ({ cells: csvCells(line), where: `${path}: line ${i + 1}` }))
    .filter(({ cells }) => typeof cells === 'number' || cells.some((cell) => cell !== ''));
  const [head, ...rows] = lines;
  const names = typeof head?.cells === 'object' ? head.cells : [];
  const places = COLUMNS.map((name) => names.indexOf(name));
  if (places.includes(-1) || rows.length === 0)
    throw new RangeError(`${path}: it must have the columns ${COLUMNS.join(', ')}, and rows`);
  const columns: [number[], number[], number[]] = [[], [], []];
  for (const { cells, where } of rows) {
    for (const [i, name] of COLUMNS.entries()) {
      const cell = typeof cells === 'number' ? '' : (cells[places[i]!] ?? '');
      const value = cell === '' ? Number.NaN : Number(cell);
      const isRight = name === 'time' ? isRecordingTime(value) : isMs(value);
      const rule = name === 'time' ? 'unix milliseconds' : 'milliseconds of 0 or more';
      if (!isRight) throw new RangeError(`${where}, column ${name}: it must be ${rule}`);
      if (name === 'time' && value < (columns[0].at(-1) ?? 0))
        throw new RangeError(`${where}, column ${name}: it is before the row above`);
      columns[i]!.push(value);
    }
  }
  return columns;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new RangeError(`${path}: ${(error as Error).message}`, { cause: error });
  }
}
