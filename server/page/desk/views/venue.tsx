/** The venue as a whole. */
import { summary } from '../node/summary.ts';
import { OperationForm } from '../parts/operation-form.tsx';

interface Group {
  readonly title: string;
  readonly forms: readonly {
    readonly of: string;
    readonly title: string;
    readonly button?: string;
    readonly sure?: string;
  }[];
}

const GROUPS: readonly Group[] = [
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
    title: 'Liquidity of the house',
    forms: [
      { of: 'GET /admin/liquidity', title: 'Markets of the house' },
      { of: 'POST /admin/liquidity/add', title: 'Add liquidity' },
      { of: 'POST /admin/liquidity/remove', title: 'Remove liquidity' },
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
];

const FAULTS: Group = {
  title: 'Faults',
  forms: [
    { of: 'GET /admin/faults', title: 'Faults in force' },
    { of: 'POST /admin/faults', title: 'Make a fault' },
    { of: 'POST /admin/faults/clear', title: 'End faults' },
  ],
};

export function Venue() {
  const hasFaults = (summary.value?.node?.faults ?? null) !== null;
  return (
    <div class="desk-page">
      <h1>Venue</h1>
      {[...GROUPS, ...(hasFaults ? [FAULTS] : [])].map(({ forms, title }) => (
        <section key={title} aria-label={title}>
          <h2>{title}</h2>
          <div class="desk-grid">
            {forms.map((form) => (
              <OperationForm key={form.of} {...form} />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}
