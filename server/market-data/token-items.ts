/**
 * Bodies of the market-data routes that ask for many tokens, from bytes to checked values.
 *
 * Thread: any. Non-goals: whether the tokens exist.
 */
import { parseJson, TOO_MUCH } from '../common/json.ts';
import { compileShape } from '../common/schema.ts';
import { TOKENS_BOUNDS, TOKENS_MAX, TokenItem } from './token-schemas.ts';

export type ParsedTokens =
  | {
      readonly ok: true;
      readonly tokens: string[];
      /** The only side asked for, or '' for both; one for each token. */
      readonly sides: ('' | 'BUY' | 'SELL')[];
    }
  | { readonly ok: false; readonly error: string };

const INVALID_TOKENS = 'Invalid payload';
const TOO_LARGE = 'Payload exceeds the limit';

const item = compileShape(TokenItem);

/**
 * Reads a body of `[{"token_id": "..", "side": ".."}]`. A side of '' counts as absent,
 * because some clients send the member empty. Tokens are any text: an unknown one is left to the
 * caller, and so are repetitions.
 * Rules: docs/protocol.md#prices-of-a-token
 */
export function parseTokenItems(body: Uint8Array): ParsedTokens {
  return checkTokenItems(parseJson(body, TOKENS_BOUNDS));
}

/** The same, of a body that has been parsed. */
export function checkTokenItems(sent: unknown): ParsedTokens {
  if (sent === TOO_MUCH) return { ok: false, error: TOO_LARGE };
  if (!Array.isArray(sent)) return { ok: false, error: INVALID_TOKENS };
  if (sent.length > TOKENS_MAX) return { ok: false, error: TOO_LARGE };
  const tokens = new Array<string>(sent.length);
  const sides = new Array<'' | 'BUY' | 'SELL'>(sent.length);
  let sidesValid = true;
  for (let i = 0; i < sent.length; i++) {
    const value: unknown = sent[i];
    if (item.matches(value)) {
      tokens[i] = value.token_id;
      sides[i] = value.side ?? '';
    } else {
      if (item.fault(value).path[0] !== 'side') return { ok: false, error: INVALID_TOKENS };
      sidesValid = false;
    }
  }
  return sidesValid ? { ok: true, tokens, sides } : { ok: false, error: 'Invalid side' };
}
