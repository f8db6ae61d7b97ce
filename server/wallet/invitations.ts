/**
 * Invitations of a running node: digests of codes, their use by a wallet, and who was invited.
 * Rules: docs/protocol.md#invitations
 *
 * Thread: I/O. A code is seen here alone, between body and digest; nothing here logs.
 */
import { createHash } from 'node:crypto';
import { encodeRedeem } from '../../engine/commands.ts';
import { findInvite, findInvited, inviteCash } from '../../engine/invites.ts';
import { ADDRESS_WORDS, ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { bytesToWords } from '../common/uint256.ts';
import type { CommandOutcome, LedgerCommands } from './ledger-commands.ts';

export function inviteDigest(code: string): Buffer {
  return createHash('sha256').update(Buffer.from(code, 'hex')).digest();
}

export function digestWords(digest: Uint8Array): Int32Array {
  return bytesToWords(digest, new Int32Array(ID_WORDS));
}

/** Uses a code for a wallet, once. The value is what it brings, in micro-units. */
export function redeem(
  ledger: Pick<LedgerCommands, 'run'>,
  code: string,
  address: Uint8Array,
): Promise<CommandOutcome<number>> {
  const digest = digestWords(inviteDigest(code));
  return ledger.run(
    (out) => encodeRedeem(out, digest, walletWords(address)),
    (t) => inviteCash(t, findInvite(t, digest, 0)),
  );
}

export function isInvited(t: Tables, address: Uint8Array): boolean {
  return findInvited(t, walletWords(address), 0) !== 0;
}

function walletWords(address: Uint8Array): Int32Array {
  return bytesToWords(address, new Int32Array(ADDRESS_WORDS));
}
