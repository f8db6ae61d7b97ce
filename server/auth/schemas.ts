/** Answers of the routes of keys (docs/protocol.md#api-keys). */
import { Type } from '../common/schema.ts';

export const TrioAnswer = Type.Object(
  {
    apiKey: Type.String({ pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
    secret: Type.String({ pattern: '^[A-Za-z0-9_-]{43}=$' }),
    passphrase: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  { additionalProperties: false },
);
