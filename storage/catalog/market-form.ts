/**
 * Form in which markets are stored, and which of their lists has the tokens that trade. Rules:
 * docs/protocol.md#positions
 *
 * Pure; any thread.
 */
import { type JsonObject, text } from './catalog-json.ts';
import { wholeCondition } from './condition-ids.ts';
import { POSITIONS_VERSION, type ProtocolVersion, VERSIONS } from './protocol-version.ts';

export type TokenMember = 'clobTokenIds' | 'positionIds';

type Versioned = { readonly version?: unknown };
type Listed = Versioned & { readonly [Name in TokenMember]?: unknown };

export function versionOf({ version }: Versioned): ProtocolVersion | undefined {
  return VERSIONS.find((known) => known === version);
}

/** Member with the tokens that trade: `version` decides, even where both are there. */
export function tokenMember({ version }: Versioned): TokenMember {
  return version === POSITIONS_VERSION ? 'positionIds' : 'clobTokenIds';
}

/** Tokens that trade: an array, or the JSON text of one, in the order of the outcomes. */
export function tradedTokens(market: Listed): unknown {
  return market[tokenMember(market)];
}

/**
 * Returns a raw market with a condition id of 32 bytes and a version of its own; the same object where it has both. The
 * version of its event counts for a market with positions that says none.
 */
export function storedForm(raw: JsonObject, event: Versioned): JsonObject {
  const sent = text(raw.conditionId).trim();
  const conditionId = wholeCondition(sent);
  const isShort = conditionId !== sent;
  const inherits = raw.version == null && raw.positionIds != null && versionOf(event) !== undefined;
  if (!isShort && !inherits) return raw;
  return { ...raw, ...(isShort && { conditionId }), ...(inherits && { version: event.version }) };
}
