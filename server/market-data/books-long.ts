/**
 * Long answers of POST /books, rendered book by book with pauses. Both books of a pair have one version here too.
 * Books of different pairs may be of different moments, as in two separate requests.
 *
 * Thread: I/O.
 */
import { concatSlowly } from '../common/concat-slowly.ts';
import { nextIteration } from '../common/event-loop.ts';
import type { BookRenderer } from './books.ts';
import type { SideCode, TokenRequest } from './token-request.ts';

/** Bytes rendered without a pause: about a millisecond for books that are not cached. */
const RENDERED_PER_TURN = 2 ** 15;
const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

export interface LongBooksParts {
  readonly renderer: BookRenderer;
  readonly whenBatchesDone: (callback: () => void) => void;
  readonly isGone: () => boolean;
}

/** Reads the request during the call, not later. Resolves with undefined when the client has disconnected. */
export async function renderBooksLong(
  parts: LongBooksParts,
  request: TokenRequest,
): Promise<Buffer | undefined> {
  const tokens = [...request.tokens.subarray(0, request.count)];
  const sides = [...request.sides.subarray(0, request.count)] as SideCode[];
  const places = new Map(tokens.map((token, place) => [token, place]));
  const books: Buffer[] = [];
  let rendered = 0;
  // The caller has already rendered some books in this turn.
  await nextIteration();
  for (let place = 0; place < tokens.length; ) {
    if (parts.isGone()) return undefined;
    if (books[place] === undefined) {
      const other = places.get(parts.renderer.complementOf(tokens[place]!));
      const bytes = renderOne(parts.renderer, tokens, sides, books, place, other);
      if (bytes === undefined) {
        await new Promise<void>((resolve) => parts.whenBatchesDone(resolve));
        continue;
      }
      rendered += bytes;
    }
    place += 1;
    if (rendered < RENDERED_PER_TURN) continue;
    rendered = 0;
    await nextIteration();
  }
  const pieces = books.flatMap((book, place) => [place === 0 ? OPEN : COMMA, book]);
  return concatSlowly([...pieces, CLOSE]);
}

/**
 * Writes a book, and the requested book of its complement. Returns the number of rendered bytes; undefined while a
 * writer changes the book.
 */
function renderOne(
  renderer: BookRenderer,
  tokens: readonly number[],
  sides: readonly SideCode[],
  books: Buffer[],
  place: number,
  other: number | undefined,
): number | undefined {
  const cached = renderer.current(tokens[place]!, sides[place]!);
  if (other === undefined) {
    const book = cached ?? renderer.renderKnown(tokens[place]!, sides[place]!);
    if (book === undefined) return undefined;
    books[place] = book.bytes;
    return cached === undefined ? book.bytes.length : 0;
  }
  const cachedOther = renderer.current(tokens[other]!, sides[other]!);
  const pair =
    cached !== undefined && cachedOther !== undefined
      ? ([cached, cachedOther] as const)
      : renderer.renderPair(tokens[place]!, sides[place]!, tokens[other]!, sides[other]!);
  if (pair === undefined) return undefined;
  const [book, otherBook] = pair;
  books[place] = book.bytes;
  books[other] = otherBook.bytes;
  return book === cached ? 0 : book.bytes.length + otherBook.bytes.length;
}
