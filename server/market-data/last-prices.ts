/**
 * POST /last-trades-prices: price and side of the last trade of each token that has traded, read
 * under the version of its book, so that it says what POST /books says at that version (GAPS 7).
 *
 * Thread: I/O, while workers write. Non-goals: parsing of the request, parking it.
 */
import { bookVersion } from '../../engine/depth.ts';
import { TOKEN_I, Token } from '../../engine/layout.ts';
import type { Tables } from '../../engine/tables.ts';
import type { Pips, TokenSlot } from '../../engine/units.ts';
import { pipsText } from '../common/decimal.ts';
import { READ_TRIES } from './books.ts';
import type { TokenTexts } from './texts.ts';

/** A writer was inside at every try. */
const UNREADABLE = -1;

/**
 * The answer of POST /last-trades-prices: `[{"token_id","price","side"}]` in request order, a token
 * once, at its first position; unknown tokens and those that never traded are left out.
 *
 * @returns undefined when some book could not be read: ask again after the next batch
 */
export function renderLastPrices(
  tables: Tables,
  texts: TokenTexts,
  tokens: readonly string[],
): Buffer | undefined {
  const seen = new Set<TokenSlot>();
  let json = '';
  for (const tokenId of tokens) {
    const token = texts.find(tokenId);
    if (token === 0 || seen.has(token)) continue;
    seen.add(token);
    const last = readLast(tables, token);
    if (last === UNREADABLE) return undefined;
    if (last === 0) continue;
    const side = (last & 1) === 0 ? 'BUY' : 'SELL';
    const comma = json === '' ? '' : ',';
    const price = pipsText((last >> 1) as Pips);
    // A text that names a token is plain digits, and the only one that names it.
    json += `${comma}{"token_id":"${tokenId}","price":"${price}","side":"${side}"}`;
  }
  return Buffer.from(`[${json}]`, 'latin1');
}

/** Pips x 2 + side of the last trade; 0 = never traded. */
function readLast(t: Tables, token: TokenSlot): number {
  const row = token << TOKEN_I;
  for (let tries = 0; tries < READ_TRIES; tries++) {
    const version = bookVersion(t, token);
    if ((version & 1) !== 0) continue;
    const price = t.tokenI[row + Token.lastPrice]!;
    const side = t.tokenI[row + Token.lastSide]!;
    if (bookVersion(t, token) === version) return price === 0 ? 0 : price * 2 + side;
  }
  return UNREADABLE;
}
