/**
 * Lists in answers of tools: some rows of a page of the node, short enough for a model, and `next` to go on.
 *
 * Pure. `next` is a row of a page and the cursor of that page. A row that came since may move others, which are then
 * shown twice.
 */
import { toolRefusal } from './tool-refusals.ts';

/** Characters of the rows of one answer. A model reads some four in a token. */
const CHARACTERS_MAX = 12_000;
/** Rows of one answer where a call names no limit. */
export const ROWS_USUAL = 10;

/** Milliseconds of the last date of the language. */
const DATE_MS_MAX = 8.64e15;

const NEXT = /^(\d{1,4})\.([\x21-\x7e]{0,400})$/;
/** Cursor of a list of the trading API that has ended. */
const LAST = 'LTE=';

interface Page<Row> {
  readonly rows: readonly Row[];
  /** Absent, null, '' or LTE= = there is no further page. */
  readonly next?: string | null | undefined;
}

export interface ListArguments {
  readonly limit?: number;
  readonly next?: string;
}

export interface Listed<Shown> {
  readonly rows: readonly Shown[];
  readonly next?: string;
}

/**
 * Returns rows of one page.
 * @param read the page of a cursor, undefined for the first one
 */
export async function listed<Row, Shown extends object>(
  { limit = ROWS_USUAL, next }: ListArguments,
  read: (cursor: string | undefined) => Promise<Page<Row>>,
  shown: (row: Row) => Shown,
): Promise<Listed<Shown>> {
  const parts = next === undefined ? ['', '0', ''] : NEXT.exec(next);
  if (parts === null) throw toolRefusal('INVALID_NEXT');
  const first = Number(parts[1]);
  const cursor = parts[2] || undefined;
  const page = await read(cursor);
  const rows: Shown[] = [];
  let characters = 0;
  for (const row of page.rows.slice(first, first + limit)) {
    const each = shown(row);
    characters += JSON.stringify(each).length;
    if (rows.length > 0 && characters > CHARACTERS_MAX) break;
    rows.push(each);
  }
  const end = first + rows.length;
  if (end < page.rows.length) return { rows, next: `${end}.${cursor ?? ''}` };
  return page.next && page.next !== LAST ? { rows, next: `0.${page.next}` } : { rows };
}

/** Cuts a text for a model. */
export function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}..`;
}

/** ISO 8601 text of unix seconds; the seconds themselves behind the year 275760, where dates end. */
export function timeText(seconds: number): string {
  const ms = seconds * 1_000;
  return ms > DATE_MS_MAX ? `${seconds} unix seconds` : new Date(ms).toISOString();
}
