/**
 * State of the page's wallet: cash, shares, open orders and trades. The user stream keeps it up to date; after a gap
 * the lists are read again.
 */
import { computed, effect, signal } from '@preact/signals';
import type { Balances, Position, UserStream } from '../../../../client/client.ts';
import type { OrderEvent, OwnOrderAnswer, TradeEvent } from '../../../../client/types.ts';
import { moneyText, sharesText } from '../format.ts';
import { notify } from '../notices.ts';
import { endText, textOf } from '../refusal-words.ts';
import { readMarkets } from './markets.ts';
import { type Session, session } from './session.ts';

export interface OpenOrder {
  readonly id: string;
  readonly conditionId: string;
  readonly tokenId: string;
  readonly outcome: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
  readonly size: number;
  readonly filled: number;
  /** Unix seconds; 0 = rests until it is cancelled. */
  readonly expiration: number;
}

/** Cash of the wallet; `unlimited` on a node without a ledger, undefined before it is known. */
export type Cash =
  | { readonly free: number; readonly reserved: number; readonly total: number }
  | 'unlimited'
  | undefined;

export const cash = signal<Cash>(undefined);
export const freeCashText = computed(() => {
  if (cash.value === undefined) return '…';
  return cash.value === 'unlimited' ? 'no limit' : moneyText(cash.value.free);
});
/** Free shares by token. */
export const shares = signal<ReadonlyMap<string, number>>(new Map());
export const openOrders = signal<ReadonlyMap<string, OpenOrder>>(new Map());
/** Their `asset` is the token id, whatever the node writes there. */
export const positions = signal<readonly Position[]>([]);
/** Trades of this session: a list of them is read again when it rises. */
export const ownTrades = signal(0);
export const positionsValue = computed(() =>
  positions.value.reduce((sum, { currentValue }) => sum + Number(currentValue), 0),
);

const SETTLE_MS = 300;
/** Positions follow the trades by up to a second, and later where the machine is busy. */
const POSITIONS_MS = [1_200, 5_700];
const RETRY_MS = 3_000;

let current: { readonly of: Session; stream?: UserStream } | undefined;
let reading: ReturnType<typeof setTimeout> | undefined;
let readingAgain: ReturnType<typeof setTimeout>[] = [];

effect(() => {
  const next = session.value;
  if (current?.of === next) return;
  current?.stream?.close();
  cash.value = undefined;
  shares.value = new Map();
  openOrders.value = new Map();
  positions.value = [];
  ownTrades.value = 0;
  current = next === undefined ? undefined : { of: next };
  if (current !== undefined) void begin(current);
});

async function begin(own: NonNullable<typeof current>): Promise<void> {
  const { client } = own.of;
  try {
    await Promise.all([readFunds(own), readOrders(own), readPositions(own)]);
    const stream = await client.followUser({
      order: (event) => own === current && takeOrder(event),
      trade: (event) => own === current && takeTrade(event),
      balance: () => own === current && settleFunds(own),
      missedBalances: () => own === current && settleFunds(own),
      reconciled: () => {
        if (own !== current) return;
        readOrders(own).catch(() => undefined); // the next gap, or event, brings them
        settleFunds(own);
      },
      refused: (reason) => notify('warning', `The stream of your orders ended: ${reason}`),
    });
    if (own === current) own.stream = stream;
    else stream.close();
  } catch (error) {
    if (own !== current) return;
    notify('warning', `Your account could not be read: ${textOf(error)}`);
    setTimeout(() => own === current && void begin(own), RETRY_MS);
  }
}

/** Reads again what a change of balances touches, once for many of them, and later where nobody answers. */
function settleFunds(own: NonNullable<typeof current>, afterMs = SETTLE_MS): void {
  clearTimeout(reading);
  for (const timer of readingAgain) clearTimeout(timer);
  const retry = (): void => {
    if (own === current) settleFunds(own, RETRY_MS);
  };
  reading = setTimeout(() => readFunds(own).catch(retry), afterMs);
  readingAgain = POSITIONS_MS.map((ms) =>
    setTimeout(() => readPositions(own).catch(retry), afterMs + ms),
  );
}

async function readFunds(own: NonNullable<typeof current>): Promise<void> {
  const { client } = own.of;
  if (!client.info.mode.ledger) {
    cash.value = 'unlimited';
    return;
  }
  const balances = await client.ledger.balances();
  if (own === current) showFunds(balances);
}

function showFunds({ cash: own, positions: held }: Balances): void {
  cash.value = {
    free: Number(own.free),
    reserved: Number(own.reserved),
    total: Number(own.total),
  };
  shares.value = new Map(held.map(({ free, tokenId }) => [tokenId, Number(free)]));
}

async function readOrders(own: NonNullable<typeof current>): Promise<void> {
  const open = new Map<string, OpenOrder>();
  for await (const order of own.of.client.orders.open()) {
    open.set(order.id, openOrderOf(order));
  }
  if (own === current) openOrders.value = open;
}

async function readPositions(own: NonNullable<typeof current>): Promise<void> {
  const found: Position[] = [];
  for await (const position of own.of.client.positions({ sizeThreshold: 0 })) {
    found.push({ ...position, asset: position.token_id ?? position.asset });
  }
  if (own !== current) return;
  const before = positions.peek();
  positions.value = found;
  void tellPaid(before, found).catch(() => undefined);
  if (cash.peek() !== 'unlimited') return;
  shares.value = new Map(found.map(({ asset, size }) => [asset, Number(size)]));
}

/** Tells of positions that are gone because their market has its result. */
async function tellPaid(before: readonly Position[], after: readonly Position[]): Promise<void> {
  const held = new Set(after.filter(({ size }) => Number(size) > 0).map(({ asset }) => asset));
  const gone = before.filter(({ asset, size }) => Number(size) > 0 && !held.has(asset));
  if (gone.length === 0) return;
  const markets = new Map(await readMarkets(gone.map(({ conditionId }) => conditionId).join()));
  for (const { asset, conditionId, outcome, size } of gone) {
    const market = markets.get(conditionId);
    const payout = market?.resolution?.payouts[market.tokens.indexOf(asset)];
    if (market === undefined || payout === undefined) continue;
    const paid = `Your ${sharesText(Number(size))} shares of ${outcome} paid ${moneyText(Number(size) * payout)}.`;
    notify(payout > 0 ? 'good' : 'info', `${market.question} has its result. ${paid}`, true);
  }
}

/** Reads positions again, after an order of this page was answered. */
export function refreshPositions(): void {
  if (current !== undefined) settleFunds(current);
}

/** Row of an own order, of the list or of the stream. */
function openOrderOf(order: OrderEvent | OwnOrderAnswer): OpenOrder {
  return {
    id: order.id,
    conditionId: order.market,
    tokenId: order.asset_id,
    outcome: order.outcome,
    side: order.side,
    price: Number(order.price),
    size: Number(order.original_size),
    filled: Number(order.size_matched),
    expiration: Number(order.expiration),
  };
}

function takeOrder(event: OrderEvent): void {
  const open = new Map(openOrders.peek());
  const filled = Number(event.size_matched);
  const size = Number(event.original_size);
  const before = open.get(event.id);
  if (event.type === 'CANCELLATION' || event.status !== 'LIVE' || filled >= size) {
    open.delete(event.id);
    if (before !== undefined && event.type === 'CANCELLATION' && event.reason !== 'canceled') {
      notify('info', `Your order to ${verb(event)} ended: ${endText(event.reason)}`, true);
    }
  } else {
    open.set(event.id, openOrderOf(event));
  }
  openOrders.value = open;
}

function takeTrade(event: TradeEvent): void {
  if (event.status !== 'MATCHED') return;
  ownTrades.value += 1;
  if (current === undefined) return;
  const own = current.of.address.toLowerCase();
  // Members of the trade itself are those of its taker.
  for (const order of event.maker_orders) {
    if (event.trader_side !== 'MAKER' || order.maker_address.toLowerCase() !== own) continue;
    const size = sharesText(Number(order.matched_amount));
    notify('good', `Filled: ${size} shares of your offer to ${verb(order)}`, true);
  }
  settleFunds(current);
}

function verb({ outcome, price, side }: Pick<OrderEvent, 'outcome' | 'price' | 'side'>): string {
  return `${side === 'BUY' ? 'buy' : 'sell'} ${outcome} at ${price}`;
}
