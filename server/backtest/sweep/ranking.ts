/**
 * Combinations of a sweep, each with its runs over all recordings, best first.
 *
 * Pure; any thread.
 */
import type { ParameterValues } from '../parameters.ts';
import type { Numbers, SweepRow } from './job.ts';

export interface Combination {
  readonly values: ParameterValues;
  readonly rows: readonly SweepRow[];
  /** Figures of all rows together. */
  readonly figures: Numbers;
}

type Joined = 'sum' | 'largest' | 'mean';

/** Figures of several recordings as one. Others are the mean of the recordings that have a value. */
const JOINED: Readonly<Record<string, Joined>> = {
  profit: 'sum',
  equity: 'sum',
  drawdown: 'largest',
  orders: 'sum',
  refused: 'sum',
  cancels: 'sum',
  fills: 'sum',
  makerFills: 'sum',
  turnover: 'sum',
  fees: 'sum',
  closings: 'sum',
  inventoryMax: 'largest',
};

/** Figures of which less is better. */
const LESS: readonly string[] = [
  'adverse1s',
  'adverse10s',
  'adverse60s',
  'brier',
  'drawdown',
  'fees',
  'inventoryMax',
  'refused',
];

/** Joins the rows of the same values, in the order of their first rows. */
export function combined(rows: readonly SweepRow[]): Combination[] {
  const byValues = new Map<string, SweepRow[]>();
  for (const row of rows) {
    const key = JSON.stringify(Object.entries(row.values));
    const known = byValues.get(key);
    if (known === undefined) byValues.set(key, [row]);
    else known.push(row);
  }
  return [...byValues.values()].map((own) => ({
    values: own[0]!.values,
    rows: own,
    figures: joinedFigures(own),
  }));
}

/**
 * Returns the combinations with the best one first. Equal ones keep their order, and those without a value are last.
 * Throws a RangeError for a figure that there is not.
 */
export function ranked(combinations: readonly Combination[], rank: string): Combination[] {
  const names = Object.keys(combinations[0]?.figures ?? {});
  if (combinations.length > 0 && !names.includes(rank))
    throw new RangeError(`--rank is one of ${names.join(', ')}, not "${rank}"`);
  const sign = LESS.includes(rank) ? 1 : -1;
  const order = ({ figures }: Combination): number => {
    const value = figures[rank] ?? null;
    return value === null ? Number.MAX_VALUE : sign * value;
  };
  return combinations.toSorted((one, other) => order(one) - order(other));
}

function joinedFigures(rows: readonly SweepRow[]): Numbers {
  const names = Object.keys(rows[0]!.figures);
  return Object.fromEntries(
    names.map((name) => {
      const values = rows.flatMap(({ figures }) => figures[name] ?? []);
      return [name, values.length === 0 ? null : joinedValue(values, JOINED[name] ?? 'mean')];
    }),
  );
}

function joinedValue(values: readonly number[], how: Joined): number {
  if (how === 'largest') return Math.max(...values);
  const sum = values.reduce((total, value) => total + value, 0);
  return how === 'sum' ? sum : sum / values.length;
}
