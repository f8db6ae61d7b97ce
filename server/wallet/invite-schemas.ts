/** Request and answer of an invitation that is redeemed. Rules: docs/protocol.md#invitations */
import { DISPLAY_NAME } from '../auth/profiles.ts';
import { TrioAnswer } from '../auth/schemas.ts';
import { boundsOf } from '../common/json-measure.ts';
import { Type } from '../common/schema.ts';

/** 128 bits. */
const INVITE_CODE = '^[0-9a-fA-F]{32}$';

export const RedeemBody = Type.Object(
  {
    code: Type.String({
      pattern: INVITE_CODE,
      description: 'a code of an invitation, 32 hexadecimal digits',
    }),
    name: Type.Optional(
      Type.String({
        pattern: DISPLAY_NAME,
        description:
          '3 to 32 letters, digits, underscores, full stops or hyphens, not beginning with 0x',
      }),
    ),
  },
  { additionalProperties: true },
);
export const REDEEM_BOUNDS = boundsOf(2);

export const RedeemAnswer = Type.Object({
  ...TrioAnswer.properties,
  cash: Type.String({ description: 'what the code has paid in, whole micro-units' }),
  name: Type.String({ description: 'the display name; empty: none' }),
});
