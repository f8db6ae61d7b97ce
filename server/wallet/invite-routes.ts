/**
 * Redeems an invitation: display name, API key and deposit of a wallet at once. Each step may be repeated, so that the
 * same request completes what an ended node left. Rules: docs/protocol.md#invitations
 *
 * Thread: I/O.
 */
import { type Auth, issueKey, type KeyAnswer, type WalletOwner } from '../auth/auth.ts';
import type { Trio } from '../auth/credentials.ts';
import type { Profiles } from '../auth/profiles.ts';
import { bodyFault } from '../common/body-fault.ts';
import { errorBodyOf, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { compileShape, type Static } from '../common/schema.ts';
import type { RequestContext } from '../http/http.ts';
import type { HandlerLimits } from '../http/limits/handler-limits.ts';
import { route } from '../http/route.ts';
import { redeem } from './invitations.ts';
import { REDEEM_BOUNDS, RedeemAnswer, RedeemBody } from './invite-schemas.ts';
import { keyLimit } from './key-routes.ts';
import type { LedgerCommands } from './ledger-commands.ts';
import { profileRefusal } from './profile-routes.ts';

export interface InviteRouteParts {
  readonly auth: Auth;
  readonly limits: HandlerLimits | undefined;
  readonly profiles: Profiles;
  /** `undefined` on a node that cannot write. */
  readonly ledger: Pick<LedgerCommands, 'run'> | undefined;
}

const redeemBody = compileShape(RedeemBody);

export const INVITE_ROUTES = [
  route(
    'POST /invites/redeem',
    {
      access: 'level1',
      limits: ['invites', 'trading'],
      body: RedeemBody,
      bodyBounds: REDEEM_BOUNDS,
      answer: RedeemAnswer,
      conflicts: true,
      does: 'redeems an invitation, once: API key, deposit and display name of a wallet: `{"code", "name"}`',
    },
    (parts: InviteRouteParts) => (context, _query, caller) =>
      readJson(context, REDEEM_BOUNDS, async (sent) => {
        if (!redeemBody.matches(sent)) {
          return context.reply(400, bodyFault(RedeemBody, redeemBody.fault(sent)));
        }
        const { body, headers, status } = await answerOf(parts, context, caller, sent);
        context.reply(status, body, headers);
      }),
  ),
];

async function answerOf(
  { auth, ledger, limits, profiles }: InviteRouteParts,
  context: RequestContext,
  caller: WalletOwner,
  { code, name = '' }: Static<typeof RedeemBody>,
): Promise<KeyAnswer> {
  const { address } = caller;
  const { registry } = auth;
  if (ledger === undefined) return { status: 503, body: JOURNAL_UNAVAILABLE };
  // Nothing is redeemed for a name or a key that would then be refused.
  const unnamed = name === '' ? undefined : profiles.faultOf(address, { name });
  if (unnamed !== undefined) return profileRefusal(unnamed);
  if (!registry.mayHave(address, caller.nonce)) return issueKey(auth, caller);
  const isFirst = !registry.hasKeys(address);
  const outcome = await redeem(ledger, code, address);
  if (outcome.kind === 'failed') return outcome;
  if (outcome.kind === 'refused')
    return { status: outcome.status, body: errorBodyOf(outcome.text) };
  const issued = await issueKey(auth, caller, () =>
    isFirst ? undefined : keyLimit({ limits }, context),
  );
  if (issued.status !== 200) return issued;
  const change = await profiles.change(address, name === '' ? {} : { name }).catch(() => undefined);
  if (change === undefined) return { status: 503, body: JOURNAL_UNAVAILABLE };
  const trio = JSON.parse(issued.body) as Trio;
  // Another wallet may have taken the name meanwhile.
  const shown = typeof change === 'string' ? '' : change.name;
  const answer = { ...trio, cash: String(outcome.value), name: shown };
  return { status: 200, body: JSON.stringify(answer) };
}
