/** The commands that are operations of the admin listener (operate.ts): what they take and how they print it. */

import type { OperationInput, OperationKey, OperationOutput } from '../admin/operation-table.ts';
import { aligned } from '../common/terminal.ts';
import { isUint256 } from '../common/uint256.ts';
import { checksumAddress } from '../identity/checksum.ts';
import { type Context, type Options, Refused, type Run } from './context.ts';
import { operate } from './operate.ts';
import { addressOf, numberOf, textOf } from './settings.ts';

const PAGE = 1_000;

/** A command that is one operation. `shown` returns one line, or several. */
export function command<K extends OperationKey>(
  key: K,
  inputOf: (args: readonly string[], options: Options) => OperationInput<K>,
  shown: (answer: OperationOutput<K>) => string | readonly string[],
): Run {
  return async (context, args, options) => {
    const answer = await operate(context, options, key, inputOf(args, options));
    if (options.json === true) context.stdout.json(answer);
    else context.stdout.lines([shown(answer)].flat());
    return 'done';
  };
}

/** An address, or a name that an operator has given, which the node knows. */
export function walletOf(text: string, what = 'WALLET'): string {
  if (text === '') throw new Refused(`${what} is empty`);
  return /^0x/i.test(text) ? checksumAddress(addressOf(text, what)) : text;
}
const reasonOf = (options: Options): { readonly reason?: string } => {
  const reason = textOf(options, 'reason');
  return reason === undefined ? {} : { reason };
};

export const listKeys: Run = async (context, _, options) => {
  const text = textOf(options, 'wallet');
  const wallet = text === undefined ? {} : { wallet: walletOf(text, '--wallet') };
  const rows: OperationOutput<'GET /admin/keys'>['keys'] = [];
  for (let more = true; more; ) {
    const after = rows.length === 0 ? {} : { after: rows.at(-1)!.key };
    const page = await operate(context, options, 'GET /admin/keys', { ...wallet, ...after });
    rows.push(...page.keys);
    more = page.more;
  }
  rows.sort((a, b) => (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0));
  if (options.json === true) return printLines(context, rows);
  const lines = rows.map(({ key, kind, nonce, state, wallet: of }) => [
    key,
    of,
    kind,
    nonce,
    state,
  ]);
  const [head, ...others] = aligned([['key', 'wallet', 'kind', 'nonce', 'state'], ...lines]);
  const { paint, stdout } = context;
  stdout.line(paint.bold(head!));
  stdout.lines(others.map((line, i) => (rows[i]!.state === 'active' ? line : paint.dim(line))));
  return 'done';
};

export const revokeKey = command(
  'POST /admin/keys/revoke',
  ([key = '']) => ({ key }),
  ({ changed, key, wallet }) =>
    changed ? `${key} of ${wallet} is revoked` : `${key} was revoked already`,
);

export const issueKey = command(
  'POST /admin/keys',
  ([wallet = ''], options) => {
    const nonce = textOf(options, 'nonce') ?? '0';
    if (!isUint256(nonce)) throw new Refused(`--nonce must be a whole number, not "${nonce}"`);
    return { wallet: walletOf(wallet), nonce };
  },
  (issued) => JSON.stringify(issued),
);

export const listOrders: Run = async (context, [wallet = ''], options) => {
  const of = { wallet: walletOf(wallet), limit: PAGE };
  const rows: OperationOutput<'GET /admin/orders'>['orders'] = [];
  for (let total = 1; rows.length < total; ) {
    const input = { ...of, offset: rows.length };
    const page = await operate(context, options, 'GET /admin/orders', input);
    rows.push(...page.orders);
    total = page.orders.length === 0 ? 0 : page.total;
  }
  if (options.json === true) return printLines(context, rows);
  const lines = rows.map((o) => [
    o.id,
    o.side,
    o.price,
    o.original_size,
    o.size_matched,
    o.outcome,
    o.asset_id,
  ]);
  const head = ['id', 'side', 'price', 'size', 'matched', 'outcome', 'token'];
  context.stdout.lines(aligned([head, ...lines]));
  return 'done';
};

export const cancelOrders = command(
  'POST /admin/orders/cancel',
  ([wallet = '', id]) => ({ wallet: walletOf(wallet), ...(id === undefined ? {} : { id }) }),
  ({ canceled }) => `${canceled} orders are canceled`,
);

export const ban = command(
  'POST /admin/bans',
  ([wallet = ''], options) => ({ wallet: walletOf(wallet), ...reasonOf(options) }),
  ({ canceled, changed, wallet }) =>
    `${wallet} ${changed ? 'is' : 'was already'} banned; ${canceled} of its orders ended`,
);

export const unban = command(
  'POST /admin/bans/lift',
  ([wallet = '']) => ({ wallet: walletOf(wallet) }),
  ({ changed, wallet }) => `${wallet} ${changed ? 'is not banned any more' : 'was not banned'}`,
);

export const bans = command(
  'GET /admin/bans',
  () => ({}),
  ({ bans: rows }) => {
    const lines = rows.map(({ name, reason, since, wallet }) => [wallet, name, since, reason]);
    return aligned([['wallet', 'name', 'since', 'reason'], ...lines]);
  },
);

export const pause = command(
  'POST /admin/pause',
  (_, options) => reasonOf(options),
  ({ changed }) => (changed ? 'the venue is paused: cancels are taken' : 'it was paused already'),
);

export const resume = command(
  'POST /admin/resume',
  () => ({}),
  ({ changed }) => (changed ? 'the venue is resumed' : 'it was not paused'),
);

export const listLimits = command('GET /admin/rate-limits', () => ({}), shownLimits);

export const setLimit = command(
  'POST /admin/rate-limits',
  ([name = '', limit = '']) => ({ name, limit }),
  (answer) => [...shownLimits(answer), `until the node restarts; to keep it: ${answer.setting}`],
);

function shownLimits({ limits }: OperationOutput<'GET /admin/rate-limits'>): string[] {
  const lines = limits.map(({ covers, limit, name }) => [name, limit, covers]);
  return aligned([['name', 'limit', 'covers'], ...lines]);
}

export const audit: Run = async (context, _, options) => {
  const limit = numberOf(textOf(options, 'limit') ?? '20', '--limit', 1);
  const { entries } = await operate(context, options, 'GET /admin/audit', { limit });
  if (options.json === true) return printLines(context, entries);
  const lines = entries.map(({ actor, body, error, id, route, status, time }) => {
    const result = status === undefined ? 'interrupted' : `${status}${error ? ` ${error}` : ''}`;
    return [String(id), time, actor, route, result, JSON.stringify(body)];
  });
  const head = ['id', 'time', 'actor', 'operation', 'result', 'input'];
  context.stdout.lines(aligned([head, ...lines]));
  return 'done';
};

export function printLines({ stdout }: Context, rows: readonly object[]): 'done' {
  for (const row of rows) stdout.json(row);
  return 'done';
}
