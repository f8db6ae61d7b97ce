/**
 * The operations of the admin listener, one row each: what it does, what it takes, what it answers. A GET
 * reads; a POST changes something and, unless its row says otherwise, gets an entry in the audit log. Validation, document, README and the
 * types of the handlers come from this table.
 */
import type { Static } from '../common/schema.ts';
import { auditedDeposits } from './audited-deposits.ts';
import * as c from './cluster-schemas.ts';
import type { OperationHandler, OperationRow } from './operation-row.ts';
import * as s from './operation-schemas.ts';
import * as p from './play-schemas.ts';
import * as v from './venue-schemas.ts';

export const OPERATIONS = {
  'GET /admin/keys': {
    does: 'API keys and read-only keys that were issued, without their secrets',
    input: s.KeysInput,
    answer: s.KeysAnswer,
  },
  'POST /admin/keys': {
    does: 'issues the API key of a wallet and nonce without its signature',
    input: s.IssueInput,
    answer: s.IssuedAnswer,
  },
  'POST /admin/keys/revoke': {
    does: 'revokes a key',
    input: s.RevokeInput,
    answer: s.RevokedAnswer,
  },
  'GET /admin/orders': {
    does: 'open orders of a wallet, newest first: those that it signed, and those that it pays for',
    input: s.OrdersInput,
    answer: s.OrdersAnswer,
  },
  'POST /admin/orders/cancel': {
    does: 'cancels all open orders of a wallet, or the one of that `id`',
    input: s.CancelInput,
    answer: s.CanceledAnswer,
  },
  'GET /admin/wallets': {
    does: 'wallets that were paid in or have traded, and those with a name: cash, open orders, bans',
    input: s.WalletsInput,
    answer: s.WalletsAnswer,
  },
  'POST /admin/wallets/name': {
    does: 'gives a wallet a name, which only operators see and by which they may name it; without `name` takes it away',
    input: s.NameInput,
    answer: s.NamedAnswer,
  },
  'GET /admin/bans': { does: 'banned wallets', input: s.NoInput, answer: s.BansAnswer },
  'POST /admin/bans': {
    does: 'bans a wallet: its keys are answered 403, orders for it are refused, its open orders end',
    input: s.BanInput,
    answer: s.BannedAnswer,
  },
  'POST /admin/bans/lift': {
    does: 'lifts the ban of a wallet: its keys work again',
    input: s.LiftInput,
    answer: s.LiftedAnswer,
  },
  'GET /admin/pause': {
    does: 'whether an operator has paused the venue',
    input: s.NoInput,
    answer: s.PauseAnswer,
  },
  'POST /admin/pause': {
    does: 'pauses the venue, also over a restart: orders are refused; cancels, splits and merges are taken',
    input: s.PauseInput,
    answer: s.PausedAnswer,
  },
  'POST /admin/resume': {
    does: 'resumes the venue',
    input: s.NoInput,
    answer: s.PausedAnswer,
  },
  'GET /admin/rate-limits': {
    does: 'the rate limits that apply',
    input: s.NoInput,
    answer: s.LimitsAnswer,
  },
  'POST /admin/rate-limits': {
    does: 'changes one rate limit until the node restarts: `limit` is requests/seconds, or off',
    input: s.LimitInput,
    answer: s.LimitsAnswer,
    ofNode: true,
  },
  'POST /admin/ledger/deposit': {
    does: 'pays collateral in to a wallet; with `signer` it also says who may sign for it',
    input: v.DepositInput,
    answer: v.FundsAnswer,
  },
  'POST /admin/ledger/deposits': {
    does: 'pays in lines of a file, each once: the id of a line is that of the file and its number',
    input: v.DepositsInput,
    answer: v.DepositsAnswer,
    bodyBytes: v.DEPOSITS_BODY_BYTES,
    audited: auditedDeposits,
  },
  'POST /admin/ledger/withdraw': {
    does: 'pays free collateral out of a wallet',
    input: v.FundsInput,
    answer: v.FundsAnswer,
  },
  'POST /admin/ledger/declare': {
    does: 'says who may sign for a wallet',
    input: v.DeclareInput,
    answer: v.DeclareAnswer,
  },
  'GET /admin/ledger/balance': {
    does: 'cash and shares of a wallet',
    input: v.BalanceInput,
    answer: v.BalanceAnswer,
  },
  'GET /admin/ledger/statement': {
    does: 'entries of a wallet with their running balance, newest first',
    input: v.StatementInput,
    answer: v.StatementAnswer,
  },
  'GET /admin/ledger/fees': {
    does: 'fees of the venue, and what was paid out of them, newest first',
    input: v.FeesInput,
    answer: v.FeesAnswer,
  },
  'POST /admin/ledger/fees/pay': {
    does: 'pays fees of the venue to a wallet',
    input: v.FundsInput,
    answer: v.FundsAnswer,
  },
  'POST /admin/ledger/fees/draw': {
    does: 'takes fees of the venue out of the ledger, as a withdrawal does',
    input: v.DrawFeesInput,
    answer: v.DrawFeesAnswer,
  },
  'GET /admin/ledger': {
    does: 'the sums of the whole ledger',
    input: s.NoInput,
    answer: v.TotalsAnswer,
  },
  'POST /admin/events': {
    does: 'makes an event',
    input: v.EventInput,
    answer: v.EventAnswer,
  },
  'POST /admin/events/edit': {
    does: 'changes what an event says',
    input: v.EditEventInput,
    answer: v.EventAnswer,
  },
  'POST /admin/markets': {
    does: 'makes a market, in an event that an operator made or in one of its own',
    input: v.MarketInput,
    answer: v.MarketAnswer,
  },
  'POST /admin/markets/edit': {
    does: 'changes what a market says, its tick, minimum, fee or end',
    input: v.EditMarketInput,
    answer: v.MarketAnswer,
  },
  'POST /admin/markets/halt': {
    does: 'refuses orders for a market; open ones stay',
    input: v.ConditionInput,
    answer: v.MarketAnswer,
  },
  'POST /admin/markets/resume': {
    does: 'takes orders for a halted market again',
    input: v.ConditionInput,
    answer: v.MarketAnswer,
  },
  'POST /admin/markets/close': {
    does: 'ends a market for good: its open orders end, it can still resolve',
    input: v.ConditionInput,
    answer: v.MarketAnswer,
  },
  'POST /admin/markets/resolve': {
    does: 'pays out a market by weights of its outcomes, for good',
    input: v.ResolveInput,
    answer: v.ResolvedAnswer,
  },
  'POST /admin/markets/void': {
    does: 'pays out a market by equal weights of its outcomes, for good',
    input: v.VoidInput,
    answer: v.ResolvedAnswer,
  },
  'POST /admin/markets/dry-run': {
    does: 'counts what a payout would pay to how many wallets, and which orders would end; changes nothing',
    input: v.DryRunInput,
    answer: v.DryRunAnswer,
    reads: true,
  },
  'POST /admin/markets/withdraw-proposal': {
    does: 'takes a proposed payout back: the market trades as before',
    input: v.WithdrawProposalInput,
    answer: v.WithdrawnAnswer,
  },
  'GET /admin/markets/proposals': {
    does: 'payouts that are proposed, with their deadlines',
    input: s.NoInput,
    answer: v.ProposalsAnswer,
  },
  'GET /admin/cluster': {
    does: 'the nodes of the cluster, each as it answers now, and the members of etcd',
    input: s.NoInput,
    answer: c.ClusterAnswer,
  },
  'POST /admin/cluster/handover': {
    does: 'gives the lead of the cluster to another node, by the node that leads',
    input: c.HandoverInput,
    answer: c.HandoverAnswer,
    auditedNext: true,
  },
  'POST /admin/cluster/defrag': {
    does: 'has a member of etcd give free room back; it answers nothing meanwhile',
    input: c.DefragInput,
    answer: c.DefragAnswer,
    ofNode: true,
  },
  'GET /admin/audit': {
    does: 'the audit log: every change that was made through these routes, newest first',
    input: s.AuditInput,
    answer: s.AuditAnswer,
  },
  'POST /clock/step': {
    does: 'market time of a recording that is played goes on, and all that is due by then happens',
    input: p.StepInput,
    answer: p.StepAnswer,
    ofPlay: true,
  },
} as const satisfies Readonly<Record<`${'GET' | 'POST'} /${string}`, OperationRow>>;

export type OperationKey = keyof typeof OPERATIONS;

/** A handler for each of these rows. */
export type OperationHandlers<Keys extends OperationKey = OperationKey> = {
  readonly [Key in Keys]: OperationHandler<(typeof OPERATIONS)[Key]>;
};

export type OperationInput<Key extends OperationKey> = Static<(typeof OPERATIONS)[Key]['input']>;
export type OperationOutput<Key extends OperationKey> = Static<(typeof OPERATIONS)[Key]['answer']>;

/** Whether it gets an entry in the audit log, and is made by the node that leads. */
export function isChange(key: OperationKey): boolean {
  const { ofPlay, reads }: OperationRow = OPERATIONS[key];
  return key.startsWith('POST ') && ofPlay !== true && reads !== true;
}

/** Whether it is one of a recording that is played. */
export function isOfPlay(key: OperationKey): boolean {
  const { ofPlay }: OperationRow = OPERATIONS[key];
  return ofPlay === true;
}

export function isOperation(key: string): key is OperationKey {
  return Object.hasOwn(OPERATIONS, key);
}
