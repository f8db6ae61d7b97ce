/**
 * Public profile of a wallet: its display name, set once, and whether boards leave it out. Rules:
 * docs/protocol.md#profiles
 *
 * Thread: I/O.
 */
import type { Profile, ProfileFault, Profiles } from '../auth/profiles.ts';
import { type WalletFactories, Wallets } from '../auth/wallet-factory.ts';
import { bodyFault } from '../common/body-fault.ts';
import { errorBody, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { REFUSALS } from '../common/refusals.ts';
import { compileShape } from '../common/schema.ts';
import { bytesToHex, hexToBytes } from '../common/uint256.ts';
import { route } from '../http/route.ts';
import { PROFILE_BOUNDS, ProfileAnswer, ProfileBody } from './profile-schemas.ts';

export interface ProfileParts {
  readonly profiles: Profiles;
  readonly factories: WalletFactories;
}

const ADDRESS_BYTES = 20;

const profileBody = compileShape(ProfileBody);

const CODES = {
  nameSet: 'PROFILE_NAME_SET',
  nameTaken: 'PROFILE_NAME_TAKEN',
  full: 'PROFILES_FULL',
} as const satisfies Readonly<Record<ProfileFault, keyof typeof REFUSALS>>;

export const PROFILE_ROUTES = [
  route(
    'POST /profile',
    {
      access: 'level2',
      limits: ['profile', 'trading'],
      body: ProfileBody,
      bodyBounds: PROFILE_BOUNDS,
      answer: ProfileAnswer,
      conflicts: true,
      does: 'sets the display name of a wallet, once, and hides it from boards: `{"name", "hidden", "wallet"}`',
    },
    ({ factories, profiles }: ProfileParts) => {
      const wallets = new Wallets(factories);
      return (context, _query, { address }) =>
        readJson(context, PROFILE_BOUNDS, async (sent) => {
          if (!profileBody.matches(sent)) {
            return context.reply(400, bodyFault(ProfileBody, profileBody.fault(sent)));
          }
          const { hidden, name, wallet: named } = sent;
          const wallet = new Uint8Array(ADDRESS_BYTES);
          if (named === undefined) wallet.set(address);
          else hexToBytes(named, ADDRESS_BYTES, wallet, 0);
          if (!wallets.isOwn(wallet, address))
            return context.reply(REFUSALS.WALLET_FOREIGN.status, errorBody('WALLET_FOREIGN'));
          const wanted = {
            ...(name !== undefined && { name }),
            ...(hidden !== undefined && { isHidden: hidden }),
          };
          const change = await profiles.change(wallet, wanted).catch(() => undefined);
          if (change === undefined) return context.reply(503, JOURNAL_UNAVAILABLE);
          if (typeof change === 'string') {
            const { body, status } = profileRefusal(change);
            return context.reply(status, body);
          }
          context.reply(200, profileText(bytesToHex(wallet, 0, ADDRESS_BYTES), change));
        });
    },
  ),
];

function profileText(wallet: string, { isHidden, name }: Profile): string {
  return JSON.stringify({ wallet, name, hidden: isHidden });
}

export function profileRefusal(fault: ProfileFault): { status: number; body: string } {
  const code = CODES[fault];
  return { status: REFUSALS[code].status, body: errorBody(code) };
}
