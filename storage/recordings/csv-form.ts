/**
 * Books and trades as CSV with a header, read as messages of the public form. An error names line and column, and
 * ends the reading.
 *
 * Thread: any. Non-goals: a line break within quotes.
 */
import { basename } from 'node:path';
import type { JsonObject } from '../catalog/catalog-json.ts';
import { csvCells } from '../texts/csv.ts';
import { type Cells, CSV_COLUMNS, type CsvRow, rowOf } from './csv-columns.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';

interface Header {
  readonly names: readonly string[];
  readonly places: ReadonlyMap<keyof CsvRow, number>;
}

export async function* csvEntries(
  batches: AsyncIterable<readonly string[]>,
  path: string,
): AsyncGenerator<RecordingEntry[]> {
  const file = basename(path).replace(/(\.csv)?(\.gz)?$/i, '');
  const group = new Group();
  let header: Header | undefined;
  let number = 0;
  let newest = 0;
  for await (const lines of batches) {
    const entries: RecordingEntry[] = [];
    for (const line of lines) {
      number += 1;
      const where = `${path}: line ${number}`;
      const text = line.trimEnd();
      if (text === '') continue;
      const cells = csvCells(text);
      if (typeof cells === 'number')
        throw new RecordingDamaged(`${where}, cell ${cells}: its quotes are not closed`);
      if (header === undefined) {
        header = headerOf(cells, where);
        continue;
      }
      const row = readRow(header, cells, file, where);
      if (row.time < newest)
        throw faultIn(header, 'time', where, 'is before the line above: sort the rows by time');
      newest = row.time;
      if (!group.fits(row)) entries.push(...group.end());
      if (!group.add(row)) throw faultIn(header, 'price', where, 'is there twice in this book');
    }
    yield entries;
  }
  yield group.end();
}

/** Rows that are one message: a whole book of a token, changes of a market at one time, or a trade. */
class Group {
  private rows: CsvRow[] = [];
  private readonly prices = new Set<string>();

  fits({ market, time, token, type }: CsvRow): boolean {
    const [first] = this.rows;
    if (first === undefined) return true;
    const isSame = first.type === type && first.time === time && first.market === market;
    return isSame && type !== 'trade' && (type === 'change' || first.token === token);
  }

  /** Returns false if a book has this price already. */
  add(row: CsvRow): boolean {
    this.rows.push(row);
    if (row.type !== 'book') return true;
    const { size } = this.prices;
    this.prices.add(`${row.side} ${Number(row.price)}`);
    return this.prices.size > size;
  }

  end(): RecordingEntry[] {
    const { rows } = this;
    const [first] = rows;
    this.rows = [];
    this.prices.clear();
    if (first === undefined) return [];
    return [{ at: first.time, kind: 'message', message: messageOf(first, rows) }];
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

function levelOf({ price, size }: CsvRow) {
  return { price, size };
}

function headerOf(cells: readonly string[], where: string): Header {
  const names = cells.map((cell) => cell.toLowerCase());
  const places = new Map<keyof CsvRow, number>();
  for (const { aliases, isRequired, name } of CSV_COLUMNS) {
    const found = [name, ...aliases].filter((each) => names.includes(each));
    const [own] = found;
    const isTwice = found.length > 1 || names.indexOf(own ?? '') !== names.lastIndexOf(own ?? '');
    if (own !== undefined && isTwice)
      throw new RecordingDamaged(`${where}, column ${found.at(-1)}: ${name} is there twice`);
    if (own !== undefined) places.set(name, names.indexOf(own));
    else if (isRequired) {
      const others = aliases.length === 0 ? '' : ` (or ${aliases.join(', ')})`;
      throw new RecordingDamaged(
        `${where}: it is no JSON, and as the header of a CSV file it lacks the column ${name}${others}; columns are separated by commas`,
      );
    }
  }
  return { names: cells, places };
}

function readRow(header: Header, cells: readonly string[], file: string, where: string): CsvRow {
  if (cells.length !== header.names.length)
    throw new RecordingDamaged(
      `${where}: it has ${cells.length} columns, and the header ${header.names.length}`,
    );
  const named = Object.fromEntries(
    CSV_COLUMNS.map(({ name }) => [name, cells[header.places.get(name) ?? -1] ?? '']),
  ) as Cells;
  const row = rowOf(named, file);
  if (typeof row !== 'string') return row;
  const { rule } = CSV_COLUMNS.find(({ name }) => name === row)!;
  throw faultIn(header, row, where, `must be ${rule}, not ${JSON.stringify(named[row])}`);
}

function faultIn(
  { names, places }: Header,
  column: keyof CsvRow,
  where: string,
  what: string,
): RecordingDamaged {
  return new RecordingDamaged(
    `${where}, column ${names[places.get(column) ?? -1] ?? column}: it ${what}`,
  );
}
