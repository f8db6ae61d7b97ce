/**
 * Validation of bodies with many tokens.
 *
 * Thread: any. Non-goals: existence of the tokens.
 */
import { TOO_MUCH } from '../common/json.ts';
import { compileShape } from '../common/schema.ts';
import { TOKENS_MAX, TokenItem } from './token-schemas.ts';

export type ParsedTokens =
  | {
      readonly ok: true;
      readonly tokens: string[];
      readonly sides: ('' | 'BUY' | 'SELL')[];
    }
  | { readonly ok: false; readonly error: string };

const INVALID_TOKENS = 'Invalid payload';
const TOO_LARGE = 'Payload exceeds the limit';

const item = compileShape(TokenItem);

/**
 * Checks a parsed body of `[{"token_id": "..", "side": ".."}]`. A side of '' counts as absent, because some clients
 * send the member empty. Tokens are any text; the caller handles unknown and repeated ones. Rules:
 * docs/protocol.md#prices-of-a-token
 */
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
