/**
 * POST /last-trades-prices: price and side of the last trade of each token that has traded, read
 * under the version of its book, so that it says what POST /books says at that version (GAPS 7).
 * What was rendered is kept with the version that it shows.
 *
 * Thread: I/O, while workers write. Non-goals: parsing of the request, parking it.
 */
import { bookVersion } from '../../engine/depth.ts';
import { TOKEN_I, Token } from '../../engine/layout.ts';
import type { Tables } from '../../engine/tables.ts';
import type { Pips } from '../../engine/units.ts';
import { pipsText } from '../common/decimal.ts';
import { READ_TRIES } from './books.ts';
import { joined } from './joined.ts';
import type { KnownToken } from './known-tokens.ts';
import type { TokenRequest } from './token-request.ts';

/** A token that never traded. */
const NEVER = Buffer.alloc(0);

const parts: Buffer[] = [];

/**
 * The answer of POST /last-trades-prices: `[{"token_id","price","side"}]` in request order, a token
 * once, at its first position; unknown tokens and those that never traded are left out.
 *
 * @returns bytes that are good until the next answer; undefined when some book could not be read:
 *   ask again after the next batch
 */
export function renderLastPrices(t: Tables, request: TokenRequest): Uint8Array | undefined {
  const { count, tokens } = request;
  let traded = 0;
  for (let i = 0; i < count; i++) {
    const token = tokens[i]!;
    const last = current(t, token) ?? renderLast(t, token);
    if (last === undefined) return undefined;
    if (last !== NEVER) parts[traded++] = last;
  }
  return joined(parts, traded);
}

/** While a writer is inside, the state before its batch is still the last settled one. */
function current(t: Tables, token: KnownToken): Buffer | undefined {
  const { last, versionAt } = token;
  if (last === undefined) return undefined;
  return last.version === (Atomics.load(t.bookI, versionAt) & ~1) ? last.bytes : undefined;
}

function renderLast(t: Tables, token: KnownToken): Buffer | undefined {
  const row = token.slot << TOKEN_I;
  for (let tries = 0; tries < READ_TRIES; tries++) {
    const version = bookVersion(t, token.slot);
    if ((version & 1) !== 0) continue;
    const price = t.tokenI[row + Token.lastPrice]!;
    const side = t.tokenI[row + Token.lastSide]!;
    if (bookVersion(t, token.slot) !== version) continue;
    const bytes = price === 0 ? NEVER : rendered(token, price as Pips, side);
    token.last = { version, bytes };
    return bytes;
  }
  return undefined;
}

function rendered({ id }: KnownToken, price: Pips, side: number): Buffer {
  const text = `{"token_id":"${id}","price":"${pipsText(price)}","side":"`;
  return Buffer.from(`${text}${side === 0 ? 'BUY' : 'SELL'}"}`, 'latin1');
}
