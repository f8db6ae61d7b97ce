/**
 * GET /public-profile: the public facts of a wallet that has traded, or has money here. Rules:
 * docs/protocol.md#rows-of-the-data-api-v2
 *
 * Thread: the I/O thread.
 */
import { addressAt } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { typedErrorBody } from '../common/error-bodies.ts';
import { BROKEN, compileFields, type Field } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { rawRoute } from '../http/route.ts';
import { addressText } from '../market-data/account-texts.ts';
import { accountByAddress } from '../market-data/find.ts';
import { badRequest, type CatalogErrors, ruleFirst } from './parameters.ts';

export interface PublicProfileParts {
  readonly tables: Tables;
  /** Display name of a wallet, 0x and 40 lower-case digits; '' = none. */
  readonly shownName: (wallet: string) => string;
  readonly errors: CatalogErrors;
}

const Text = Type.String();
export const PublicProfileAnswer = Type.Object(
  {
    proxyWallet: Text,
    name: Text,
    pseudonym: Text,
    bio: Text,
    profileImage: Text,
    displayUsernamePublic: Type.Boolean(),
  },
  { additionalProperties: false },
);

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const RULE = 'address must be 0x and 40 hexadecimal digits';
const AddressSchema = Type.String({ pattern: ADDRESS.source, description: 'of a wallet' });

const QUERY = compileFields<{ readonly address: string }, Field>({
  schema: Type.Object({ address: AddressSchema }),
  fields: [
    {
      names: ['address'],
      schema: AddressSchema,
      isRequired: true,
      take: (text, before) =>
        before === undefined && text !== undefined && ADDRESS.test(text) ? text : BROKEN,
    },
  ],
  refuse: () => badRequest(RULE),
});

export const PUBLIC_PROFILE_ROUTES = [
  rawRoute(
    'GET /public-profile',
    {
      api: 'catalog',
      query: QUERY,
      answer: PublicProfileAnswer,
      does: 'public facts of a wallet that has traded here: `address`',
    },
    ({ errors, shownName, tables }: PublicProfileParts) => ({
      headers: [],
      query: QUERY,
      run(context) {
        const query = QUERY.parse(context.query);
        if (typeof query === 'string') {
          return context.reply(400, errors === 'literal' ? query : ruleFirst(query));
        }
        const account = accountByAddress(tables, query.address);
        if (account === 0)
          return context.reply(404, typedErrorBody('not found error', 'UNKNOWN_ID'));
        const name = shownName(query.address.toLowerCase());
        const profile = {
          proxyWallet: addressText(tables.accountI, addressAt(account)),
          name,
          pseudonym: '',
          bio: '',
          profileImage: '',
          displayUsernamePublic: name !== '',
        };
        context.reply(200, JSON.stringify(profile));
      },
    }),
  ),
];
