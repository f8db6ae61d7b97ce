/**
 * Routes of the ledger for the owner of an API key: balances, split and merge. Rules: docs/protocol.md#balances
 *
 * Thread: I/O. Reads the applied state, which may be some milliseconds ahead of the disk.
 */

import {
  cashReserved,
  cashTotal,
  ledgerIsOn,
  positionsOf,
  positionToken,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { wholeCondition } from '../../storage/catalog/condition-ids.ts';
import { bodyFault } from '../common/body-fault.ts';
import { errorBody, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { nextIteration } from '../common/event-loop.ts';
import { readJson } from '../common/json.ts';
import { REFUSALS, REJECTS } from '../common/refusals.ts';
import { compileShape } from '../common/schema.ts';
import { bytesToWords } from '../common/uint256.ts';
import type { RequestContext } from '../http/http.ts';
import { route } from '../http/route.ts';
import { marketByCondition } from '../market-data/find.ts';
import { type BalanceParts, balanceAllowance } from './balance-allowance.ts';
import type { LedgerCommands, LedgerOutcome } from './ledger-commands.ts';
import {
  BALANCE_QUERY,
  BalanceAnswer,
  LEDGER_BALANCE_QUERY,
  LedgerBalanceAnswer,
  SETS_BOUNDS,
  SetsAnswer,
  SetsBody,
} from './ledger-schemas.ts';
import { userRequestId } from './request-id.ts';
import { refuseForeign } from './wallet-access.ts';

export interface LedgerRouteParts extends BalanceParts {
  /** `undefined` on a node that cannot write. */
  readonly ledger: LedgerCommands | undefined;
}

interface Amounts {
  readonly total: number;
  readonly reserved: number;
}

const POSITIONS_PER_TURN = 500;
const LEDGER_OFF = errorBody('LEDGER_OFF');

const setsBody = compileShape(SetsBody);

export const LEDGER_ROUTES = [
  route(
    'GET /balance-allowance',
    {
      access: 'level2-read',
      query: BALANCE_QUERY,
      answer: BalanceAnswer,
      does: 'what a wallet has: `asset_type token_id signature_type wallet`; without a ledger the largest amount',
    },
    (parts: LedgerRouteParts) => balanceAllowance(parts),
  ),
  route(
    'GET /balance-allowance/update',
    {
      access: 'level2-read',
      query: BALANCE_QUERY,
      answer: BalanceAnswer,
      repeats: true,
      does: 'the same: there is nothing to bring up to date',
    },
    (parts: LedgerRouteParts) => balanceAllowance(parts),
  ),
  route(
    'GET /ledger/balance',
    {
      access: 'level2-read',
      query: LEDGER_BALANCE_QUERY,
      answer: LedgerBalanceAnswer,
      conflicts: true,
      does: "cash and shares of the caller's wallet: total, reserved by open orders, free: `wallet`; needs a ledger",
    },
    ({ access, sequenceLock, tables, texts }: LedgerRouteParts) => {
      const words = new Int32Array(ADDRESS_WORDS);
      return async (context, query, { address }) => {
        if (!ledgerIsOn(tables)) {
          return context.reply(REFUSALS.LEDGER_OFF.status, LEDGER_OFF);
        }
        const wallet = await access.readable(query.wallet, address);
        if (wallet === undefined) return refuseForeign(context);
        const { cash, positions } = await sequenceLock.read(() =>
          balancesOf(tables, wallet, words),
        );
        const shown: object[] = [];
        for (const [i, { token, ...amounts }] of positions.entries()) {
          if (i > 0 && i % POSITIONS_PER_TURN === 0) await nextIteration();
          shown.push({ token_id: texts.tokenId(token), ...amountTexts(amounts) });
        }
        context.reply(200, JSON.stringify({ cash: amountTexts(cash), positions: shown }));
      };
    },
  ),
  route(
    'POST /split',
    {
      access: 'level2',
      limits: ['sets', 'trading'],
      body: SetsBody,
      bodyBounds: SETS_BOUNDS,
      answer: SetsAnswer,
      conflicts: true,
      does: 'cash becomes complete sets of a market: `{"conditionId", "amount", "id"}`; needs a ledger',
    },
    (parts: LedgerRouteParts) =>
      (context, _query, { address }) =>
        readJson(context, SETS_BOUNDS, (sent) => sets(parts, context, 'split', address, sent)),
  ),
  route(
    'POST /merge',
    {
      access: 'level2',
      limits: ['sets', 'trading'],
      body: SetsBody,
      bodyBounds: SETS_BOUNDS,
      answer: SetsAnswer,
      conflicts: true,
      does: 'complete sets become cash again: the same body',
    },
    (parts: LedgerRouteParts) =>
      (context, _query, { address }) =>
        readJson(context, SETS_BOUNDS, (sent) => sets(parts, context, 'merge', address, sent)),
  ),
];

/** @param words memory that is used again */
function balancesOf(t: Tables, address: Uint8Array, words: Int32Array) {
  const account = findAccount(t, bytesToWords(address, words), 0);
  const positions = positionsOf(t, account).map((row) => ({
    token: positionToken(t, row),
    total: sharesTotal(t, row),
    reserved: sharesReserved(t, row),
  }));
  return {
    cash: { total: cashTotal(t, account), reserved: cashReserved(t, account) },
    positions: positions.filter(({ total }) => total > 0),
  };
}

async function sets(
  { ledger, tables }: LedgerRouteParts,
  context: RequestContext,
  kind: 'split' | 'merge',
  address: Uint8Array,
  sent: unknown,
): Promise<void> {
  if (!setsBody.matches(sent)) return context.reply(400, bodyFault(SetsBody, setsBody.fault(sent)));
  const { amount, conditionId, id } = sent;
  if (ledger === undefined) return context.reply(503, JOURNAL_UNAVAILABLE);
  const outcome = await ledger.funds(kind, {
    id: userRequestId(id, address)!,
    wallet: bytesToWords(address, new Int32Array(ADDRESS_WORDS)),
    market: marketByCondition(tables, conditionId),
    amount: Number(amount),
  });
  if (outcome.kind !== 'done') return context.reply(outcome.status, bodyOf(outcome));
  const { result: cash, time } = outcome.first!;
  const answer = {
    id,
    conditionId: wholeCondition(conditionId),
    amount: String(Number(amount)),
    cash: String(cash),
  };
  context.reply(200, JSON.stringify({ ...answer, timestamp: String(time) }));
}

function bodyOf(outcome: Exclude<LedgerOutcome, { readonly kind: 'done' }>): string {
  if (outcome.kind === 'failed') return outcome.body;
  const { explanation, reason } = outcome;
  return errorBody(REJECTS[reason].code, explanation?.detail, { facts: explanation?.facts });
}

function amountTexts({ reserved, total }: Amounts) {
  return { total: String(total), reserved: String(reserved), free: String(total - reserved) };
}
