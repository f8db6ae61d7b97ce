/**
 * The node as tools in another process see it, by the client package. It signs with the key that it was started with.
 *
 * Thread: any; used by the command line.
 */
import { NodeClient, Wallet } from '../../client/client.ts';
import type { OrderItemShape } from '../../client/types.ts';
import type { Venue } from './tool.ts';

interface ClientVenueOptions {
  /** 0x and 64 hexadecimal digits; undefined = only what everybody may read. */
  readonly privateKey: string | undefined;
  /** Address of a wallet whose agent the key is; undefined = the key's own wallet. */
  readonly agentOf: string | undefined;
  /** Leaves out tools that place and cancel. */
  readonly isReadOnly: boolean;
}

/** @throws RangeError for a text that is no key; errors of the client where the node does not answer */
export async function clientVenue(
  url: string,
  { agentOf, isReadOnly, privateKey }: ClientVenueOptions,
): Promise<Venue> {
  if (privateKey === undefined) {
    const client = await NodeClient.connect(url);
    const call: Venue['call'] = (route, request) => client.call(route, request);
    return { rights: 'none', owner: '', address: '', wallet: '', call, sign: unsigned };
  }
  const wallet = new Wallet(privateKey);
  const payer = agentOf === undefined ? {} : { agentOf };
  const client = await NodeClient.connect(url, { wallet, ...payer });
  return {
    rights: isReadOnly ? 'read' : 'trade',
    owner: wallet.address,
    address: wallet.address,
    wallet: agentOf ?? wallet.address,
    agentOf,
    call: (route, request) => client.call(route, request),
    sign: async (preview) =>
      JSON.parse((await client.orders.signPreviewed(preview)).item) as OrderItemShape,
  };
}

/** Signs nothing: tools that place are refused before. */
function unsigned(): Promise<OrderItemShape> {
  throw new Error('this server has no key');
}
