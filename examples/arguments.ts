/** Shared by all examples: where the node is, whose wallet, and which token of which market to trade. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { NodeClient, tokenIdsOf, Wallet } from '../client/client.ts';

const URL_DEFAULT = 'http://127.0.0.1:3000';

export interface TradeTarget {
  readonly client: NodeClient;
  readonly tokenId: string;
  readonly conditionId: string;
  /** 'Yes of "Will it rain?"' */
  readonly title: string;
}

/**
 * `[token] [..]` after the example's name; without a token the first outcome of the busiest open
 * market. NODE_URL is the node, or several of one venue with commas between them. The wallet is that of PRIVATE_KEY,
 * or of WALLET_FILE, which the first start makes, or a new throw-away one.
 */
export async function placeOf([token]: readonly string[]): Promise<TradeTarget> {
  const { NODE_URL = URL_DEFAULT } = process.env;
  const client = await NodeClient.connect(NODE_URL.split(','), { wallet: wallet() });
  const query = { closed: false, accepting_orders: true, limit: 1 };
  const wanted = token === undefined ? { order: 'volume' } : { clob_token_ids: token };
  for await (const market of client.catalog.markets({ ...query, ...wanted })) {
    const tokens = tokenIdsOf(market);
    const at = token === undefined ? 0 : tokens.indexOf(token);
    const outcome = (JSON.parse(market.outcomes) as string[])[at];
    const { conditionId, question } = market;
    return { client, tokenId: tokens[at]!, conditionId, title: `${outcome} of "${question}"` };
  }
  throw new Error(token === undefined ? 'no market is open' : `no market has the token ${token}`);
}

function wallet(): Wallet {
  const { PRIVATE_KEY, WALLET_FILE } = process.env;
  if (PRIVATE_KEY !== undefined) return new Wallet(PRIVATE_KEY);
  if (WALLET_FILE === undefined) return Wallet.random();
  if (!existsSync(WALLET_FILE)) {
    writeFileSync(WALLET_FILE, Wallet.random().exportKey(), { mode: 0o600, flag: 'wx' });
  }
  return new Wallet(readFileSync(WALLET_FILE, 'utf8').trim());
}

/** Resolves at Ctrl-C, or when the service manager ends the process. */
export function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
