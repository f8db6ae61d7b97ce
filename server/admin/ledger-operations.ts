/**
 * Operations on the ledger: payments in and out by an operator, and balances of wallets.
 *
 * Thread: I/O, while workers write.
 */

import { randomBytes } from 'node:crypto';
import { CommandKind, type FundsFields } from '../../engine/commands.ts';
import {
  cashReserved,
  cashTotal,
  ledgerIsOn,
  ledgerTotals,
  positionsOf,
  positionToken,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import type { StoredRequest } from '../../engine/ledger/requests.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import { REFUSALS } from '../common/refusals.ts';
import type { Static } from '../common/schema.ts';
import { bytesToWords } from '../common/uint256.ts';
import { accountByAddress } from '../market-data/find.ts';
import type { SequenceLockReader } from '../orders/exchange-memory/sequence-lock-reader.ts';
import type { LedgerCommands, LedgerOutcome } from '../wallet/ledger-commands.ts';
import { OPERATOR_ID_RULE, operatorRequestId } from '../wallet/request-id.ts';
import { addressOf, checksumText } from './key-operations.ts';
import { OperationRefused, operation, refused } from './operation-row.ts';
import { NoInput } from './operation-schemas.ts';
import {
  BalanceAnswer,
  BalanceInput,
  DeclareAnswer,
  DeclareInput,
  DepositInput,
  DrawFeesAnswer,
  DrawFeesInput,
  FundsAnswer,
  FundsInput,
  TotalsAnswer,
} from './venue-schemas.ts';

export interface LedgerOperationParts {
  readonly t: Tables;
  readonly sequenceLock: SequenceLockReader;
  readonly ledger: Pick<LedgerCommands, 'endSeason' | 'funds' | 'resolve' | 'withdrawProposal'>;
  readonly now: () => number;
}

export const BAD_ID = refused(
  'ID_INVALID',
  `id: ${OPERATOR_ID_RULE}`,
  REFUSALS.ID_INVALID.texts[1],
);
export const LEDGER_OFF = refused('LEDGER_OFF', 'LEDGER=on makes one');
export const NO_WALLET = refused('UNKNOWN_WALLET', 'nothing was ever paid in to it');
const RANDOM_BYTES = 8;

export function newRequestId(now: number): string {
  return `${now}-${randomBytes(RANDOM_BYTES).toString('hex')}`;
}

export interface TokenTexts {
  readonly token_id: string;
  readonly condition_id: string;
  readonly outcome: string;
  readonly slug: string;
}
type NameToken = (token: TokenRow) => TokenTexts;

export const LEDGER_OPERATIONS = [
  operation(
    'POST /admin/ledger/deposit',
    {
      does: 'pays collateral in to a wallet; with `signer` it also says who may sign for it',
      input: DepositInput,
      answer: FundsAnswer,
    },
    paying('deposit'),
  ),
  operation(
    'POST /admin/ledger/withdraw',
    {
      does: 'pays free collateral out of a wallet',
      input: FundsInput,
      answer: FundsAnswer,
    },
    paying('withdraw'),
  ),
  operation(
    'POST /admin/ledger/declare',
    {
      does: 'says who may sign for a wallet',
      input: DeclareInput,
      answer: DeclareAnswer,
    },
    (parts: LedgerServiceParts) =>
      ({ id, signer, wallet }) =>
        commanded(
          parts,
          'declare',
          id,
          { wallet: wordsOf(wallet), signer: wordsOf(signer) },
          () => ({
            wallet: checksumText(wallet),
            signer: checksumText(signer),
          }),
        ),
  ),
  operation(
    'POST /admin/ledger/fees/pay',
    {
      does: 'pays fees of the venue to a wallet',
      input: FundsInput,
      answer: FundsAnswer,
    },
    paying('payFees'),
  ),
  operation(
    'POST /admin/ledger/fees/draw',
    {
      does: 'takes fees of the venue out of the ledger, as a withdrawal does',
      input: DrawFeesInput,
      answer: DrawFeesAnswer,
    },
    (parts: LedgerServiceParts) =>
      ({ amount, id }) =>
        commanded(parts, 'drawFees', id, { amount: parseMicroUp(amount) }, (first) => ({
          amount: microText(first.amount),
          fees: microText(first.result),
          time: first.time,
        })),
  ),
  operation(
    'GET /admin/ledger/balance',
    {
      does: 'cash and shares of a wallet',
      input: BalanceInput,
      answer: BalanceAnswer,
    },
    ({ nameToken, sequenceLock, t }: LedgerServiceParts) =>
      ({ wallet }) =>
        ledgerIsOn(t) ? sequenceLock.read(() => balanceOf(t, wallet, nameToken)) : LEDGER_OFF,
  ),
  operation(
    'GET /admin/ledger',
    {
      does: 'the sums of the whole ledger',
      input: NoInput,
      answer: TotalsAnswer,
    },
    ({ sequenceLock, t }: LedgerServiceParts) =>
      () =>
        ledgerIsOn(t) ? sequenceLock.read(() => totalsOf(t)) : LEDGER_OFF,
  ),
];

interface LedgerServiceParts extends LedgerOperationParts {
  readonly nameToken: NameToken;
}

/** @param shown members of the answer, from the request that was done first under the id */
async function commanded<Shown extends object>(
  { ledger, now }: LedgerOperationParts,
  kind: Parameters<LedgerCommands['funds']>[0],
  text = newRequestId(now()),
  fields: Omit<FundsFields, 'id'>,
  shown: (first: StoredRequest) => Shown,
) {
  const id = operatorRequestId(text);
  if (id === undefined) return BAD_ID;
  const outcome = await ledger.funds(kind, { id, ...fields });
  if (outcome.kind !== 'done') return refusalOf(outcome);
  return { id: text, ...shown(outcome.first!), repeated: outcome.isRepeated };
}

function paying(kind: 'deposit' | 'withdraw' | 'payFees') {
  return (parts: LedgerServiceParts) =>
    ({ amount, id, signer, wallet }: Static<typeof DepositInput>) => {
      const words = { wallet: wordsOf(wallet), amount: parseMicroUp(amount) };
      const fields = signer === undefined ? words : { ...words, signer: wordsOf(signer) };
      return commanded(parts, kind, id, fields, (first) => ({
        wallet: checksumText(wallet),
        amount: microText(first.amount),
        cash: microText(first.result),
        time: first.time,
      }));
    };
}

export function refusalOf(outcome: Exclude<LedgerOutcome, { readonly kind: 'done' }>) {
  if (outcome.kind === 'refused') {
    const { explanation, status, text } = outcome;
    return new OperationRefused(
      status,
      text,
      explanation?.detail ?? detailOf(outcome),
      explanation?.facts,
    );
  }
  const { error } = JSON.parse(outcome.body) as { readonly error: string };
  return new OperationRefused(503, error, 'send it again with the same id');
}

function detailOf({ first, reason }: Extract<LedgerOutcome, { readonly kind: 'refused' }>): string {
  switch (reason) {
    case RejectReason.idConflict:
      return first === undefined ? '' : `it was used for ${usedFor(first)}`;
    case RejectReason.idInvalid:
      return '13 digits at its beginning are unix milliseconds; any other text may be an id';
    case RejectReason.idsFull:
      return 'ids that begin with unix milliseconds are taken; OPERATOR_IDS_MAX may grow';
    default:
      return '';
  }
}

export function usedFor({ amount, kind, time }: StoredRequest): string {
  const name = NAMES.get(kind) ?? 'another command';
  // `amount` of a proposal is the time for a review.
  const of = amount === 0 || kind === CommandKind.propose ? '' : ` of ${microText(amount)}`;
  return `${name}${of} at ${new Date(time).toISOString()}`;
}

const NAMES: ReadonlyMap<number, string> = new Map([
  [CommandKind.deposit, 'a deposit'],
  [CommandKind.withdraw, 'a withdrawal'],
  [CommandKind.declare, 'a declaration'],
  [CommandKind.resolve, 'a resolution'],
  [CommandKind.propose, 'a proposal'],
  [CommandKind.withdrawProposal, 'the withdrawal of a proposal'],
  [CommandKind.payFees, 'a payment of fees'],
  [CommandKind.payRebate, 'a rebate'],
  [CommandKind.drawFees, 'a withdrawal of fees'],
  [CommandKind.season, 'the end of a season'],
]);

export function totalsOf(t: Tables): Static<typeof TotalsAnswer> {
  const { cash, collateral, deposited, fees, imbalance, rounding, ...counts } = ledgerTotals(t);
  return {
    deposited: microText(deposited),
    cash: microText(cash),
    collateral: microText(collateral),
    fees: microText(fees),
    rounding: signedText(rounding),
    imbalance: signedText(imbalance),
    ...counts,
  };
}

export function signedText(micro: number): string {
  return micro < 0 ? `-${microText(-micro)}` : microText(micro);
}

function balanceOf(
  t: Tables,
  wallet: string,
  nameToken: NameToken,
): Static<typeof BalanceAnswer> | OperationRefused {
  const account = accountByAddress(t, wallet);
  if (account === 0) return NO_WALLET;
  return {
    wallet: checksumText(wallet),
    cash: sumsOf(cashTotal(t, account), cashReserved(t, account)),
    positions: positionsOf(t, account)
      .filter((row) => sharesTotal(t, row) !== 0)
      .map((row) => ({
        ...nameToken(positionToken(t, row)),
        ...sumsOf(sharesTotal(t, row), sharesReserved(t, row)),
      })),
  };
}

/** Sums as texts; a read during a writer turn may be inconsistent and is repeated. */
export function sumsOf(total: number, reserved: number) {
  const free = Math.max(0, total - reserved);
  return { total: microText(total), reserved: microText(reserved), free: microText(free) };
}

export function wordsOf(wallet: string): Int32Array {
  return bytesToWords(addressOf(wallet), new Int32Array(ADDRESS_WORDS));
}
