/**
 * A node with a few markets for the tests of the streams over real sockets, and their common steps.
 */
import assert from 'node:assert/strict';
import { compileShape, type Shape } from '../../server/common/schema.ts';
import { STREAM_TABLE } from '../../server/streams/messages.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import {
  type MarketTerms,
  type Settings,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { SocketClient } from '../common/socket-client.ts';
import type { Trader } from '../common/traders.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface StreamNode extends TestNode {
  readonly markets: readonly CatalogMarket[];
}

export async function startNode(
  terms: readonly MarketTerms[],
  settings: Settings = {},
): Promise<StreamNode> {
  const directory = temporaryDirectory();
  const markets = await withMarkets(directory, terms);
  const node = await TestNode.start(directory, { VERIFY_SIGNATURES: 'off', ...settings });
  return Object.assign(node, { markets });
}

const shapes = new Map<string, Shape<unknown>>(
  Object.values(STREAM_TABLE).flatMap(({ events }) =>
    Object.entries(events).map(([name, { schema }]) => [name, compileShape(schema)] as const),
  ),
);

export function assertFits(event: Json): void {
  const name = typeof event.error === 'string' ? 'error' : String(event.event_type);
  const shape = shapes.get(name);
  assert(shape !== undefined, `no schema of ${name}`);
  if (!shape.matches(event)) {
    assert.fail(`${JSON.stringify(event)}: ${JSON.stringify(shape.fault(event))}`);
  }
}

export async function followMarket(
  node: TestNode,
  assets_ids: readonly string[],
  more: Json = {},
): Promise<SocketClient> {
  const client = await SocketClient.open(node, '/ws/market');
  client.send({ type: 'market', assets_ids, ...more });
  return client;
}

/** Opens the user channel of a trader; resolves when later messages will be received. */
export async function followUser(
  node: TestNode,
  { trio }: Trader,
  more: Json = {},
): Promise<SocketClient> {
  const client = await SocketClient.open(node, '/ws/user');
  client.send({ type: 'user', auth: trio, ...more });
  // Answered behind the subscription.
  if (!('resume' in more)) assert.deepEqual(await client.upToNow(), []);
  return client;
}

export function ofType(events: readonly Json[], name: string): Json[] {
  return events.filter(({ event_type }) => event_type === name);
}
