/**
 * Operations on wallets: their open orders, and bans. A ban applies at once to requests and orders; then the
 * open orders are cancelled. After a crash the next start cancels the rest.
 *
 * Thread: I/O; bans also on a stopped directory.
 */

import { addressAt } from '../../engine/reads.ts';
import type { Bans } from '../auth/bans.ts';
import { checksumAddress } from '../auth/checksum.ts';
import type { WalletNames } from '../auth/wallet-names.ts';
import { bytesToHex } from '../common/uint256.ts';
import { type AccountTexts, addressText, apiKeyText } from '../market-data/account-texts.ts';
import { type OrderView, orderText } from '../wallet/order-rows.ts';
import type { WalletOrders } from '../wallet/wallet-orders.ts';
import { addressOf } from './key-operations.ts';
import { operation, refused } from './operation-row.ts';
import {
  BanInput,
  BannedAnswer,
  BansAnswer,
  CanceledAnswer,
  CancelInput,
  LiftedAnswer,
  LiftInput,
  NoInput,
  OrdersAnswer,
  OrdersInput,
} from './operation-schemas.ts';

const NOT_DONE = refused('ORDERS_NOT_CANCELED', 'the node is busy or cannot write: send it again');

export const ORDER_OPERATIONS = [
  operation(
    'GET /admin/orders',
    {
      does: 'open orders of a wallet, newest first: those that it signed, and those that it pays for',
      input: OrdersInput,
      answer: OrdersAnswer,
    },
    ({ orders, texts }: OrderOperationParts) =>
      async ({ limit = 100, offset = 0, wallet }) => {
        const { rows, total } = await orders.page(addressOf(wallet), offset, limit);
        return { total, orders: rows.map((row) => shownOrder(texts, row)) };
      },
  ),
  operation(
    'POST /admin/orders/cancel',
    {
      does: 'cancels all open orders of a wallet, or the one of that `id`',
      input: CancelInput,
      answer: CanceledAnswer,
    },
    ({ orders }: OrderOperationParts) =>
      async ({ id, wallet }) => {
        const canceled = await orders.cancel([addressOf(wallet)], id?.toLowerCase());
        if (canceled === undefined) return NOT_DONE;
        if (id === undefined || canceled > 0) return { canceled };
        return refused('UNKNOWN_ORDER', 'the wallet has no open order of that id');
      },
  ),
];

interface OrderOperationParts {
  readonly orders: WalletOrders;
  readonly texts: AccountTexts;
}

export const BAN_OPERATIONS = [
  operation(
    'GET /admin/bans',
    { does: 'banned wallets', input: NoInput, answer: BansAnswer },
    ({ bans, names }: BanOperationParts) =>
      () => ({
        bans: bans.list().map(({ address, reason, since }) => ({
          wallet: checksumAddress(address),
          name: names.nameOf(bytesToHex(address, 0, address.length)),
          since: new Date(since).toISOString(),
          reason,
        })),
      }),
  ),
  operation(
    'POST /admin/bans',
    {
      does: 'bans a wallet: its keys are answered 403, orders for it are refused, its open orders end',
      input: BanInput,
      answer: BannedAnswer,
    },
    ({ bans, orders, now }: BanOperationParts) =>
      async ({ reason = '', wallet }) => {
        const address = addressOf(wallet);
        if (!bans.hasRoom()) return refused('TOO_MANY_BANS');
        const changed = await bans.add({ address, since: now(), reason });
        const canceled = orders === undefined ? 0 : await orders.cancel([address]);
        if (canceled === undefined) return NOT_DONE;
        return { wallet: checksumAddress(address), changed, canceled };
      },
  ),
  operation(
    'POST /admin/bans/lift',
    {
      does: 'lifts the ban of a wallet: its keys work again',
      input: LiftInput,
      answer: LiftedAnswer,
    },
    ({ bans }: BanOperationParts) =>
      async ({ wallet }) => {
        const address = addressOf(wallet);
        return { wallet: checksumAddress(address), changed: await bans.lift(address) };
      },
  ),
];

interface BanOperationParts {
  readonly bans: Bans;
  readonly names: Pick<WalletNames, 'nameOf'>;
  /** Undefined on a stopped directory: the next start cancels them. */
  readonly orders: Pick<WalletOrders, 'cancel'> | undefined;
  readonly now: () => number;
}

function shownOrder(texts: AccountTexts, row: OrderView) {
  const order = JSON.parse(orderText(texts, row, [])) as Record<string, string> & {
    readonly created_at: number;
  };
  return {
    id: order.id!,
    signer: addressText(texts.tables.accountI, addressAt(row.owner)),
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
