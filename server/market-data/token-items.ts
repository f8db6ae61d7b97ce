/**
 * Bodies of the market-data routes that ask for many tokens, from bytes to checked values.
 *
 * Thread: any. Non-goals: whether the tokens exist.
 */
import { parseJson } from '../common/json.ts';

export type ParsedTokens =
  | {
      readonly ok: true;
      readonly tokens: string[];
      /** The only side asked for, or '' for both (GAPS 4.1); one for each token. */
      readonly sides: ('' | 'BUY' | 'SELL')[];
    }
  | { readonly ok: false; readonly error: string };

const INVALID_TOKENS = 'Invalid payload';

/**
 * Reads a body of `[{"token_id": "..", "side": ".."}]` (GAPS 4.1). A side of '' counts as absent,
 * because some clients send the member empty. Tokens are any text: an unknown one is left to the
 * caller, and so are repetitions.
 */
export function parseTokenItems(body: Uint8Array, max: number): ParsedTokens {
  const sent = parseJson(body);
  if (!Array.isArray(sent)) return { ok: false, error: INVALID_TOKENS };
  if (sent.length > max) return { ok: false, error: 'Payload exceeds the limit' };
  const tokens = new Array<string>(sent.length);
  const sides = new Array<'' | 'BUY' | 'SELL'>(sent.length);
  let sidesValid = true;
  for (let i = 0; i < sent.length; i++) {
    const item = sent[i] as { readonly token_id?: unknown; readonly side?: unknown } | null;
    if (item === null || typeof item !== 'object' || typeof item.token_id !== 'string') {
      return { ok: false, error: INVALID_TOKENS };
    }
    const side = item.side ?? '';
    if (side !== '' && side !== 'BUY' && side !== 'SELL') sidesValid = false;
    else sides[i] = side;
    tokens[i] = item.token_id;
  }
  return sidesValid ? { ok: true, tokens, sides } : { ok: false, error: 'Invalid side' };
}
