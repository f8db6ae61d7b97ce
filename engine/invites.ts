/**
 * Invitations: codes, known by their digests alone, each of which brings one wallet its cash once. Rules:
 * docs/protocol.md#invitations
 */
import { assert } from './book/matching.ts';
import { commandWords, InviteCommand, InviteFlag, RedeemCommand } from './commands.ts';
import type { EngineContext } from './context.ts';
import { payIn } from './funds.ts';
import { accountTag, findAccount, makeAccount } from './orders/accounts.ts';
import { RejectReason, type RejectReasonCode } from './orders/reject-reasons.ts';
import {
  AMOUNT_MAX,
  DEPOSITED_MAX,
  INVITE_BATCHES_MAX,
  INVITE_NOTE_BYTES_MAX,
  INVITES_MAX,
} from './tables/capacities.ts';
import { ADDRESS_WORDS, ID_WORDS } from './tables/codes.ts';
import { home, indexInsert, next, tagOf } from './tables/hash-index.ts';
import {
  INVITE_BATCH_F,
  INVITE_BATCH_I,
  INVITE_I,
  Invite,
  InviteBatch,
  InviteState,
  Ledger,
  State,
} from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import { sameAddress, sameId } from './tables/words.ts';

/** Row of the code with a digest; 0 = none. */
export function findInvite(t: Tables, words: Int32Array, at: number): number {
  const tag = tagOf(words, at, ID_WORDS);
  return find(t, tag, 0, (row) => sameId(t.inviteI, (row << INVITE_I) + Invite.digest, words, at));
}

/** Row of the code that a wallet has redeemed; 0 = none. */
export function findInvited(t: Tables, words: Int32Array, at: number): number {
  const tag = accountTag(words, at);
  return find(t, tag, INVITES_MAX, (row) =>
    sameAddress(t.inviteI, (row << INVITE_I) + Invite.wallet, words, at),
  );
}

/** @param base entries of wallets are the rows behind INVITES_MAX */
function find(
  { inviteIndex: index }: Tables,
  tag: number,
  base: number,
  isIt: (row: number) => boolean,
): number {
  for (let entry = home(index, tag); ; entry = next(index, entry)) {
    const found = index[2 * entry + 1]!;
    if (found === 0) return 0;
    const row = found - base;
    if (index[2 * entry] === tag && row > 0 && row <= INVITES_MAX && isIt(row)) return row;
  }
}

export function applyInvite(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const isEnd = (i32[at + InviteCommand.flags]! & InviteFlag.revoke) !== 0;
  return isEnd ? revoke(context, i32, at) : create(context, i32, f64, at);
}

/** A batch whose digests are all known already was made before. */
function create(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const { inviteBatchF, inviteBatchI, inviteI } = t;
  const count = i32[at + InviteCommand.count]!;
  const cash = f64[at / 2 + InviteCommand.cash]!;
  if (!Number.isInteger(cash) || cash < 0 || cash > AMOUNT_MAX) return RejectReason.amountInvalid;
  if (cash > 0 && t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const known = digestsAt(i32, at).filter((digest) => findInvite(t, i32, digest) !== 0);
  if (known.length > 0) {
    const before = batchOf(t, findInvite(t, i32, known[0]!));
    const isSame =
      known.length === count &&
      inviteBatchI[(before << INVITE_BATCH_I) + InviteBatch.codes] === count &&
      inviteBatchF[(before << INVITE_BATCH_F) + InviteBatch.cash] === cash;
    return isSame ? RejectReason.idRepeated : RejectReason.idConflict;
  }
  const batch = inviteBatchI[InviteBatch.batches]! + 1;
  const first = inviteBatchI[InviteBatch.codes]! + 1;
  if (batch > INVITE_BATCHES_MAX || first + count > INVITES_MAX + 1)
    return RejectReason.invitesFull;
  changed(context, i32, at);
  const w = batch << INVITE_BATCH_I;
  inviteBatchF[(batch << INVITE_BATCH_F) + InviteBatch.created] = context.time;
  inviteBatchF[(batch << INVITE_BATCH_F) + InviteBatch.cash] = cash;
  inviteBatchI[w + InviteBatch.noteBytes] = i32[at + InviteCommand.noteBytes]!;
  for (let i = 0; i < INVITE_NOTE_BYTES_MAX / 4; i++)
    inviteBatchI[w + InviteBatch.note + i] = i32[at + InviteCommand.note + i]!;
  digestsAt(i32, at).forEach((digest, i) => {
    const code = (first + i) << INVITE_I;
    for (let word = 0; word < ID_WORDS; word++)
      inviteI[code + Invite.digest + word] = i32[digest + word]!;
    inviteI[code + Invite.batch] = batch;
    indexInsert(t.inviteIndex, tagOf(i32, digest, ID_WORDS), first + i);
  });
  addCount(t, batch, InviteBatch.codes, count);
  inviteBatchI[InviteBatch.batches] = batch;
  return RejectReason.accepted;
}

function revoke(context: EngineContext, i32: Int32Array, at: number): RejectReasonCode {
  const { t } = context;
  const batch = i32[at + InviteCommand.batch]!;
  const rows =
    batch === 0 ? digestsAt(i32, at).map((d) => findInvite(t, i32, d)) : rowsOf(t, batch);
  if (rows.length === 0 || rows.includes(0)) return RejectReason.inviteUnknown;
  const open = rows.filter((row) => stateOf(t, row) === InviteState.open);
  if (open.length === 0) return RejectReason.idRepeated;
  changed(context, i32, at);
  for (const row of open) end(t, row, InviteState.revoked, InviteBatch.revoked);
  return RejectReason.accepted;
}

export function redeemInvite(
  context: EngineContext,
  i32: Int32Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  const wallet = at + RedeemCommand.wallet;
  const row = findInvite(t, i32, at + RedeemCommand.digest);
  const w = row << INVITE_I;
  const state = stateOf(t, row);
  if (row === 0 || state === InviteState.revoked) return RejectReason.inviteUnknown;
  if (state === InviteState.redeemed) {
    return sameAddress(t.inviteI, w + Invite.wallet, i32, wallet)
      ? RejectReason.idRepeated
      : RejectReason.inviteRedeemed;
  }
  if (findInvited(t, i32, wallet) !== 0) return RejectReason.walletInvited;
  const cash = inviteCash(t, row);
  if (t.ledger[Ledger.deposited]! + cash > DEPOSITED_MAX) return RejectReason.depositsTooLarge;
  const found = findAccount(t, i32, wallet);
  if (found === 0 && t.state[State.accounts]! >= t.capacities.accounts)
    return RejectReason.tableFull;
  changed(context, i32, at);
  for (let i = 0; i < ADDRESS_WORDS; i++) t.inviteI[w + Invite.wallet + i] = i32[wallet + i]!;
  end(t, row, InviteState.redeemed, InviteBatch.redeemed);
  indexInsert(t.inviteIndex, accountTag(i32, wallet), INVITES_MAX + row);
  const account = found !== 0 ? found : makeAccount(t, i32, wallet);
  if (cash > 0) payIn({ context, t }, account, cash);
  return RejectReason.accepted;
}

function changed(context: EngineContext, i32: Int32Array, at: number): void {
  context.changes += 1;
  const last = at + commandWords(i32, at);
  for (let word = at; word < last; word++) context.mixWord(i32[word]!);
}

function digestsAt(i32: Int32Array, at: number): number[] {
  const count = i32[at + InviteCommand.count]!;
  return Array.from({ length: count }, (_, i) => at + InviteCommand.digests + ID_WORDS * i);
}

function stateOf({ inviteI }: Tables, row: number): number {
  return inviteI[(row << INVITE_I) + Invite.state]!;
}

export function batchOf({ inviteI }: Tables, row: number): number {
  return inviteI[(row << INVITE_I) + Invite.batch]!;
}

/** Micro-units that a code brings. */
export function inviteCash(t: Tables, row: number): number {
  return t.inviteBatchF[(batchOf(t, row) << INVITE_BATCH_F) + InviteBatch.cash]!;
}

/** Rows of the codes of a batch: they lie together. */
function rowsOf(t: Tables, batch: number): number[] {
  const rows: number[] = [];
  const codes = t.inviteBatchI[InviteBatch.codes]!;
  for (let row = 1; row <= codes; row++) if (batchOf(t, row) === batch) rows.push(row);
  return rows;
}

function end(t: Tables, row: number, state: number, column: number): void {
  t.inviteI[(row << INVITE_I) + Invite.state] = state;
  addCount(t, batchOf(t, row), column, 1);
}

/** Adds to a count of a batch and to that of all. */
function addCount({ inviteBatchI }: Tables, batch: number, column: number, count: number): void {
  inviteBatchI[(batch << INVITE_BATCH_I) + column]! += count;
  inviteBatchI[column]! += count;
}

export interface InviteCounts {
  readonly batch: number;
  /** Unix milliseconds. */
  readonly created: number;
  /** Micro-units that each code brings. */
  readonly cash: number;
  readonly note: string;
  readonly codes: number;
  readonly open: number;
  readonly redeemed: number;
  readonly revoked: number;
}

export function inviteTotals(t: Tables): Pick<InviteCounts, 'open' | 'redeemed' | 'revoked'> {
  const { open, redeemed, revoked } = inviteBatch(t, 0);
  return { open, redeemed, revoked };
}

export function inviteBatches(t: Tables): InviteCounts[] {
  const batches = t.inviteBatchI[InviteBatch.batches]!;
  return Array.from({ length: batches }, (_, i) => inviteBatch(t, i + 1));
}

export function inviteBatch({ inviteBatchF, inviteBatchI }: Tables, batch: number): InviteCounts {
  const w = batch << INVITE_BATCH_I;
  const d = batch << INVITE_BATCH_F;
  const codes = inviteBatchI[w + InviteBatch.codes]!;
  const redeemed = inviteBatchI[w + InviteBatch.redeemed]!;
  const revoked = inviteBatchI[w + InviteBatch.revoked]!;
  const from = inviteBatchI.byteOffset + 4 * (w + InviteBatch.note);
  const bytes = new Uint8Array(inviteBatchI.buffer, from, inviteBatchI[w + InviteBatch.noteBytes]!);
  return {
    batch,
    created: inviteBatchF[d + InviteBatch.created]!,
    cash: inviteBatchF[d + InviteBatch.cash]!,
    // Shared memory is copied: no decoder reads it.
    note: new TextDecoder().decode(bytes.slice()),
    codes,
    open: codes - redeemed - revoked,
    redeemed,
    revoked,
  };
}

/** Entries of the index, tag and value by turns: codes, and the wallets that redeemed them. */
export function inviteEntries(t: Tables): Int32Array {
  const { inviteBatchI, inviteI } = t;
  const codes = inviteBatchI[InviteBatch.codes]!;
  const redeemed = inviteBatchI[InviteBatch.redeemed]!;
  const entries = new Int32Array(2 * (codes + redeemed));
  let at = 0;
  const enter = (tag: number, value: number): void => {
    entries[at] = tag;
    entries[at + 1] = value;
    at += 2;
  };
  for (let row = 1; row <= codes; row++) {
    const w = row << INVITE_I;
    enter(tagOf(inviteI, w + Invite.digest, ID_WORDS), row);
    if (stateOf(t, row) === InviteState.redeemed)
      enter(accountTag(inviteI, w + Invite.wallet), INVITES_MAX + row);
  }
  assert(at === entries.length, 'redeemed codes are counted');
  return entries;
}

export function auditInvites(t: Tables): void {
  const { inviteBatchI, inviteI, inviteIndex } = t;
  const batches = inviteBatchI[InviteBatch.batches]!;
  const counted = [InviteBatch.codes, InviteBatch.redeemed, InviteBatch.revoked];
  const expected = new Int32Array((batches + 1) << INVITE_BATCH_I);
  for (let row = 1; row <= inviteBatchI[InviteBatch.codes]!; row++) {
    const w = row << INVITE_I;
    const batch = batchOf(t, row);
    assert(batch >= 1 && batch <= batches, 'a code is of a batch');
    assert(findInvite(t, inviteI, w + Invite.digest) === row, 'a code is found by its digest');
    const state = stateOf(t, row);
    if (state === InviteState.redeemed) {
      assert(findAccount(t, inviteI, w + Invite.wallet) !== 0, 'a wallet that redeemed is known');
      assert(findInvited(t, inviteI, w + Invite.wallet) === row, 'a wallet redeems one code');
    }
    for (const of of [0, batch]) {
      const at = of << INVITE_BATCH_I;
      expected[at + InviteBatch.codes]! += 1;
      if (state !== InviteState.open) expected[at + counted[state]!]! += 1;
    }
  }
  for (let batch = 0; batch <= batches; batch++) {
    for (const column of counted) {
      const at = (batch << INVITE_BATCH_I) + column;
      assert(inviteBatchI[at] === expected[at], 'codes are counted by batch and state');
    }
  }
  let used = 0;
  for (let at = 1; at < inviteIndex.length; at += 2) if (inviteIndex[at] !== 0) used += 1;
  assert(2 * used === inviteEntries(t).length, 'the index has the codes and those who redeemed');
}
