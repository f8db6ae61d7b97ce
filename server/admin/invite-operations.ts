/**
 * Operations on invitations. A node gets the digests of codes from an operator, and never a code. Rules:
 * docs/protocol.md#invitations
 *
 * Thread: I/O.
 */
import { encodeInvite, encodeRevokeInvites } from '../../engine/commands.ts';
import {
  batchOf,
  findInvite,
  type InviteCounts,
  inviteBatch,
  inviteBatches,
  inviteTotals,
} from '../../engine/invites.ts';
import { INVITE_NOTE_BYTES_MAX } from '../../engine/tables/capacities.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import { digestWords } from '../wallet/invitations.ts';
import type { CommandOutcome, LedgerCommands } from '../wallet/ledger-commands.ts';
import {
  INVITES_BODY_BYTES,
  InvitesAnswer,
  InvitesInput,
  InvitesMadeAnswer,
  InvitesRevokedAnswer,
  RevokeInvitesInput,
} from './invite-schemas.ts';
import { type LedgerOperationParts, refusalOf } from './ledger-operations.ts';
import { OperationRefused, operation, refusedField } from './operation-row.ts';
import { NoInput } from './operation-schemas.ts';

export const INVITE_OPERATIONS = [
  operation(
    'POST /admin/invites',
    {
      does: 'makes a batch of invitations: each code of these digests brings a wallet its cash, once',
      input: InvitesInput,
      answer: InvitesMadeAnswer,
      bodyBytes: INVITES_BODY_BYTES,
      audited: ({ digests, ...input }: { readonly digests: readonly string[] }) => ({
        codes: digests.length,
        ...input,
      }),
    },
    ({ ledger }: InviteOperationParts) =>
      async ({ cash = '0', digests, note = '' }) => {
        if (Buffer.byteLength(note) > INVITE_NOTE_BYTES_MAX)
          return refusedField('note', `at most ${INVITE_NOTE_BYTES_MAX} bytes`);
        const codes = [...new Set(digests.map((digest) => digest.toLowerCase()))];
        if (codes.length < digests.length) return refusedField('digests', 'one comes twice');
        const fields = {
          digests: codes.map(wordsOfDigest),
          cash: parseMicroUp(cash),
          note: Buffer.from(note),
        };
        const outcome = await ledger.run(
          (out) => encodeInvite(out, fields),
          (t) => inviteBatch(t, batchOf(t, findInvite(t, fields.digests[0]!, 0))),
        );
        if (outcome.kind !== 'done') return refusalOfCommand(outcome);
        return { ...shown(outcome.value), repeated: outcome.isRepeated };
      },
  ),
  operation(
    'GET /admin/invites',
    {
      does: 'batches of invitations with the numbers of their codes, newest first',
      input: NoInput,
      answer: InvitesAnswer,
    },
    ({ sequenceLock, t }: InviteOperationParts) =>
      () =>
        sequenceLock.read(() => ({
          ...inviteTotals(t),
          batches: inviteBatches(t).map(shown).reverse(),
        })),
  ),
  operation(
    'POST /admin/invites/revoke',
    {
      does: 'revokes the open codes of a batch, or the code of a digest',
      input: RevokeInvitesInput,
      answer: InvitesRevokedAnswer,
    },
    ({ ledger }: InviteOperationParts) =>
      async ({ batch = 0, digest }) => {
        if ((batch === 0) === (digest === undefined))
          return refusedField('batch', 'give either batch or digest');
        const digests = digest === undefined ? [] : [wordsOfDigest(digest)];
        const outcome: CommandOutcome<InviteCounts> = await ledger.run(
          (out) => encodeRevokeInvites(out, digests, batch),
          (t) => inviteBatch(t, batch || batchOf(t, findInvite(t, digests[0]!, 0))),
        );
        if (outcome.kind !== 'done') return refusalOfCommand(outcome);
        return { ...shown(outcome.value), changed: !outcome.isRepeated };
      },
  ),
];

type InviteOperationParts = Pick<LedgerOperationParts, 'sequenceLock' | 't'> & {
  readonly ledger: Pick<LedgerCommands, 'run'>;
};

function refusalOfCommand(outcome: Exclude<CommandOutcome<unknown>, { readonly kind: 'done' }>) {
  return outcome.kind === 'failed'
    ? refusalOf(outcome)
    : new OperationRefused(outcome.status, outcome.text);
}

function wordsOfDigest(digest: string): Int32Array {
  return digestWords(Buffer.from(digest, 'hex'));
}

function shown({ cash, created, ...counts }: InviteCounts) {
  return { ...counts, created: new Date(created).toISOString(), cash: microText(cash) };
}
