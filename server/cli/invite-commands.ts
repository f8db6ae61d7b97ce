/** `invite create`, `invite list` and `invite revoke`. Codes are made here; the node gets their digests. */
import { randomBytes } from 'node:crypto';
import { INVITES_OF_BATCH_MAX } from '../../engine/tables/capacities.ts';
import type { OperationOutput } from '../admin/operation-table.ts';
import { inviteDigest } from '../wallet/invitations.ts';
import { again, command, given, tableLines } from './command.ts';
import { Refused, type Run } from './context.ts';
import { operate } from './operate.ts';
import { numberOf, optionOf, textOf } from './settings.ts';

type Batch = OperationOutput<'GET /admin/invites'>['batches'][number];

const CODE_BYTES = 16;
const CODE = /^[0-9a-f]{32}$/i;
const NUMBER = /^[1-9][0-9]{0,3}$/;

export const createInvites: Run = async (context, _, options) => {
  const { stderr, stdout } = context;
  const count = optionOf(options, 'count', (text, flag) => numberOf(text, flag, 1)) ?? 1;
  if (count > INVITES_OF_BATCH_MAX)
    throw new Refused(`--count is at most ${INVITES_OF_BATCH_MAX}: call it again for more`);
  const base = optionOf(options, 'base', baseUrl);
  const codes = Array.from({ length: count }, () => randomBytes(CODE_BYTES).toString('hex'));
  const made = await operate(
    context,
    options,
    'POST /admin/invites',
    given({
      digests: codes.map((code) => inviteDigest(code).toString('hex')),
      cash: textOf(options, 'cash'),
      note: textOf(options, 'note'),
    }),
  );
  const linkOf = (code: string): string => (base === undefined ? '' : `${base}/app/join#${code}`);
  if (options.json === true) stdout.json({ ...made, codes });
  else if (options.csv === true)
    stdout.lines(['code,link', ...codes.map((code) => `${code},${linkOf(code)}`)]);
  else stdout.lines(codes.map((code) => linkOf(code) || code));
  const cash = Number(made.cash) === 0 ? '' : `, ${made.cash} each`;
  stderr.line(`batch ${made.batch}: ${count} codes${cash}; they are shown this once`);
  return 'done';
};

export const listInvites = command(
  'GET /admin/invites',
  () => ({}),
  ({ batches, open, redeemed, revoked }) => [
    `${open} open, ${redeemed} redeemed, ${revoked} revoked`,
    ...tableLines<Batch>(
      batches,
      {
        batch: (row) => String(row.batch),
        created: 'created',
        cash: 'cash',
        open: (row) => String(row.open),
        redeemed: (row) => String(row.redeemed),
        revoked: (row) => String(row.revoked),
        note: 'note',
      },
      ['batch', 'cash', 'open', 'redeemed', 'revoked'],
    ),
  ],
);

export const revokeInvites = command(
  'POST /admin/invites/revoke',
  ([text = '']) => {
    if (CODE.test(text)) return { digest: inviteDigest(text).toString('hex') };
    if (!NUMBER.test(text))
      throw new Refused('BATCH must be the number of a batch, or a code of 32 hexadecimal digits');
    return { batch: Number(text) };
  },
  ({ batch, changed, open, redeemed, revoked }) =>
    `batch ${batch}: ${open} open, ${redeemed} redeemed, ${revoked} revoked${again(!changed)}`,
);

function baseUrl(text: string, flag: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new Refused(`${flag} must be the URL of the node, not "${text}"`);
  return text.replace(/\/+$/, '');
}
