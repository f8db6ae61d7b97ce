/** Inputs and answers of the operations on invitations. */
import {
  INVITE_BATCHES_MAX,
  INVITE_NOTE_BYTES_MAX,
  INVITES_OF_BATCH_MAX,
} from '../../engine/tables/capacities.ts';
import { Type } from '../common/schema.ts';
import { nameSchema } from '../common/text-schemas.ts';
import { flag, text, whole } from '../routes/shorthand.ts';
import { inputOf } from './operation-schemas.ts';
import { AmountInput } from './venue-schemas.ts';

/** Twice the need of the most digests. */
export const INVITES_BODY_BYTES = 160 * 1024;

const Digest = text('the SHA-256 of the 16 bytes of a code, 64 hexadecimal digits', {
  pattern: '^[0-9a-fA-F]{64}$',
});

export const InvitesInput = inputOf({
  digests: Type.Array(Digest, {
    minItems: 1,
    maxItems: INVITES_OF_BATCH_MAX,
    description: `1 to ${INVITES_OF_BATCH_MAX} digests`,
  }),
  cash: Type.Optional(AmountInput),
  note: Type.Optional(nameSchema(INVITE_NOTE_BYTES_MAX, 'a text', 0)),
});
export const RevokeInvitesInput = inputOf({
  batch: Type.Optional(
    whole(`a number from 1 to ${INVITE_BATCHES_MAX}, as the list has it`, {
      minimum: 1,
      maximum: INVITE_BATCHES_MAX,
    }),
  ),
  digest: Type.Optional(Digest),
});

const COUNTS = { open: whole(), redeemed: whole(), revoked: whole() };
const BATCH = {
  batch: whole('its number'),
  created: text('ISO 8601'),
  cash: text('what each code brings'),
  note: text(),
  codes: whole(),
  ...COUNTS,
};
export const InvitesMadeAnswer = Type.Object({
  ...BATCH,
  repeated: flag('true: these digests were there already'),
});
export const InvitesAnswer = Type.Object({ ...COUNTS, batches: Type.Array(Type.Object(BATCH)) });
export const InvitesRevokedAnswer = Type.Object({
  ...BATCH,
  changed: flag('false: no code of them was open'),
});
