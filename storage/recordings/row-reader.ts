/**
 * Rows of books and trades, read as messages of the public form. Rows of one time are one message where they are a book of
 * a token or changes of a market. An error names row and column, and ends the reading.
 *
 * Pure; any thread.
 */
import type { JsonObject } from '../catalog/catalog-json.ts';
import { type Cells, CSV_COLUMNS, type CsvRow, rowOf } from './csv-columns.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';

export interface RowSource {
  /** Name of the market of rows that have none. */
  readonly market: string;
  /** Name of a column in the file, for errors. */
  readonly nameOf: (column: keyof CsvRow) => string;
}

export interface Level {
  readonly price: string;
  readonly size: string;
}

/** Levels of a row that is a whole book. */
export interface Levels {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** Cells that fit every row, for rows that have levels in their place. */
const NO_LEVEL = { type: 'book', side: 'BUY', price: '0.5', size: '0' } as const;

export class RowReader {
  private readonly source: RowSource;
  private readonly group = new Group();
  private newest = 0;

  constructor(source: RowSource) {
    this.source = source;
  }

  /** Returns the entries that end before this row. @param where place of the row, for errors */
  read(cells: Cells, where: string): RecordingEntry[] {
    const row = this.rowOf(cells, where);
    const ended = this.group.fits(row) ? [] : this.group.end();
    if (!this.group.add(row)) throw this.fault('price', where, 'is there twice in this book');
    return ended;
  }

  /** Returns the entries that end with this row, a whole book. */
  readBook(cells: Cells, { asks, bids }: Levels, where: string): RecordingEntry[] {
    const ended = this.group.end();
    this.group.begin(this.rowOf({ ...cells, ...NO_LEVEL }, where));
    for (const [side, levels] of [['BUY', bids] as const, ['SELL', asks] as const]) {
      for (const level of levels) {
        const row = this.rowOf({ ...cells, ...NO_LEVEL, side, ...level }, where);
        if (!this.group.add(row)) throw this.fault('price', where, 'is there twice in this book');
      }
    }
    return [...ended, ...this.group.end()];
  }

  /** Returns the entries of the last rows. */
  end(): RecordingEntry[] {
    return this.group.end();
  }

  private rowOf(cells: Cells, where: string): CsvRow {
    const row = rowOf(cells, this.source.market);
    if (typeof row === 'string') {
      const { rule } = CSV_COLUMNS.find(({ name }) => name === row)!;
      throw this.fault(row, where, `must be ${rule}, not ${JSON.stringify(cells[row])}`);
    }
    if (row.at < this.newest) {
      const column = cells.at === '' ? 'time' : 'at';
      throw this.fault(column, where, 'is before that of the row above: sort the rows by it');
    }
    this.newest = row.at;
    return row;
  }

  private fault(column: keyof CsvRow, where: string, what: string): RecordingDamaged {
    return new RecordingDamaged(`${where}, column ${this.source.nameOf(column)}: it ${what}`);
  }
}

/** Rows that are one message: a whole book of a token, changes of a market at one time, or a trade. */
class Group {
  private first: CsvRow | undefined;
  private rows: CsvRow[] = [];
  private readonly prices = new Set<string>();

  fits({ at, market, time, token, type }: CsvRow): boolean {
    const { first } = this;
    if (first === undefined) return true;
    const isSameTime = first.at === at && first.time === time;
    const isSame = isSameTime && first.type === type && first.market === market;
    return isSame && type !== 'trade' && (type === 'change' || first.token === token);
  }

  /** Begins a book that may have no levels. */
  begin(first: CsvRow): void {
    this.first = first;
  }

  /** Returns false if a book has this price already. */
  add(row: CsvRow): boolean {
    this.first ??= row;
    this.rows.push(row);
    if (row.type !== 'book') return true;
    const { size } = this.prices;
    this.prices.add(`${row.side} ${Number(row.price)}`);
    return this.prices.size > size;
  }

  end(): RecordingEntry[] {
    const { first, rows } = this;
    this.first = undefined;
    this.rows = [];
    this.prices.clear();
    if (first === undefined) return [];
    return [{ at: first.at, kind: 'message', message: messageOf(first, rows) }];
  }
}

function messageOf(first: CsvRow, rows: readonly CsvRow[]): JsonObject {
  const { market, price, side, size, time, type } = first;
  const of = { market, timestamp: String(time) };
  if (type === 'change') {
    const changes = rows.map((row) => ({ ...tokenOf(row), ...levelOf(row), side: row.side }));
    return { event_type: 'price_change', ...of, price_changes: changes };
  }
  if (type === 'trade')
    return { event_type: 'last_trade_price', ...of, ...tokenOf(first), price, size, side };
  const levels = (wanted: CsvRow['side']) =>
    rows.filter((row) => row.side === wanted && /[1-9]/.test(row.size)).map(levelOf);
  return {
    event_type: 'book',
    ...of,
    ...tokenOf(first),
    bids: levels('BUY'),
    asks: levels('SELL'),
  };
}

function tokenOf({ outcome, token }: CsvRow) {
  return { asset_id: token, ...(outcome !== undefined && { outcome }) };
}

function levelOf({ price, size }: CsvRow): Level {
  return { price, size };
}
