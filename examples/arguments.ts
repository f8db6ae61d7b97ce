/** Shared by all examples: where the node is, and which token of which market to trade. */
import { NodeClient, Wallet } from '../client/client.ts';

const URL_DEFAULT = 'http://127.0.0.1:3000';

export interface TradeTarget {
  readonly client: NodeClient;
  readonly tokenId: string;
  /** 'Yes of "Will it rain?"' */
  readonly title: string;
}

/**
 * `[token] [..]` after the example's name; without a token the first outcome of the busiest open
 * market. The node is NODE_URL; the wallet is that of PRIVATE_KEY, or a new throw-away one.
 */
export async function placeOf([token]: readonly string[]): Promise<TradeTarget> {
  const { NODE_URL = URL_DEFAULT, PRIVATE_KEY } = process.env;
  const wallet = PRIVATE_KEY === undefined ? Wallet.random() : new Wallet(PRIVATE_KEY);
  const client = await NodeClient.connect(NODE_URL, { wallet });
  const query = { closed: false, accepting_orders: true, limit: 1 };
  const wanted = token === undefined ? { order: 'volume' } : { clob_token_ids: token };
  for await (const market of client.catalog.markets({ ...query, ...wanted })) {
    const tokens = JSON.parse(market.clobTokenIds) as string[];
    const at = token === undefined ? 0 : tokens.indexOf(token);
    const outcome = (JSON.parse(market.outcomes) as string[])[at];
    return { client, tokenId: tokens[at]!, title: `${outcome} of "${market.question}"` };
  }
  throw new Error(token === undefined ? 'no market is open' : `no market has the token ${token}`);
}

/** Resolves at Ctrl-C, or when the service manager ends the process. */
export function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
