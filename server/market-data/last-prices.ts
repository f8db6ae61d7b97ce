/**
 * POST /last-trades-prices: price and side of the last trade of each token. They are read under the version of the
 * book, so they agree with POST /books at that version (docs/protocol.md#consistent-reads). The cell of a token
 * caches the text (known-tokens.ts).
 *
 * Thread: I/O, while workers write. Non-goals: parsing of the request, making it wait.
 */
import { tokenLastPrice, tokenLastSide } from '../../engine/reads.ts';
import { bookVersion } from '../../engine/tables/depth.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Pips, TokenRow } from '../../engine/tables/units.ts';
import { pipsText } from '../common/decimal.ts';
import { READ_TRIES } from './books.ts';
import { CELL_BYTES, CELL_HEAD, type KnownTokens } from './known-tokens.ts';
import type { TokenRequest } from './token-request.ts';
import { TOKENS_MAX } from './token-schemas.ts';

const OPEN = 0x5b;
const CLOSE = 0x5d;

const bytes = new Uint8Array(2 + TOKENS_MAX * CELL_BYTES);
const out = new DataView(bytes.buffer);

/**
 * Renders `[{"token_id","price","side"}]` in request order, a token once, at its first position. Unknown tokens and
 * tokens without a trade are left out.
 * @returns bytes that are valid until the next answer; undefined if a book could not be read: try again after the
 * next batch
 */
export function renderLastPrices(
  tables: Tables,
  known: KnownTokens,
  request: TokenRequest,
): Uint8Array | undefined {
  const { count, tokens, versions } = request;
  const { lastVersions, versionAt } = known;
  let at = 1;
  for (let i = 0; i < count; i++) {
    const token = tokens[i]!;
    // While a writer changes the book, the state before its batch is still the newest complete one.
    const version = Atomics.load(tables.bookI, versionAt[token]!) & ~1;
    if (lastVersions[token] !== version && !renderLast(tables, known, token)) return undefined;
    versions[i] = lastVersions[token]!;
    at = copyCell(known, token, at);
  }
  bytes[0] = OPEN;
  // The closing bracket replaces the last comma.
  const end = Math.max(1, at - 1);
  bytes[end] = CLOSE;
  return new Uint8Array(bytes.buffer, 0, end + 1);
}

/** Copies doubles, which keep the bytes of ASCII text. Bytes copied beyond the end are overwritten. */
function copyCell({ cells, lastBytes }: KnownTokens, token: number, at: number): number {
  const length = lastBytes[token]!;
  const from = token * CELL_BYTES;
  for (let i = 0; i < length; i += 8) {
    out.setFloat64(at + i, cells.getFloat64(from + i, true), true);
  }
  return at + length;
}

/** Returns false if a writer was changing the book at every try. */
function renderLast(tables: Tables, known: KnownTokens, token: number): boolean {
  const tokenRow = known.slots[token]! as TokenRow;
  for (let tries = 0; tries < READ_TRIES; tries++) {
    const version = bookVersion(tables, tokenRow);
    if ((version & 1) !== 0) continue;
    const price = tokenLastPrice(tables, tokenRow);
    const side = tokenLastSide(tables, tokenRow);
    if (bookVersion(tables, tokenRow) !== version) continue;
    known.lastVersions[token] = version;
    known.lastBytes[token] = price === 0 ? 0 : writeCell(known, token, price, side);
    return true;
  }
  return false;
}

function writeCell({ cells, lengths }: KnownTokens, token: number, price: Pips, side: number) {
  const after = CELL_HEAD.length + lengths[token]!;
  const text = `","price":"${pipsText(price)}","side":"${side === 0 ? 'BUY' : 'SELL'}"},`;
  const cell = Buffer.from(cells.buffer, token * CELL_BYTES + after, CELL_BYTES - after);
  return after + cell.write(text, 'latin1');
}
