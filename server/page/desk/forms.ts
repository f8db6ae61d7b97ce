/**
 * Forms for operations by the view that shows them. An operation that the node documents and no row names gets a form in the
 * last group of the venue.
 */
import type { Operation } from './node/operations.ts';

export interface FormRow {
  /** Method and path of the operation. */
  readonly of: string;
  /** Title of the form, and of its button unless `button` is given. */
  readonly title: string;
  readonly button?: string;
  /** Fields that are shown at once, in this order; the others fold. Absent: all. */
  readonly main?: readonly string[];
  /** Question before it is sent; absent: none. */
  readonly sure?: string;
}

export interface Group {
  readonly title: string;
  /** Mode of the node without which the group makes no sense; absent: none. */
  readonly needs?: 'faults' | 'play';
  readonly forms: readonly FormRow[];
}

/** Forms for one wallet: its address is no field. */
export const WALLET_FORMS: readonly FormRow[] = [
  { of: 'POST /admin/ledger/deposit', title: 'Deposit', main: ['amount'] },
  { of: 'POST /admin/ledger/withdraw', title: 'Withdraw' },
  { of: 'POST /admin/orders/cancel', title: 'Cancel orders' },
  { of: 'POST /admin/bans', title: 'Ban' },
  { of: 'POST /admin/bans/lift', title: 'Lift the ban' },
  { of: 'POST /admin/wallets/name', title: 'Name it' },
  {
    of: 'POST /admin/ledger/declare',
    title: 'Let another address sign for it',
    button: 'Let it sign',
  },
  { of: 'POST /admin/keys', title: 'Issue an API key' },
  { of: 'POST /admin/keys/revoke', title: 'Revoke a key' },
];

export const VENUE_GROUPS: readonly Group[] = [
  {
    title: 'Trading',
    forms: [
      { of: 'GET /admin/pause', title: 'State of the pause' },
      { of: 'POST /admin/pause', title: 'Pause the venue' },
      { of: 'POST /admin/resume', title: 'Resume the venue' },
      { of: 'GET /admin/message', title: 'Message that is shown' },
      { of: 'POST /admin/message', title: 'Message to all', button: 'Show it' },
      { of: 'GET /admin/markets/proposals', title: 'Proposed payouts' },
    ],
  },
  {
    title: 'Ledger, fees and rebates',
    forms: [
      { of: 'GET /admin/ledger', title: 'Sums of the ledger' },
      { of: 'GET /admin/ledger/fees', title: 'Fees of the venue' },
      { of: 'POST /admin/ledger/fees/pay', title: 'Pay fees to a wallet' },
      { of: 'POST /admin/ledger/fees/draw', title: 'Draw fees' },
      { of: 'POST /admin/ledger/rebates/pay', title: 'Pay the rebates of a day' },
      { of: 'POST /admin/ledger/deposits', title: 'Pay in lines of a file' },
    ],
  },
  {
    title: 'Seasons and invitations',
    forms: [
      {
        of: 'POST /admin/seasons/end',
        title: 'End the season',
        sure: 'End the season? Its standings become final, and each wallet goes to the start sum.',
      },
      { of: 'GET /admin/invites', title: 'Batches of invitations' },
      { of: 'POST /admin/invites', title: 'Make invitations' },
      { of: 'POST /admin/invites/revoke', title: 'Revoke invitations' },
    ],
  },
  {
    title: 'Bans and limits',
    forms: [
      { of: 'GET /admin/bans', title: 'Banned wallets' },
      { of: 'POST /admin/rate-limits', title: 'Change a rate limit' },
      { of: 'GET /admin/rate-limits', title: 'Rate limits' },
    ],
  },
  {
    title: 'Faults',
    needs: 'faults',
    forms: [
      { of: 'GET /admin/faults', title: 'Faults in force' },
      { of: 'POST /admin/faults', title: 'Make a fault' },
      { of: 'POST /admin/faults/clear', title: 'End faults' },
    ],
  },
  {
    title: 'Recording that is played',
    needs: 'play',
    forms: [{ of: 'POST /clock/step', title: 'Step the clock' }],
  },
];

/**
 * Operations with controls of their own, by the file that has them.
 * @internal A test compares it with the files and with the table of operations.
 */
export const IN_VIEWS: Readonly<Record<string, readonly string[]>> = {
  'node/operator.ts': ['GET /admin/role'],
  'parts/liquidity.tsx': [
    'GET /admin/liquidity',
    'POST /admin/liquidity/add',
    'POST /admin/liquidity/remove',
  ],
  'views/audit.tsx': ['GET /admin/audit'],
  'views/create.tsx': [
    'POST /admin/catalog/dry-run',
    'POST /admin/catalog/import',
    'POST /admin/events',
    'POST /admin/events/edit',
    'POST /admin/markets',
  ],
  'views/market.tsx': [
    'POST /admin/markets/close',
    'POST /admin/markets/edit',
    'POST /admin/markets/halt',
    'POST /admin/markets/resume',
  ],
  'views/node.tsx': [
    'GET /admin/cluster',
    'POST /admin/cluster/defrag',
    'POST /admin/cluster/handover',
  ],
  'views/resolve.tsx': [
    'POST /admin/markets/dry-run',
    'POST /admin/markets/resolve',
    'POST /admin/markets/void',
    'POST /admin/markets/withdraw-proposal',
  ],
  'views/wallet.tsx': [
    'GET /admin/keys',
    'GET /admin/ledger/balance',
    'GET /admin/ledger/statement',
    'GET /admin/orders',
  ],
  'views/wallets.tsx': ['GET /admin/wallets'],
};

const NAMED = new Set([
  ...WALLET_FORMS.map(({ of }) => of),
  ...VENUE_GROUPS.flatMap(({ forms }) => forms.map(({ of }) => of)),
  ...Object.values(IN_VIEWS).flat(),
]);

/** Returns a form for each operation that no view names. */
export function otherForms(operations: ReadonlyMap<string, Operation>): FormRow[] {
  return [...operations.keys()].flatMap((of) => (NAMED.has(of) ? [] : [{ of, title: of }]));
}
