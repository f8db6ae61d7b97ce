/** Request and answer of the profile of a wallet. Rules: docs/protocol.md#profiles */
import { DISPLAY_NAME } from '../auth/profiles.ts';
import { boundsOf } from '../common/json-measure.ts';
import { Type } from '../common/schema.ts';

const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'an address, 0x and 40 hexadecimal digits',
});
export const ProfileBody = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: DISPLAY_NAME,
        description:
          '3 to 32 letters, digits, underscores, full stops or hyphens, not beginning with 0x',
      }),
    ),
    hidden: Type.Optional(Type.Boolean({ description: 'true or false' })),
    wallet: Type.Optional(Address),
  },
  { additionalProperties: true },
);
export const PROFILE_BOUNDS = boundsOf(3);

export const ProfileAnswer = Type.Object({
  wallet: Address,
  name: Type.String({ description: 'empty: none' }),
  hidden: Type.Boolean(),
});
