/** One node for all tests of the client, a proxy before it, and clients of both. */
import { type ClientOptions, NodeClient, Wallet } from '../../client/client.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { FaultyProxy } from './proxy.ts';

const dataDir = temporaryDirectory();
export const markets = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, negRisk: true, tick: 0.001 },
  { id: 3 },
]);
export const node = await TestNode.start(dataDir, { ORDER_VERSION: 'both' });
export const proxy = await FaultyProxy.start(node);
export const nodeUrl = `http://127.0.0.1:${node.port}`;

export const [plain = '', risky = '', quiet = ''] = markets.map(({ tokenIds }) => tokenIds[0]!);

/** A client past the proxy, with a wallet of this name. */
export function join(name: string, options: ClientOptions = {}): Promise<NodeClient> {
  return NodeClient.connect(nodeUrl, {
    wallet: Wallet.fromSeed(`client test/${name}`),
    ...options,
  });
}

export function joinProxy(name: string, options: ClientOptions = {}): Promise<NodeClient> {
  const wallet = Wallet.fromSeed(`client test/${name}`);
  return NodeClient.connect(proxy.url, { wallet, connections: 1, ...options });
}
