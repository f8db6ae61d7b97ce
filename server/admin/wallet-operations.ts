/**
 * Operations on wallets: their open orders, and bans. A ban holds at once for requests and orders; then the open
 * orders end, and where that is cut short the next start goes on.
 *
 * Thread: I/O; bans also on a stopped directory.
 */

import { addressAt } from '../../engine/reads.ts';
import { type OrderView, orderText } from '../account/order-rows.ts';
import type { WalletOrders } from '../account/wallet-orders.ts';
import { bytesToHex } from '../common/uint256.ts';
import type { Bans } from '../identity/bans.ts';
import { checksumAddress } from '../identity/checksum.ts';
import type { WalletNames } from '../identity/wallet-names.ts';
import { type AccountTexts, addressText, apiKeyText } from '../market-data/account-texts.ts';
import { addressOf } from './key-operations.ts';
import { OperationRefused } from './operation-row.ts';
import type { OperationHandlers } from './operation-table.ts';

type OrderOperation = 'GET /admin/orders' | 'POST /admin/orders/cancel';
type BanOperation = 'GET /admin/bans' | 'POST /admin/bans' | 'POST /admin/bans/lift';

const NOT_DONE = new OperationRefused(
  503,
  'not all orders are canceled',
  'the node is busy or cannot write: send it again',
);

export function orderOperations(
  orders: WalletOrders,
  texts: AccountTexts,
): OperationHandlers<OrderOperation> {
  return {
    async 'GET /admin/orders'({ limit = 100, offset = 0, wallet }) {
      const { rows, total } = await orders.page(addressOf(wallet), offset, limit);
      return { total, orders: rows.map((row) => shownOrder(texts, row)) };
    },
    async 'POST /admin/orders/cancel'({ id, wallet }) {
      const canceled = await orders.cancel([addressOf(wallet)], id?.toLowerCase());
      if (canceled === undefined) return NOT_DONE;
      if (id === undefined || canceled > 0) return { canceled };
      return new OperationRefused(
        404,
        'order not found',
        'the wallet has no open order of that id',
      );
    },
  };
}

/** @param orders undefined on a stopped directory: the next start ends them */
export function banOperations(
  bans: Bans,
  names: Pick<WalletNames, 'nameOf'>,
  orders: Pick<WalletOrders, 'cancel'> | undefined,
  now: () => number,
): OperationHandlers<BanOperation> {
  return {
    'GET /admin/bans': () => ({
      bans: bans.list().map(({ address, reason, since }) => ({
        wallet: checksumAddress(address),
        name: names.nameOf(bytesToHex(address, 0, address.length)),
        since: new Date(since).toISOString(),
        reason,
      })),
    }),
    async 'POST /admin/bans'({ reason = '', wallet }) {
      const address = addressOf(wallet);
      if (!bans.hasRoom()) return new OperationRefused(409, 'too many wallets are banned');
      const changed = await bans.add({ address, since: now(), reason });
      const canceled = orders === undefined ? 0 : await orders.cancel([address]);
      if (canceled === undefined) return NOT_DONE;
      return { wallet: checksumAddress(address), changed, canceled };
    },
    async 'POST /admin/bans/lift'({ wallet }) {
      const address = addressOf(wallet);
      return { wallet: checksumAddress(address), changed: await bans.lift(address) };
    },
  };
}

function shownOrder(texts: AccountTexts, row: OrderView) {
  const order = JSON.parse(orderText(texts, row, [])) as Record<string, string> & {
    readonly created_at: number;
  };
  return {
    id: order.id!,
    signer: addressText(texts.t.accountI, addressAt(row.owner)),
    maker_address: order.maker_address!,
    api_key: apiKeyText(row.apiKey),
    market: order.market!,
    asset_id: order.asset_id!,
    outcome: order.outcome!,
    side: order.side!,
    price: order.price!,
    original_size: order.original_size!,
    size_matched: order.size_matched!,
    order_type: order.order_type!,
    expiration: order.expiration!,
    created_at: order.created_at,
  };
}
