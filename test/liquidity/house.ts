/** Tests' view of the house: its list, its open orders, its trades with random takers, and sums that add up. */
import assert from 'node:assert/strict';
import { fromMicro, NodeClient, toMicro, Wallet } from '../../client/client.ts';
import type { OperationOutput } from '../../server/admin/operation-table.ts';
import type { OperatorNode } from '../admin/operator-node.ts';
import { until } from '../common/node-harness.ts';
import type { Random } from '../common/random.ts';

export type HouseMarket = OperationOutput<'GET /admin/liquidity'>['markets'][number];
type HouseOrder = OperationOutput<'GET /admin/orders'>['orders'][number];

export async function houseOf(operator: OperatorNode, condition: string): Promise<HouseMarket> {
  const { markets } = (await operator.done('GET /admin/liquidity')) as unknown as {
    readonly markets: readonly HouseMarket[];
  };
  const found = markets.find((market) => market.condition === condition);
  assert(found !== undefined);
  return found;
}

export async function ordersOf(operator: OperatorNode, wallet: string): Promise<HouseOrder[]> {
  const query = `?wallet=${wallet}&limit=1000`;
  return (await operator.done('GET /admin/orders', undefined, query)).orders as HouseOrder[];
}

/** Open orders of the house once they are quiet: the same twice, and some where `some`. */
export async function quotesOf(
  operator: OperatorNode,
  { wallet }: HouseMarket,
): Promise<HouseOrder[]> {
  let before = '';
  let orders: HouseOrder[] = [];
  await until(async () => {
    orders = await ordersOf(operator, wallet);
    const now = orders
      .map(({ id }) => id)
      .sort()
      .join();
    const isQuiet = now === before && orders.length > 0;
    before = now;
    if (!isQuiet) await new Promise((resolve) => setTimeout(resolve, 300));
    return isQuiet;
  });
  return orders;
}

/** No two orders of the house rest at one price of one outcome. */
export function assertNoDoubles(orders: readonly HouseOrder[]): void {
  const places = orders.map(({ asset_id: id, price, side }) => `${id} ${side} ${price}`);
  assert.equal(new Set(places).size, places.length, places.join('\n'));
}

export async function assertAddsUp(operator: OperatorNode): Promise<void> {
  assert.equal((await operator.done('GET /admin/ledger')).imbalance, '0');
}

export async function takers(port: number, count: number): Promise<NodeClient[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      NodeClient.connect(`http://127.0.0.1:${port}`, {
        wallet: Wallet.fromSeed(`taker of the house ${i}`),
      }),
    ),
  );
}

/** Takes from the book at random, in the name of either outcome; sells what the wallet has. */
export async function take(
  random: Random,
  client: NodeClient,
  tokens: readonly string[],
): Promise<void> {
  const tokenId = random.pick(tokens);
  const { positions } = await client.ledger.balances();
  const held = positions.find((position) => position.tokenId === tokenId);
  const sells = held !== undefined && toMicro(held.free) >= 5_000_000n && random.chance(40);
  const shares = BigInt(random.between(500, 3_000)) * 10_000n;
  const size = sells && toMicro(held.free) < shares ? toMicro(held.free) : shares;
  await client.orders.post({
    tokenId,
    side: sells ? 'SELL' : 'BUY',
    price: fromMicro(BigInt(random.between(sells ? 1 : 40, sells ? 60 : 99)) * 10_000n),
    size: fromMicro((size / 10_000n) * 10_000n),
    type: random.chance(90) ? 'FAK' : 'GTC',
  });
}
