/**
 * Operations on the ledger: what an operator pays in and out, and what wallets have.
 *
 * Thread: I/O, while workers write.
 */
import { randomBytes } from 'node:crypto';
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
import { tokenIdAt } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import { REFUSALS } from '../common/refusals.ts';
import { bytesToWords, wordsToDecimal } from '../common/uint256.ts';
import { checksumAddress } from '../identity/checksum.ts';
import type { LedgerCommands, LedgerOutcome } from '../ledger/ledger-commands.ts';
import { ID_RULE, operatorRequestId } from '../ledger/request-id.ts';
import { accountByAddress } from '../market-data/find.ts';
import type { SeqlockReader } from '../orders/seqlock-reader.ts';
import { addressOf } from './key-operations.ts';
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers, OperationOutput } from './operation-table.ts';

type LedgerOperation =
  | 'POST /admin/ledger/deposit'
  | 'POST /admin/ledger/withdraw'
  | 'POST /admin/ledger/declare'
  | 'GET /admin/ledger/balance'
  | 'GET /admin/ledger';

export interface LedgerOperationParts {
  readonly t: Tables;
  readonly seqlock: SeqlockReader;
  readonly ledger: Pick<LedgerCommands, 'funds' | 'resolve'>;
  readonly now: () => number;
}

export const BAD_ID = new OperationRefused(400, REFUSALS.ID_INVALID[0], `id: ${ID_RULE}`);
export const LEDGER_OFF = new OperationRefused(409, REFUSALS.LEDGER_OFF[0], 'LEDGER=on makes one');
export const NO_WALLET = new OperationRefused(
  404,
  REFUSALS.UNKNOWN_WALLET[0],
  'nothing was ever paid in to it',
);
const RANDOM_BYTES = 8;

/** An id that no other request has. */
export function newRequestId(now: number): string {
  return `${now}-${randomBytes(RANDOM_BYTES).toString('hex')}`;
}

export function ledgerOperations(parts: LedgerOperationParts): OperationHandlers<LedgerOperation> {
  const { ledger, now, seqlock, t } = parts;
  const funds =
    (kind: 'deposit' | 'withdraw') =>
    async (
      input: FundsInput,
    ): Promise<OperationOutput<'POST /admin/ledger/deposit'> | OperationRefused> => {
      const { amount, id: text = newRequestId(now()), signer, wallet } = input;
      const id = operatorRequestId(text);
      if (id === undefined) return BAD_ID;
      const signed = signer === undefined ? {} : { signer: wordsOf(signer) };
      const outcome = await ledger.funds(kind, {
        id,
        wallet: wordsOf(wallet),
        amount: parseMicroUp(amount),
        ...signed,
      });
      if (outcome.kind !== 'done') return refusalOf(outcome);
      const { cash, time } = outcome.first!;
      return {
        id: text,
        wallet: checksumAddress(addressOf(wallet)),
        amount: microText(outcome.first!.amount),
        cash: microText(cash),
        time,
        repeated: outcome.isRepeated,
      };
    };
  return {
    'POST /admin/ledger/deposit': funds('deposit'),
    'POST /admin/ledger/withdraw': funds('withdraw'),
    async 'POST /admin/ledger/declare'({ id: text = newRequestId(now()), signer, wallet }) {
      const id = operatorRequestId(text);
      if (id === undefined) return BAD_ID;
      const words = { wallet: wordsOf(wallet), signer: wordsOf(signer) };
      const outcome = await ledger.funds('declare', { id, ...words });
      if (outcome.kind !== 'done') return refusalOf(outcome);
      const [of, by] = [wallet, signer].map((one) => checksumAddress(addressOf(one)));
      return { id: text, wallet: of!, signer: by!, repeated: outcome.isRepeated };
    },
    'GET /admin/ledger/balance': ({ wallet }) =>
      ledgerIsOn(t) ? seqlock.read(() => balanceOf(t, wallet)) : LEDGER_OFF,
    'GET /admin/ledger': () => (ledgerIsOn(t) ? seqlock.read(() => totalsOf(t)) : LEDGER_OFF),
  };
}

interface FundsInput {
  readonly wallet: string;
  readonly amount: string;
  readonly signer?: string;
  readonly id?: string;
}

/** Nothing has changed. */
export function refusalOf(outcome: Exclude<LedgerOutcome, { readonly kind: 'done' }>) {
  if (outcome.kind === 'refused') return new OperationRefused(outcome.status, outcome.text);
  const { error } = JSON.parse(outcome.body) as { readonly error: string };
  return new OperationRefused(503, error, 'send it again with the same id');
}

/** The sums of the ledger as decimal texts. */
export function totalsOf(t: Tables): OperationOutput<'GET /admin/ledger'> {
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
): OperationOutput<'GET /admin/ledger/balance'> | OperationRefused {
  const account = accountByAddress(t, wallet);
  if (account === 0) return NO_WALLET;
  return {
    wallet: checksumAddress(addressOf(wallet)),
    cash: sumsOf(cashTotal(t, account), cashReserved(t, account)),
    positions: positionsOf(t, account)
      .filter((row) => sharesTotal(t, row) !== 0)
      .map((row) => ({
        token_id: wordsToDecimal(t.tokenI, tokenIdAt(positionToken(t, row))),
        ...sumsOf(sharesTotal(t, row), sharesReserved(t, row)),
      })),
  };
}

/** While a writer is inside, what is read may not fit together: it is read again. */
function sumsOf(total: number, reserved: number) {
  const free = Math.max(0, total - reserved);
  return { total: microText(total), reserved: microText(reserved), free: microText(free) };
}

function wordsOf(wallet: string): Int32Array {
  return bytesToWords(addressOf(wallet), new Int32Array(ADDRESS_WORDS));
}
