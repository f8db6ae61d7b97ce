import { parseJson } from '../../server/common/json.ts';
import { checkTokenItems, type ParsedTokens } from '../../server/market-data/token-items.ts';
import { TOKENS_BOUNDS } from '../../server/market-data/token-schemas.ts';

/** A token list as the routes with one read it, by way of JSON. */
export function parseTokenItems(body: Uint8Array): ParsedTokens {
  return checkTokenItems(parseJson(body, TOKENS_BOUNDS));
}
