/** Paged lists as one async iterator; a page is requested when its rows are needed. */

/** base64 of `-1`: the last page of the trading API. */
const LAST = 'LTE=';

/** Number of returned rows that are remembered. */
const GIVEN_MAX = 1_000;

interface Page<Row> {
  readonly rows: readonly Row[];
  /** Absent or LTE= = there is no further page. */
  readonly next: string | undefined;
}

/** @param read the page at a cursor; undefined = the first one */
export async function* rowsOf<Row>(
  read: (cursor: string | undefined) => Promise<Page<Row>>,
): AsyncGenerator<Row, void> {
  let cursor: string | undefined;
  do {
    const { next, rows } = await read(cursor);
    yield* rows;
    cursor = next === LAST || next === '' ? undefined : next;
  } while (cursor !== undefined);
}

/**
 * As rowsOf, for a list whose cursors are offsets, newest first: a row that a new one has moved to
 * the next page is not returned again.
 */
export async function* rowsOnce<Row extends { readonly id: string }>(
  read: (cursor: string | undefined) => Promise<Page<Row>>,
): AsyncGenerator<Row, void> {
  const given = new Set<string>();
  for await (const row of rowsOf(read)) {
    if (given.has(row.id)) continue;
    given.add(row.id);
    const [oldest] = given;
    if (given.size > GIVEN_MAX && oldest !== undefined) given.delete(oldest);
    yield row;
  }
}
