/**
 * `ledger deposit`: collateral for one wallet, or for all of a file. A file is sent in requests of a bounded number
 * of lines. Each line is paid in once, so the same command continues after an interruption.
 */
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationOutput } from '../admin/operation-table.ts';
import { DEPOSIT_LINES_MAX } from '../admin/venue-schemas.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import { again, command, given, idOf, walletOf } from './command.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { type Deposit, type DepositFile, readDeposits } from './deposit-file.ts';
import { AnswerError } from './node-request.ts';
import { operate } from './operate.ts';
import { optionOf, textOf } from './settings.ts';

type Paid = OperationOutput<'POST /admin/ledger/deposits'>;

/** A busy or starting node, or one that has lost the lead, accepts the lines some seconds later. */
const RETRY_MS = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000];
const UNAVAILABLE: readonly number[] = [0, 503];
const CONFLICT = 409;

const one = command(
  'POST /admin/ledger/deposit',
  ([wallet = '', amount = ''], options) =>
    given({
      wallet: walletOf(wallet),
      amount,
      signer: optionOf(options, 'signer', walletOf),
      id: idOf(options),
    }),
  ({ amount, cash, id, repeated, wallet }) =>
    `${id}: ${amount} is paid in to ${wallet}, which has ${cash}${again(repeated)}`,
);

export const deposit: Run = async (context, args, options) => {
  const path = textOf(options, 'file');
  if (path === undefined) {
    if (args.length < 2) throw new Refused('WALLET and AMOUNT are missing, or --file');
    return one(context, args, options);
  }
  if (args.length > 0 || options.signer !== undefined) {
    throw new Refused('--file has wallets, amounts and signers: give nothing else');
  }
  const id = textOf(options, 'id') ?? basename(path);
  const file = readDeposits(path, id);
  if (options.dryRun === true) {
    const sum = microText(file.sum);
    context.stdout.line(
      `${id}: ${file.deposits.length} deposits of ${sum} in all; nothing is paid in`,
    );
    return 'done';
  }
  const paid = await payIn(context, options, id, file);
  if (options.json === true) context.stdout.json({ lines: file.deposits.length, ...paid });
  else {
    const before = paid.repeated === 0 ? '' : `; ${paid.repeated} were done before`;
    const lines = `${paid.paid} of ${file.deposits.length} lines are paid in`;
    context.stdout.line(`${id}: ${lines}, ${paid.amount} in all${before}`);
    context.stderr.lines(
      paid.refused.map(({ detail, error, line }) =>
        [`${path}:${line}: ${error}`, ...(detail === '' ? [] : [detail])].join(': '),
      ),
    );
  }
  return paid.refused.length === 0 ? 'done' : 'failed';
};

async function payIn(
  context: Context,
  options: Options,
  id: string,
  { deposits }: DepositFile,
): Promise<Paid> {
  const all = { id, paid: 0, repeated: 0, refused: [] as Paid['refused'] };
  let micro = 0;
  for (let from = 0; from < deposits.length; from += DEPOSIT_LINES_MAX) {
    context.progress.show('deposits', from, deposits.length);
    const lines = deposits.slice(from, from + DEPOSIT_LINES_MAX);
    const answer = await sent(context, options, id, lines).catch((error: Error) => {
      const done = `${from} of ${deposits.length} lines are done`;
      const next =
        error instanceof AnswerError && error.status === CONFLICT
          ? 'the file is not the one of which lines were paid in'
          : 'the same command goes on where it stopped';
      throw new Error(`${error.message}\n${done}: ${next}`);
    });
    all.paid += answer.paid;
    all.repeated += answer.repeated;
    all.refused.push(...answer.refused);
    micro += parseMicroUp(answer.amount);
  }
  return { ...all, amount: microText(micro) };
}

/** Sends lines, and repeats them while the node is unavailable. Repeated lines are not paid twice. */
async function sent(
  context: Context,
  options: Options,
  id: string,
  lines: readonly Deposit[],
): Promise<Paid> {
  for (let tries = 0; ; tries++) {
    try {
      const input = { id, lines: [...lines] };
      return await operate(context, options, 'POST /admin/ledger/deposits', input);
    } catch (error) {
      const isPassing = error instanceof AnswerError && UNAVAILABLE.includes(error.status);
      const wait = RETRY_MS[tries];
      if (!isPassing || wait === undefined || context.signal.aborted) throw error;
      await sleep(wait);
    }
  }
}
