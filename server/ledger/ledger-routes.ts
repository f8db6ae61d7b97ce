/**
 * Routes of the ledger for the owner of an API key: what its wallet has, and complete sets made of cash and back.
 * Rules: docs/protocol.md#balances
 *
 * Thread: I/O. Reads what is applied, which may be some milliseconds ahead of the disk.
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
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import { bodyFault } from '../common/body-fault.ts';
import { errorBody, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { nextTurn } from '../common/next-turn.ts';
import { compileShape } from '../common/schema.ts';
import { bytesToWords } from '../common/uint256.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import type { KeyOwner } from '../identity/auth.ts';
import { marketByCondition } from '../market-data/find.ts';
import { REJECT_TEXTS } from '../orders/reject-texts.ts';
import { type BalanceParts, balanceAllowance } from './balance-allowance.ts';
import type { LedgerCommands, LedgerOutcome } from './ledger-commands.ts';
import { refusalStatus } from './refusals.ts';
import { userRequestId } from './request-id.ts';
import { SETS_BOUNDS, SetsBody } from './schemas.ts';

export interface LedgerRouteParts extends BalanceParts {
  /** Undefined where nothing can be written. */
  readonly ledger: LedgerCommands | undefined;
}

interface Amounts {
  readonly total: number;
  readonly reserved: number;
}

/** Texts of positions that are written without a pause. */
const POSITIONS_PER_TURN = 500;
const LEDGER_OFF = errorBody(REJECT_TEXTS[RejectReason.ledgerOff]);

const setsBody = compileShape(SetsBody);

export function ledgerHandlers(parts: LedgerRouteParts) {
  const { ledger, seqlock, tables: t, texts } = parts;
  const words = new Int32Array(ADDRESS_WORDS);

  const balancesOf = (address: Uint8Array) => {
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
  };

  const balance: Handler<unknown, KeyOwner> = async (context, _query, { address }) => {
    if (!ledgerIsOn(t)) return context.reply(refusalStatus(RejectReason.ledgerOff), LEDGER_OFF);
    const { cash, positions } = await seqlock.read(() => balancesOf(address));
    const shown: object[] = [];
    for (const [i, { token, ...amounts }] of positions.entries()) {
      if (i > 0 && i % POSITIONS_PER_TURN === 0) await nextTurn();
      shown.push({ token_id: texts.tokenId(token), ...amountTexts(amounts) });
    }
    context.reply(200, JSON.stringify({ cash: amountTexts(cash), positions: shown }));
  };

  const sets = async (
    context: RequestContext,
    kind: 'split' | 'merge',
    address: Uint8Array,
    sent: unknown,
  ): Promise<void> => {
    if (!setsBody.matches(sent))
      return context.reply(400, bodyFault(SetsBody, setsBody.fault(sent)));
    const { amount, conditionId, id } = sent;
    if (ledger === undefined) return context.reply(503, JOURNAL_UNAVAILABLE);
    const outcome = await ledger.funds(kind, {
      id: userRequestId(id, address)!,
      wallet: bytesToWords(address, new Int32Array(ADDRESS_WORDS)),
      market: marketByCondition(t, conditionId),
      amount: Number(amount),
    });
    if (outcome.kind !== 'done') return context.reply(outcome.status, bodyOf(outcome));
    const { result: cash, time } = outcome.first!;
    const answer = { id, conditionId, amount: String(Number(amount)), cash: String(cash) };
    context.reply(200, JSON.stringify({ ...answer, timestamp: String(time) }));
  };
  const handlerOf =
    (kind: 'split' | 'merge'): Handler<unknown, KeyOwner> =>
    (context, _query, { address }) =>
      readJson(context, SETS_BOUNDS, (sent) => sets(context, kind, address, sent));

  const allowance = balanceAllowance(parts);
  return {
    'GET /ledger/balance': balance,
    'GET /balance-allowance': allowance,
    'GET /balance-allowance/update': allowance,
    'POST /split': handlerOf('split'),
    'POST /merge': handlerOf('merge'),
  };
}

function bodyOf(outcome: Exclude<LedgerOutcome, { readonly kind: 'done' }>): string {
  if (outcome.kind === 'failed') return outcome.body;
  const { explanation, text } = outcome;
  return errorBody(text, explanation?.detail, explanation?.facts);
}

function amountTexts({ reserved, total }: Amounts) {
  return { total: String(total), reserved: String(reserved), free: String(total - reserved) };
}
