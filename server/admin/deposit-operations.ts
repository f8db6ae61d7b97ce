/**
 * Deposits of one file, a bounded number of lines in a request. The id of a deposit is the file's id and the
 * line number, so that a file sent again pays in only missing lines. A file with changed lines is refused
 * before any of them is paid in. Rules: docs/ledger.md#a-file-of-deposits
 *
 * Thread: I/O. A request becomes several batches of the engine; other batches may run between them.
 */

import type { FundsFields } from '../../engine/commands.ts';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import type { StoredRequest } from '../../engine/ledger/requests.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { addressAt, walletSigner } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { sameAddress } from '../../engine/tables/words.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import { refusalCode } from '../common/error-bodies.ts';
import type { Static } from '../common/schema.ts';
import type { LedgerCommands, LedgerOutcome } from '../wallet/ledger-commands.ts';
import { operatorRequestId } from '../wallet/request-id.ts';
import { auditedDeposits } from './audited-deposits.ts';
import { BAD_ID, LEDGER_OFF, refusalOf, usedFor, wordsOf } from './ledger-operations.ts';
import { operation, refused } from './operation-row.ts';
import { DEPOSITS_BODY_BYTES, DepositsAnswer, DepositsInput } from './venue-schemas.ts';

type Line = Static<typeof DepositsInput>['lines'][number];

interface DepositOperationParts {
  readonly t: Tables;
  readonly ledger: Pick<LedgerCommands, 'doneBefore' | 'fundsOf'>;
}

/** Lines of one batch of the engine: a fraction of a millisecond. */
const LINES_PER_BATCH = 100;

export const DEPOSIT_OPERATIONS = [
  operation(
    'POST /admin/ledger/deposits',
    {
      does: 'pays in lines of a file, each once: the id of a line is that of the file and its number',
      input: DepositsInput,
      answer: DepositsAnswer,
      bodyBytes: DEPOSITS_BODY_BYTES,
      audited: auditedDeposits,
    },
    ({ ledger, t }: DepositOperationParts) =>
      async ({ id, lines }) => {
        if (!ledgerIsOn(t)) return LEDGER_OFF;
        const deposits: FundsFields[] = [];
        for (const line of lines) {
          const fields = fieldsOf(id, line);
          if (fields === undefined) return BAD_ID;
          deposits.push(fields);
        }
        const done = await ledger.doneBefore('deposit', deposits);
        for (const [i, before] of done.entries()) {
          if (before !== undefined && !isDepositOf(t, before, deposits[i]!)) {
            const detail = `line ${lines[i]!.line}: it was used for ${usedFor(before)}; no line of this request is paid in`;
            return refused('ID_CONFLICT', detail);
          }
        }
        const answer = { id, paid: 0, repeated: 0, amount: 0, refused: [] as RefusedLine[] };
        for (let from = 0; from < lines.length; ) {
          const end = batchEnd(t, deposits, from);
          const outcomes = await ledger.fundsOf('deposit', deposits.slice(from, end));
          for (const [i, outcome] of outcomes.entries()) {
            if (outcome.kind === 'failed') return refusalOf(outcome);
            if (outcome.kind === 'refused')
              answer.refused.push(refusedLine(lines[from + i]!, outcome));
            else if (outcome.isRepeated) answer.repeated += 1;
            else {
              answer.paid += 1;
              answer.amount += outcome.first!.amount;
            }
          }
          from = end;
        }
        return { ...answer, amount: microText(answer.amount) };
      },
  ),
];

function isDepositOf(t: Tables, done: StoredRequest, { amount, wallet }: FundsFields): boolean {
  return done.subject === findAccount(t, wallet!, 0) && done.amount === amount;
}

function fieldsOf(file: string, { amount, line, signer, wallet }: Line): FundsFields | undefined {
  const id = operatorRequestId(`${file}:${line}`);
  if (id === undefined) return undefined;
  const words = { wallet: wordsOf(wallet), amount: parseMicroUp(amount) };
  return signer === undefined ? { id, ...words } : { id, ...words, signer: wordsOf(signer) };
}

/** End of the next batch. A line that replaces a signer ends orders, so it is a batch of its own. */
function batchEnd(t: Tables, deposits: readonly FundsFields[], from: number): number {
  const most = Math.min(deposits.length, from + LINES_PER_BATCH);
  for (let end = from; end < most; end++) {
    if (replacesSigner(t, deposits[end]!)) return Math.max(end, from + 1);
  }
  return most;
}

function replacesSigner(t: Tables, { signer, wallet }: FundsFields): boolean {
  if (signer === undefined) return false;
  const account = findAccount(t, wallet!, 0);
  const before = account === 0 ? 0 : walletSigner(t, account);
  return before !== 0 && !sameAddress(t.accountI, addressAt(before), signer, 0);
}

interface RefusedLine {
  readonly line: number;
  readonly error: string;
  readonly code?: string;
  readonly detail: string;
}

function refusedLine(
  { line }: Line,
  outcome: Extract<LedgerOutcome, { readonly kind: 'refused' }>,
): RefusedLine {
  const { detail, error } = refusalOf(outcome);
  const code = refusalCode(error);
  return { line, error, ...(code === undefined ? {} : { code }), detail };
}
