/** A token list from its bytes, as the routes read it. */
import { parseJson } from '../../server/common/json.ts';
import { checkTokenItems, type ParsedTokens } from '../../server/market-data/token-items.ts';
import { TOKENS_BOUNDS } from '../../server/market-data/token-schemas.ts';

export function parseTokenItems(body: Uint8Array): ParsedTokens {
  return checkTokenItems(parseJson(body, TOKENS_BOUNDS));
}
