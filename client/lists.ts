/** Paged lists as one async iterator; a page is requested when its rows are needed. */

/** base64 of `-1`: the last page of the trading API. */
const LAST = 'LTE=';

const GIVEN_MAX = 1_000;

interface Page<Row> {
  readonly rows: readonly Row[];
  /** Absent or LTE= = there is no further page. */
  readonly next: string | undefined;
}

/** @param name of the parameter that takes the cursor @param read the page of a query */
export async function* rowsOf<Query, Row>(
  query: Query,
  name: keyof Query & string,
  read: (query: Query) => Promise<Page<Row>>,
): AsyncGenerator<Row, void> {
  let paged: Query | undefined = query;
  do {
    const { next, rows }: Page<Row> = await read(paged);
    yield* rows;
    paged = !next || next === LAST ? undefined : { ...query, [name]: next };
  } while (paged !== undefined);
}

/**
 * Iterates a list whose cursors are offsets, newest first. A row that a new one has moved to the next page is not
 * returned again.
 */
export async function* rowsOnce<Query, Row extends { readonly id: string }>(
  query: Query,
  name: keyof Query & string,
  read: (query: Query) => Promise<Page<Row>>,
): AsyncGenerator<Row, void> {
  const given = new Set<string>();
  for await (const row of rowsOf(query, name, read)) {
    if (given.has(row.id)) continue;
    given.add(row.id);
    const [oldest] = given;
    if (given.size > GIVEN_MAX && oldest !== undefined) given.delete(oldest);
    yield row;
  }
}
