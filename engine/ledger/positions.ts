/**
 * Positions: shares of one account in one token. A row is taken on first use, is found by an index, and lies in two
 * lists: of its account and of its token. It is freed when it has no shares and no open order holds it.
 */
import { assert } from '../book/matching.ts';
import { home, indexInsert, indexRemove, next } from '../tables/hash-index.ts';
import * as layout from '../tables/layout.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountRow, PositionRow, TokenRow } from '../tables/units.ts';

// A module's own constants are folded into machine code; imported ones are loaded at each use.
const {
  CASH_I,
  Cash,
  HOLDER_I,
  Holder,
  Ledger,
  POSITION_F,
  POSITION_I,
  POSITION_LINK_I,
  Position,
  PositionLink,
} = layout;

const GOLDEN = 0x9e3779b1;

function positionTag(account: number, token: number): number {
  return Math.imul(Math.imul(account, GOLDEN) ^ (token + 0x7f4a7c15), 0x85ebca6b);
}

export function findPosition(t: Tables, account: AccountRow, token: TokenRow): PositionRow | 0 {
  const { positionI, positionIndex } = t;
  const tag = positionTag(account, token);
  for (let entry = home(positionIndex, tag); ; entry = next(positionIndex, entry)) {
    const row = positionIndex[2 * entry + 1]! as PositionRow | 0;
    if (row === 0) return 0;
    if (positionIndex[2 * entry] !== tag) continue;
    const w = row << POSITION_I;
    if (positionI[w | Position.account] === account && positionI[w | Position.token] === token)
      return row;
  }
}

/** Word of the index at which the search for a position begins. */
export function positionHome(t: Tables, account: AccountRow | 0, token: TokenRow): number {
  return 2 * home(t.positionIndex, positionTag(account, token));
}

export function positionRoom(t: Tables, rows: number): boolean {
  return t.ledger[Ledger.positions]! + rows <= t.capacities.positions;
}

/** Returns the row of an account and token, and takes one if there is none. The caller checked the room. */
export function takePosition(t: Tables, account: AccountRow, token: TokenRow): PositionRow {
  const { cashI, holderI, ledger, positionI, positionLinkI } = t;
  const row = freeRow(t);
  ledger[Ledger.positions]! += 1;
  const w = row << POSITION_I;
  const link = row << POSITION_LINK_I;
  positionI[w | Position.account] = account;
  positionI[w | Position.token] = token;
  const cash = account << CASH_I;
  const holder = token << HOLDER_I;
  const ofAccount = cashI[cash | Cash.head]!;
  const ofToken = holderI[holder | Holder.head]!;
  positionLinkI[link | PositionLink.accountNext] = ofAccount;
  positionLinkI[link | PositionLink.tokenNext] = ofToken;
  if (ofAccount !== 0) {
    positionLinkI[(ofAccount << POSITION_LINK_I) | PositionLink.accountPrev] = row;
  }
  if (ofToken !== 0) positionLinkI[(ofToken << POSITION_LINK_I) | PositionLink.tokenPrev] = row;
  cashI[cash | Cash.head] = row;
  holderI[holder | Holder.head] = row;
  cashI[cash | Cash.count]! += 1;
  holderI[holder | Holder.count]! += 1;
  indexInsert(t.positionIndex, positionTag(account, token), row);
  return row;
}

/** Takes a row whose words are zero. */
function freeRow(t: Tables): PositionRow {
  const { ledger, positionI } = t;
  const free = ledger[Ledger.freePosition]!;
  if (free === 0) {
    const row = ledger[Ledger.positionRows]! + 1;
    assert(row <= t.capacities.positions, 'a position is reserved before it is taken');
    ledger[Ledger.positionRows] = row;
    return row as PositionRow;
  }
  const link = (free << POSITION_I) | Position.nextFree;
  ledger[Ledger.freePosition] = positionI[link]!;
  positionI[link] = 0;
  return free as PositionRow;
}

export function dropPosition(t: Tables, row: PositionRow): void {
  const { positionF, positionI } = t;
  const w = row << POSITION_I;
  if (positionI[w | Position.holds] !== 0) return;
  if (positionF[(row << POSITION_F) | Position.total] !== 0) return;
  unlink(t, row);
  const { ledger } = t;
  positionI[w | Position.nextFree] = ledger[Ledger.freePosition]!;
  ledger[Ledger.freePosition] = row;
  ledger[Ledger.positions]! -= 1;
}

function unlink(t: Tables, row: PositionRow): void {
  const { cashI, holderI, positionI, positionLinkI: links } = t;
  const w = row << POSITION_I;
  const link = row << POSITION_LINK_I;
  const account = positionI[w | Position.account]!;
  const token = positionI[w | Position.token]!;
  const isThere = indexRemove(t.positionIndex, positionTag(account, token), row);
  assert(isThere, 'a position is known by its account and token');
  const accountNext = links[link | PositionLink.accountNext]!;
  const accountPrev = links[link | PositionLink.accountPrev]!;
  const tokenNext = links[link | PositionLink.tokenNext]!;
  const tokenPrev = links[link | PositionLink.tokenPrev]!;
  if (accountPrev === 0) cashI[(account << CASH_I) | Cash.head] = accountNext;
  else links[(accountPrev << POSITION_LINK_I) | PositionLink.accountNext] = accountNext;
  if (accountNext !== 0) {
    links[(accountNext << POSITION_LINK_I) | PositionLink.accountPrev] = accountPrev;
  }
  if (tokenPrev === 0) holderI[(token << HOLDER_I) | Holder.head] = tokenNext;
  else links[(tokenPrev << POSITION_LINK_I) | PositionLink.tokenNext] = tokenNext;
  if (tokenNext !== 0) links[(tokenNext << POSITION_LINK_I) | PositionLink.tokenPrev] = tokenPrev;
  cashI[(account << CASH_I) | Cash.count]! -= 1;
  holderI[(token << HOLDER_I) | Holder.count]! -= 1;
  positionI.fill(0, w, w + (1 << POSITION_I));
  links.fill(0, link, link + (1 << POSITION_LINK_I));
}

export function positionEntries(t: Tables): Int32Array {
  const { ledger, positionI } = t;
  const entries = new Int32Array(2 * ledger[Ledger.positions]!);
  let at = 0;
  for (let row = 1; row <= ledger[Ledger.positionRows]!; row++) {
    const account = positionI[(row << POSITION_I) | Position.account]!;
    if (account === 0) continue;
    assert(at < entries.length, 'positions are counted');
    entries[at] = positionTag(account, positionI[(row << POSITION_I) | Position.token]!);
    entries[at + 1] = row;
    at += 2;
  }
  assert(at === entries.length, 'positions are counted');
  return entries;
}
