/**
 * `market resolve` and `market void`. A person at a terminal sees the payout and confirms it; with `--review` it is a
 * proposal first.
 */
import type { OperationInput, OperationOutput } from '../admin/operation-table.ts';
import { aligned } from '../common/terminal.ts';
import { isAnswered } from './ask.ts';
import { again, given, idOf } from './command.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { operate } from './operate.ts';
import { weightsText } from './payout-text.ts';
import { marketOf, optionOf, secondsOf, textOf } from './settings.ts';

type PayoutKey = 'POST /admin/markets/resolve' | 'POST /admin/markets/void';
type ResolveInput = OperationInput<'POST /admin/markets/resolve'>;
type Pays = Pick<ResolveInput, 'payout' | 'payouts'>;
type DryRun = OperationOutput<'POST /admin/markets/dry-run'>;

/** Wallets that a dry run lists, and those that a person sees who is asked. */
const ROWS_MAX = 1_000;
const ROWS_ASKED = 20;

function payoutOf(text: string): number[] {
  if (!/^(?:0|[1-9]\d{0,4})(?:,(?:0|[1-9]\d{0,4}))+$/.test(text)) {
    throw new Refused(
      `--payout must be whole numbers without leading zeros, such as 1,0, not "${text}"`,
    );
  }
  return text.split(',').map(Number);
}

function paysOf(options: Options): Pays {
  const winner = textOf(options, 'winner');
  const payout = textOf(options, 'payout');
  if ((winner === undefined) === (payout === undefined)) {
    throw new Refused('one of --winner and --payout says what the outcomes pay');
  }
  return winner === undefined ? { payout: payoutOf(payout!) } : { payouts: { [winner]: 1 } };
}

export const resolve = payoutCommand('POST /admin/markets/resolve', paysOf);
export const voidMarket = payoutCommand('POST /admin/markets/void', () => undefined);

function payoutCommand(key: PayoutKey, pays: (options: Options) => Pays | undefined): Run {
  return async (context, [market = ''], options) => {
    const condition = marketOf(market);
    const payout = pays(options);
    const review = optionOf(options, 'review', secondsOf);
    const dryRun = (limit: number): Promise<DryRun> =>
      operate(context, options, 'POST /admin/markets/dry-run', {
        condition,
        ...(payout ?? { void: true }),
        limit,
      });
    if (options.dryRun === true) {
      const found = await dryRun(ROWS_MAX);
      if (options.json === true) context.stdout.json(found);
      else context.stdout.lines(dryRunLines(found));
      return 'done';
    }
    const id = idOf(options);
    const confirmed = await isConfirmed(context, options, async () => [
      ...dryRunLines(await dryRun(ROWS_ASKED)),
      review === undefined
        ? `${market} is paid at once, and this cannot be taken back.`
        : `${market} is halted now, and paid after ${textOf(options, 'review')}.`,
    ]);
    const confirm = confirmed ? true : undefined;
    const note = textOf(options, 'note');
    const input = given({ condition, ...payout, review, id, confirm, note });
    const answer = await operate(context, options, key, input);
    if (options.json === true) context.stdout.json(answer);
    else context.stdout.line(resolvedText(answer));
    return 'done';
  };
}

/** Asks the person at a terminal. A program must pass `--yes` under RESOLVE_CONFIRM=always. */
async function isConfirmed(
  context: Context,
  { yes }: Options,
  lines: () => Promise<readonly string[]>,
): Promise<boolean> {
  if (yes === true) return true;
  const { env, stderr, stdin } = context;
  const isAsked = stderr.isTerminal && (stdin as { readonly isTTY?: boolean }).isTTY === true;
  if (!isAsked) {
    if (env.RESOLVE_CONFIRM !== 'always') return false;
    throw new Refused('RESOLVE_CONFIRM=always: --yes says that the payout is meant');
  }
  stderr.lines(await lines());
  if (await isAnswered(context, 'Type yes to go on: ', 'yes')) return true;
  throw new Refused('it was not confirmed: nothing has changed', 'failed');
}

function dryRunLines(found: DryRun): string[] {
  const rows = found.by_outcome.map((row, i) => [
    row.outcome === '' ? row.token_id : row.outcome,
    String(found.payout[i]),
    String(row.wallets),
    row.shares,
    row.paid,
    row.venue_paid,
  ]);
  const head = ['outcome', 'weight', 'wallets', 'shares', 'paid', 'to the venue'];
  const { open_orders: orders, paid, released, rounding, venue_paid: venue, wallets } = found;
  const all = ['all', '', String(wallets), '', paid, venue];
  const holders = found.rows.map((row) => [
    row.name === '' ? row.wallet : `${row.wallet} ${row.name}`,
    row.outcome === '' ? row.token_id : row.outcome,
    row.shares,
    row.paid,
  ]);
  const held = found.by_outcome.reduce((total, row) => total + row.wallets, 0);
  const further = held - holders.length;
  return [
    ...aligned([head, ...rows, all], (column) => column > 0),
    ...(holders.length === 0
      ? []
      : aligned([['wallet', 'outcome', 'shares', 'paid'], ...holders], (column) => column > 1)),
    ...(further === 0 ? [] : [`and ${further} more`]),
    `rounding leaves ${rounding} to the venue; ${orders} open orders end, which reserve ${released}`,
  ];
}

function resolvedText(answer: OperationOutput<PayoutKey>): string {
  const { condition, deadline, id, repeated, state } = answer;
  const what =
    deadline === undefined
      ? `pays ${weightsText(answer)}`
      : `is proposed to pay ${weightsText(answer)} from ${deadline} on`;
  return `${id}: ${condition} ${what} and is ${state}${again(repeated)}`;
}
