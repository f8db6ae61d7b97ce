/**
 * GET /deployed, with which official packages find out the wallet of a signer before they trade.
 * Rules: docs/protocol.md#deployed-wallets
 *
 * Thread: I/O.
 */
import { DEPOSIT_WALLET } from '../auth/wallet-factory.ts';
import { compileQuery } from '../common/query.ts';
import { type Static, Type } from '../common/schema.ts';
import { hexToBytes } from '../common/uint256.ts';
import { route } from '../http/route.ts';
import type { DeployedWallets } from './deployed-wallets.ts';

const ADDRESS_BYTES = 20;

const DeployedQueryShape = Type.Object({
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'address of a wallet' }),
  type: Type.Optional(Type.Literal('WALLET', { description: 'WALLET: a deposit wallet' })),
});
const DEPLOYED_QUERY = compileQuery(DeployedQueryShape);
type DeployedQuery = Static<typeof DeployedQueryShape>;

export const DEPLOYED_ROUTES = [
  route(
    'GET /deployed',
    {
      query: DEPLOYED_QUERY,
      answer: Type.Object({ deployed: Type.Boolean() }),
      does: 'whether an address is a wallet of an owner who has had an API key, or its deposit wallet: `address type`',
    },
    (wallets: Pick<DeployedWallets, 'has'>) =>
      async (context, { address, type }: DeployedQuery) => {
        const bytes = new Uint8Array(ADDRESS_BYTES);
        hexToBytes(address, ADDRESS_BYTES, bytes, 0);
        const deployed = await wallets.has(bytes, type === undefined ? undefined : DEPOSIT_WALLET);
        context.reply(200, JSON.stringify({ deployed }));
      },
  ),
];
