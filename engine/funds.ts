/**
 * Commands that move money beside orders: deposit, withdraw, split and merge of a wallet, fees of the venue; and
 * the declaration of a wallet's signer. Each request is applied once (ledger/requests.ts); a refusal changes
 * nothing. Rules: docs/ledger.md#commands
 */
import { assert } from './book/matching.ts';
import { CommandKind, FundsCommand, requestKind } from './commands.ts';
import type { EngineContext } from './context.ts';
import { addCost, partOfSets } from './ledger/exposure.ts';
import { dropPosition, findPosition, positionRoom, takePosition } from './ledger/positions.ts';
import { checkRequest, enterRequest, findRequest, type StoredRequest } from './ledger/requests.ts';
import { findAccount, makeAccount, newestOwned, nextOwned } from './orders/accounts.ts';
import { bindWallet } from './orders/binding.ts';
import { delayedWhere } from './orders/delayed.ts';
import { closeOrder } from './orders/orders.ts';
import { RejectReason, type RejectReasonCode } from './orders/reject-reasons.ts';
import {
  AMOUNT_MAX,
  CANCEL_ORDERS_MAX,
  DEPOSITED_MAX,
  SIGNER_ORDERS_WALKED_MAX,
} from './tables/capacities.ts';
import {
  ADDRESS_WORDS,
  EndReason,
  EntryCause,
  type EntryCauseCode,
  SOURCE_ADDRESS,
} from './tables/codes.ts';
import {
  ACCOUNT_I,
  Account,
  CASH_F,
  Cash,
  Ledger,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_I,
  Order,
  POSITION_F,
  Position,
  State,
} from './tables/layout.ts';
import type { Tables } from './tables/tables.ts';
import type { AccountRow, MarketRow, OrderRow, PositionRow, TokenRow } from './tables/units.ts';
import { sameAddress } from './tables/words.ts';

interface Funds {
  readonly context: EngineContext;
  readonly t: Tables;
  readonly i32: Int32Array;
  readonly at: number;
  readonly kind: number;
  /** 0 = no account has this address yet, or the command names no wallet. */
  readonly wallet: AccountRow | 0;
  readonly hasSigner: boolean;
  readonly signer: AccountRow | 0;
  readonly market: MarketRow | 0;
  readonly amount: number;
}

export function applyFunds(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): RejectReasonCode {
  const { t } = context;
  if (t.state[State.ledger] === 0) return RejectReason.ledgerOff;
  const f = fundsAt(context, i32, f64, at);
  const found = findRequest(t, i32, f64, at, context.time);
  if (found !== undefined)
    return sameBody(f, found) ? RejectReason.idRepeated : RejectReason.idConflict;
  const fault = checkRequest(context, i32, f64, at);
  if (fault !== undefined) return RejectReason[fault];
  const refused = check(f);
  if (refused !== RejectReason.accepted) return refused;
  context.changes += 1;
  context.mixWord(f.kind);
  context.mixWord(i32[at + FundsCommand.wallet]!);
  context.mix(f.amount);
  const ofVenue = f.kind === CommandKind.drawFees;
  const wallet =
    f.wallet !== 0 || ofVenue ? f.wallet : makeAccount(t, i32, at + FundsCommand.wallet);
  if (wallet === 0) drawFees(f);
  else apply(f, wallet);
  enterRequest(context, i32, f64, at, {
    subject: wallet,
    other: otherOf(f, signerOf(f)),
    amount: f.amount,
    result: wallet === 0 ? t.ledger[Ledger.fees]! : t.cashF[(wallet << CASH_F) + Cash.total]!,
  });
  return RejectReason.accepted;
}

function fundsAt(context: EngineContext, i32: Int32Array, f64: Float64Array, at: number): Funds {
  const { t } = context;
  const kind = requestKind(i32, at);
  let hasSigner = false;
  // No other kind has one: whatever stands there is no part of its body.
  if (kind === CommandKind.deposit || kind === CommandKind.declare)
    for (let w = 0; w < ADDRESS_WORDS; w++)
      if (i32[at + FundsCommand.signer + w] !== 0) hasSigner = true;
  const named = i32[at + FundsCommand.market]!;
  return {
    context,
    t,
    i32,
    at,
    kind,
    wallet: kind === CommandKind.drawFees ? 0 : findAccount(t, i32, at + FundsCommand.wallet),
    hasSigner,
    signer: hasSigner ? findAccount(t, i32, at + FundsCommand.signer) : 0,
    market: (named > 0 && named <= t.state[State.markets]! ? named : 0) as MarketRow | 0,
    // A declaration moves nothing: whatever stands there is no part of its body.
    amount: kind === CommandKind.declare ? 0 : f64[at / 2 + FundsCommand.amount]!,
  };
}

function sameBody(f: Funds, { amount, kind, other, subject }: StoredRequest): boolean {
  return (
    kind === f.kind && subject === f.wallet && other === otherOf(f, f.signer) && amount === f.amount
  );
}

function otherOf({ hasSigner, kind, market }: Funds, signer: AccountRow | 0): number {
  if (kind === CommandKind.split || kind === CommandKind.merge) return market;
  // A signer without an account is none that was stored.
  return hasSigner && signer === 0 ? -1 : signer;
}

function signerOf({ at, hasSigner, i32, t }: Funds): AccountRow | 0 {
  return hasSigner ? findAccount(t, i32, at + FundsCommand.signer) : 0;
}

function check(f: Funds): RejectReasonCode {
  const { amount, kind, t, wallet } = f;
  const isAmount = Number.isInteger(amount) && amount >= 1 && amount <= AMOUNT_MAX;
  if (!isAmount && kind !== CommandKind.declare) return RejectReason.amountInvalid;
  switch (kind) {
    case CommandKind.deposit:
      if (t.ledger[Ledger.deposited]! + amount > DEPOSITED_MAX)
        return RejectReason.depositsTooLarge;
      return f.hasSigner ? checkSigner(f) : accountRoom(f);
    case CommandKind.declare:
      return f.hasSigner ? checkSigner(f) : RejectReason.walletUnknown;
    case CommandKind.payFees:
    case CommandKind.payRebate:
    case CommandKind.drawFees:
      if (t.ledger[Ledger.fees]! - t.ledger[Ledger.heldFees]! < amount)
        return RejectReason.notEnough;
      return kind === CommandKind.drawFees ? RejectReason.accepted : accountRoom(f);
    default:
      if (wallet === 0) return RejectReason.walletUnknown;
  }
  if (kind === CommandKind.withdraw) {
    return freeCash(t, wallet) < amount ? RejectReason.notEnough : RejectReason.accepted;
  }
  return checkSets(f, wallet);
}

/** Refuses another signer for a wallet that has signed for itself, and any signer for the source. */
function checkSigner(f: Funds): RejectReasonCode {
  const { at, i32, signer, t, wallet } = f;
  if (sameAddress(SOURCE_ADDRESS, 0, i32, at + FundsCommand.wallet))
    return RejectReason.bindingConflict;
  const isOwn = wallet !== 0 && t.accountI[(wallet << ACCOUNT_I) + Account.binding] === wallet;
  if (isOwn && signer !== wallet) return RejectReason.bindingConflict;
  return ordersOfFormerSigner(f) === undefined ? RejectReason.signerHasOrders : accountRoom(f);
}

/** Open orders of the wallet signed by its former signer; `undefined` when there are too many for one writer turn. */
function ordersOfFormerSigner({ context, signer, t, wallet }: Funds): OrderRow[] | undefined {
  const former = t.accountI[(wallet << ACCOUNT_I) + Account.binding]! as AccountRow | 0;
  const orders: OrderRow[] = [];
  if (wallet === 0 || former === 0 || former === signer) return orders;
  const open = t.accountI[(former << ACCOUNT_I) + Account.openCount]!;
  if (open > SIGNER_ORDERS_WALKED_MAX) return undefined;
  for (let row = newestOwned(t, former); row !== 0; row = nextOwned(t, row)) {
    if (t.orderI[(row << ORDER_I) + Order.maker] !== wallet) continue;
    if (orders.length === CANCEL_ORDERS_MAX) return undefined;
    orders.push(row);
  }
  if (t.delayed.size === 0) return orders;
  const waiting = delayedWhere(context, (row) => {
    const w = row << ORDER_I;
    return t.orderI[w + Order.maker] === wallet && t.orderI[w + Order.owner] === former;
  });
  if (orders.length + waiting.length > CANCEL_ORDERS_MAX) return undefined;
  for (const row of waiting) orders.push(row as OrderRow);
  return orders;
}

function accountRoom({ at, hasSigner, i32, signer, t, wallet }: Funds): RejectReasonCode {
  const isOne =
    hasSigner && sameAddress(i32, at + FundsCommand.wallet, i32, at + FundsCommand.signer);
  const wanted = (wallet === 0 ? 1 : 0) + (hasSigner && !isOne && signer === 0 ? 1 : 0);
  const room = t.capacities.accounts - t.state[State.accounts]!;
  return wanted > room ? RejectReason.tableFull : RejectReason.accepted;
}

function checkSets(f: Funds, wallet: AccountRow): RejectReasonCode {
  const { amount, kind, market, t } = f;
  if (market === 0) return RejectReason.marketUnknown;
  if (t.marketI[(market << MARKET_I) + Market.resolution] !== 0) return RejectReason.marketResolved;
  const isSplit = kind === CommandKind.split;
  if (isSplit && freeCash(t, wallet) < amount) return RejectReason.notEnough;
  let missing = 0;
  const { count, first } = tokensOf(t, market);
  for (let token = first; token < first + count; token++) {
    const row = findPosition(t, wallet, token as TokenRow);
    if (row === 0) missing += 1;
    const d = row << POSITION_F;
    const free = t.positionF[d + Position.total]! - t.positionF[d + Position.reserved]!;
    if (!isSplit && free < amount) return RejectReason.notEnough;
  }
  return isSplit && !positionRoom(t, missing) ? RejectReason.tableFull : RejectReason.accepted;
}

export function tokensOf(t: Tables, market: MarketRow): { first: number; count: number } {
  const offset = market << MARKET_I;
  return {
    first: t.marketI[offset + Market.firstToken]!,
    count: t.marketI[offset + Market.tokenCount]!,
  };
}

export function freeCash(t: Tables, wallet: AccountRow): number {
  const d = wallet << CASH_F;
  return t.cashF[d + Cash.total]! - t.cashF[d + Cash.reserved]!;
}

function apply(f: Funds, wallet: AccountRow): void {
  const { amount, kind } = f;
  switch (kind) {
    case CommandKind.deposit:
    case CommandKind.withdraw:
      payIn(f, wallet, kind === CommandKind.deposit ? amount : -amount);
      break;
    case CommandKind.split:
    case CommandKind.merge:
      moveSets(f, wallet, f.market as MarketRow, kind === CommandKind.split ? amount : -amount);
      break;
    case CommandKind.payFees:
      payFees(f, wallet, EntryCause.fees);
      break;
    case CommandKind.payRebate:
      payFees(f, wallet, EntryCause.rebate);
      break;
    default:
      assert(kind === CommandKind.declare, 'a command of funds has a known kind');
  }
  if (f.hasSigner) changeSigner(f, wallet);
}

function changeSigner(f: Funds, wallet: AccountRow): void {
  const { at, context, i32, signer, t } = f;
  for (const order of ordersOfFormerSigner(f)!) closeOrder(context, order, EndReason.canceled);
  const isOwn = sameAddress(i32, at + FundsCommand.wallet, i32, at + FundsCommand.signer);
  const known = isOwn ? wallet : signer;
  const owner = known !== 0 ? known : makeAccount(t, i32, at + FundsCommand.signer);
  bindWallet(context, wallet, owner);
}

function drawFees(f: Funds): void {
  const { amount, t } = f;
  t.ledger[Ledger.fees]! -= amount;
  t.ledger[Ledger.deposited]! -= amount;
  enter(f, EntryCause.withdraw, 0, 0, -amount);
}

function payFees(f: Funds, wallet: AccountRow, cause: EntryCauseCode): void {
  const { amount, t } = f;
  const reference = t.ledger[Ledger.entries]!;
  t.ledger[Ledger.fees]! -= amount;
  enter(f, cause, 0, 0, -amount);
  addCash(t, wallet, amount);
  enter(f, cause, wallet, 0, amount, 0, 0, reference);
}

/** Pays cash in to a wallet, or out of it: below 0. The caller checked it. */
export function payIn(f: Pick<Funds, 'context' | 't'>, wallet: AccountRow, cash: number): void {
  f.t.ledger[Ledger.deposited]! += cash;
  addCash(f.t, wallet, cash);
  enter(f, cash > 0 ? EntryCause.deposit : EntryCause.withdraw, wallet, 0, cash);
}

function addCash(t: Tables, wallet: AccountRow, cash: number): void {
  t.cashF[(wallet << CASH_F) + Cash.total]! += cash;
  t.ledger[Ledger.cash]! += cash;
}

/** Moves complete sets of a market into a wallet, or out of it: fewer than 0. The caller checked both sides. */
export function moveSets(
  f: Pick<Funds, 'context' | 't'>,
  wallet: AccountRow,
  market: MarketRow,
  sets: number,
): void {
  const { t } = f;
  const isSplit = sets > 0;
  addCash(t, wallet, -sets);
  t.marketF[(market << MARKET_F) + Market.collateral]! += sets;
  t.ledger[Ledger.collateral]! += sets;
  const reference = t.ledger[Ledger.entries]!;
  const { count, first } = tokensOf(t, market);
  for (let outcome = 0; outcome < count; outcome++) {
    const token = (first + outcome) as TokenRow;
    const found = findPosition(t, wallet, token);
    const row = found !== 0 ? found : takePosition(t, wallet, token);
    t.positionF[(row << POSITION_F) + Position.total]! += sets;
    addCost(t, wallet, row, partOfSets(sets, outcome, count));
    const cause = isSplit ? EntryCause.split : EntryCause.merge;
    enter(f, cause, wallet, row, outcome === 0 ? -sets : 0, token, sets, reference);
    dropPosition(t, row);
  }
}

function enter(
  { context, t }: Pick<Funds, 'context' | 't'>,
  cause: EntryCauseCode,
  wallet: AccountRow | 0,
  row: PositionRow | 0,
  cash: number,
  token: TokenRow | 0 = 0,
  shares = 0,
  reference = t.ledger[Ledger.entries]!,
): void {
  const sequence = t.ledger[Ledger.entries]!;
  t.ledger[Ledger.entries] = sequence + 1;
  context.events.entry(t, cause, wallet, row, token, sequence, reference, cash, shares);
}
