import { parseJson } from '../../server/common/json.ts';
import { checkTokenItems, type ParsedTokens } from '../../server/market-data/token-items.ts';
import { TOKENS_BOUNDS } from '../../server/market-data/token-schemas.ts';

/** Reads a token list like the routes, by way of JSON. */
export function parseTokenItems(body: Uint8Array): ParsedTokens {
  return checkTokenItems(parseJson(body, TOKENS_BOUNDS));
}
