/**
 * Requests and answers of the routes of API keys (docs/protocol.md#api-keys).
 *
 * Thread: any.
 */
import { boundsOf } from '../common/json-measure.ts';
import { compileQuery } from '../common/query.ts';
import { type Static, Type } from '../common/schema.ts';

const UUID = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
const Uuid = Type.String({ pattern: UUID });

const RevokeQueryShape = Type.Object({
  apiKey: Type.Optional(Type.String({ pattern: UUID, description: 'an API key' })),
});
export const REVOKE_QUERY = compileQuery(RevokeQueryShape);
export type RevokeQuery = Static<typeof RevokeQueryShape>;

const ValidateQueryShape = Type.Object({
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'a wallet address' }),
  key: Type.String({ pattern: UUID, description: 'a read-only key' }),
});
export const VALIDATE_QUERY = compileQuery(ValidateQueryShape);
export type ValidateQuery = Static<typeof ValidateQueryShape>;

/** The body of DELETE /auth/readonly-api-key. */
export const ReadOnlyKeyBody = Type.Object({ key: Uuid });
export const KEY_BOUNDS = boundsOf(1);

export const ApiKeysAnswer = Type.Array(Uuid);
export const RevokedAnswer = Type.Object({ revoked: Type.Literal(true) });
export const ClosedOnlyAnswer = Type.Object({
  closed_only: Type.Boolean(),
  closedOnly: Type.Boolean(),
});
export const ReadOnlyKeyAnswer = Type.Object({ apiKey: Uuid });
export const ReadOnlyKeysAnswer = Type.Object({ readonlyApiKeys: Type.Array(Uuid) });
export const ValidAnswer = Type.Literal('valid');
