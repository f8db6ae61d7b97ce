/** Lists that come page by page as one async iterator; pages are asked for as rows are taken. */

/** base64 of `-1`: the last page of the trading API. */
const LAST = 'LTE=';

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
