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
  private readonly rowsMax: number;
  private readonly largest: number;

  /** @param largest the column of which a row has the largest value; -1 = none */
  constructor(columns: number, rowsMax: number, largest = -1) {
    this.columns = Array.from({ length: columns }, () => []);
    this.rowsMax = rowsMax;
    this.largest = largest;
  }

  add(time: number, ...values: readonly number[]): void {
    const last = this.times.length - 1;
    if (last > 0 && this.isSame(this.times[last]!, time)) this.replace(last, time, values);
    else {
      this.times.push(time);
      this.columns.forEach((column, i) => void column.push(values[i]!));
      while (this.times.length > this.rowsMax) this.widen();
    }
  }

  private isSame(before: number, time: number): boolean {
    return Math.floor(before / this.stepMs) === Math.floor(time / this.stepMs);
  }

  private replace(row: number, time: number, values: readonly number[]): void {
    this.times[row] = time;
    this.columns.forEach((column, i) => {
      column[row] = i === this.largest ? Math.max(column[row]!, values[i]!) : values[i]!;
    });
  }

  private widen(): void {
    this.stepMs *= 2;
    let kept = 0;
    for (let row = 1; row < this.times.length; row++) {
      const values = this.columns.map((column) => column[row]!);
      const time = this.times[row]!;
      if (kept > 0 && this.isSame(this.times[kept]!, time)) this.replace(kept, time, values);
      else {
        kept += 1;
        this.times[kept] = time;
        this.columns.forEach((column, i) => {
          column[kept] = values[i]!;
        });
      }
    }
    this.times.length = kept + 1;
    for (const column of this.columns) column.length = kept + 1;
  }
}
