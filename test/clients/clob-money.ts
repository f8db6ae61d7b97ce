/** Calls about money that @polymarket/clob-client and its successor share, by name. */
import assert from 'node:assert/strict';
import { answered, type Client, rows } from './client-answers.ts';
import type { MoneyClient, MoneyPackage } from './money.ts';

export const CLOB_MONEY = {
  names: {
    balance: 'getBalanceAllowance',
    order: 'createAndPostOrder',
    cancel: 'cancelOrder',
    openOrders: 'getOpenOrders',
    fills: 'getTrades',
  },
  statuses: { rests: 'live', filled: 'matched' },
} as const satisfies Partial<MoneyPackage>;

export function clobMoneyClient(client: Client): MoneyClient {
  return {
    balance: async (token) => {
      const of = {
        asset_type: token === undefined ? 'COLLATERAL' : 'CONDITIONAL',
        token_id: token,
      };
      return String((await answered(client.getBalanceAllowance!(of))).balance);
    },
    order: async ({ token: tokenID, ...terms }) => {
      const made = await answered(client.createAndPostOrder!({ tokenID, ...terms }, {}, 'GTC'));
      assert.equal(made.errorMsg, '');
      return { id: String(made.orderID), status: String(made.status) };
    },
    cancel: async (orderID) => {
      const { canceled } = await answered(client.cancelOrder!({ orderID }));
      assert.deepEqual(canceled, [orderID]);
    },
    openOrders: async (asset_id) =>
      (await client.getOpenOrders!({ asset_id })) as readonly unknown[],
    fills: async (asset_id) =>
      (await rows(client.getTrades!({ asset_id }), 1)).map(({ price, size }) => [
        Number(price),
        Number(size),
      ]),
  };
}
