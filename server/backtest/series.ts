/**
 * Columns of numbers over time, of bounded length. Each row is a period, which doubles whenever there are too many
 * rows. The same values give the same rows. A row has the last values of its period, and the maximum for the column
 * `largest`.
 */

export interface SeriesRows {
  /** Unix milliseconds of the last value of each period. */
  readonly times: readonly number[];
  readonly columns: readonly (readonly number[])[];
}

const STEP_MS_FIRST = 1_000;

export class Series implements SeriesRows {
  readonly times: number[] = [];
  readonly columns: number[][];
  private stepMs = STEP_MS_FIRST;
  /** End of the period of the last row. */
  private periodEnd = Number.NEGATIVE_INFINITY;
  private readonly rowsMax: number;
  private readonly largest: number;

  /** @param largest the column of which a row has the largest value; -1 = none */
  constructor(columns: number, rowsMax: number, largest = -1) {
    this.columns = Array.from({ length: columns }, () => []);
    this.rowsMax = rowsMax;
    this.largest = largest;
  }

  /** Adds a row of at most four columns: no list, because it is called for most messages. */
  add(time: number, first: number, second: number, third = 0, fourth = 0): void {
    const row = this.rowAt(time);
    this.put(0, row, first);
    this.put(1, row, second);
    if (this.columns.length > 2) this.put(2, row, third);
    if (this.columns.length > 3) this.put(3, row, fourth);
    if (this.times.length > this.rowsMax) this.widen();
  }

  /** Returns the row of a time: the last one within its period, except the first row, which keeps its values. */
  private rowAt(time: number): number {
    const { times } = this;
    const last = times.length - 1;
    if (last > 0 && time < this.periodEnd) {
      times[last] = time;
      return last;
    }
    this.periodEnd = (Math.floor(time / this.stepMs) + 1) * this.stepMs;
    return times.push(time) - 1;
  }

  private put(column: number, row: number, value: number): void {
    const values = this.columns[column]!;
    if (row === values.length) values.push(value);
    else if (column !== this.largest || value > values[row]!) values[row] = value;
  }

  private widen(): void {
    const rows = this.times.length;
    const before = {
      times: this.times.slice(),
      columns: this.columns.map((column) => column.slice()),
    };
    while (this.times.length > this.rowsMax) {
      this.stepMs *= 2;
      this.times.length = 0;
      for (const column of this.columns) column.length = 0;
      for (let row = 0; row < rows; row++) {
        const at = this.rowAt(before.times[row]!);
        for (const [column, values] of before.columns.entries()) this.put(column, at, values[row]!);
      }
    }
  }
}
