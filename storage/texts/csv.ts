/**
 * CSV, written and read: RFC 4180 with a head. A column of texts protects a reader's spreadsheet: a cell that would
 * be a formula there begins with an apostrophe. Plain columns (numbers, amounts, ids, times) are never changed.
 * Rules: docs/protocol.md#csv
 *
 * Pure; any thread, and browsers. Non-goals: reading a line break within quotes.
 */
import { escapeOf, replaceUnprintable } from './printable.ts';

/** `undefined` is an empty cell. */
export type Cell = string | number | undefined;

export interface CsvColumn<Row> {
  readonly isText: boolean;
  readonly read: (row: Row) => Cell;
}

export type CsvColumns<Row> = Readonly<Record<string, CsvColumn<Row>>>;

export interface RowFormat<Row> {
  readonly head: string;
  readonly line: (row: Row) => string;
}

/** Apostrophes before it count, so that taking one away from such a cell gives the text back. */
const FORMULA = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;
const PLAIN = /^(?:-?\d+(?:\.\d+)?|[0-9A-Za-z][\w.:-]*)?$/;
/** Line breaks and tabs stand in a quoted cell. */
const KEPT = '\n\t';

/** Names, titles, reasons and whatever else a person or another venue has written. */
export function textColumn<Row>(read: (row: Row) => Cell): CsvColumn<Row> {
  return { isText: true, read };
}

/** Numbers, decimal texts, ids, times and words of the node. */
export function plainColumn<Row>(read: (row: Row) => Cell): CsvColumn<Row> {
  return { isText: false, read };
}

/** @param lineEnd CRLF, except where a published format ends its lines otherwise */
export function csvFormat<Row>(columns: CsvColumns<Row>, lineEnd = '\r\n'): RowFormat<Row> {
  const cells = Object.values(columns).map(({ isText, read }) => {
    const textOf = isText ? textCell : plainCell;
    return (row: Row): string => textOf(read(row));
  });
  return {
    head: `${Object.keys(columns).map(textCell).join(',')}${lineEnd}`,
    line: (row) => `${cells.map((cell) => cell(row)).join(',')}${lineEnd}`,
  };
}

export function csvOf<Row>(columns: CsvColumns<Row>, rows: readonly Row[]): string {
  const { head, line } = csvFormat(columns);
  return head + rows.map(line).join('');
}

function textCell(cell: Cell): string {
  if (cell === undefined) return '';
  const printable = replaceUnprintable(String(cell), KEPT, escapeOf);
  const text = FORMULA.test(printable) ? `'${printable}` : printable;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function plainCell(cell: Cell): string {
  if (cell === undefined) return '';
  const text = typeof cell === 'number' ? numberText(cell) : cell;
  if (!PLAIN.test(text)) {
    throw new Error('a plain column holds numbers, ids, times and words of the node');
  }
  return text;
}

/** Six decimals at most, without an exponent. */
function numberText(value: number): string {
  const text = value.toFixed(6);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Cells of a line, without blanks at their ends; or the number, from 1, of a cell whose quotes are not closed. */
export function csvCells(line: string): string[] | number {
  if (!line.includes('"')) return line.split(',').map((cell) => cell.trim());
  const cells: string[] = [];
  const next = /\s*(?:"((?:[^"]|"")*)"\s*|([^",]*))(,|$)/y;
  for (let isOpen = true; isOpen; ) {
    const found = next.exec(line);
    if (found === null) return cells.length + 1;
    const [, quoted, plain = '', end] = found;
    cells.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"').trim());
    isOpen = end === ',';
  }
  return cells;
}
