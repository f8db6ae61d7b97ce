/**
 * The order that the reader prepares: its fields, the node's preview of them, and its sending. Money and shares drive
 * each other: the reader writes one of them, and the preview fills the other.
 */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { NodeClient, Placed } from '../../../../client/client.ts';
import type { PreviewAnswer, PreviewBody, RefusalCode } from '../../../../client/types.ts';
import { decimalsOf, moneyText } from '../format.ts';
import { notify } from '../notices.ts';
import { personText, textOf } from '../refusal-words.ts';
import { refreshPositions } from './account.ts';
import { publicClient } from './api.ts';
import { bookVersion, quoteOf } from './follow.ts';
import type { Market } from './markets.ts';
import { session } from './session.ts';

export type Side = 'BUY' | 'SELL';
export type Kind = 'Market' | 'Limit';
/** `rest`: until it is cancelled; `hour`, `day`: for so long; `post`: rests, or is refused. */
export type Stay = 'rest' | 'hour' | 'day' | 'post';
/** `part`: what the book has; `all`: everything or nothing. */
export type Fill = 'part' | 'all';

/** Order that is sent, as its fields said when the reader pressed the button. */
interface Sent {
  readonly tokenId: string;
  readonly side: Side;
  /** Name of the outcome. */
  readonly name: string;
  readonly kind: Kind;
}

/** Shares that a market order did not fill, and the price at which they can be offered. */
export interface Unfilled {
  readonly sent: Sent;
  readonly size: string;
  readonly price: string;
}

export interface Ticket {
  readonly market: Market;
  /** Index of the outcome. */
  readonly outcome: Signal<number>;
  readonly side: Signal<Side>;
  readonly kind: Signal<Kind>;
  /** Field that the reader wrote last. */
  readonly driver: Signal<'amount' | 'shares'>;
  readonly amount: Signal<string>;
  readonly shares: Signal<string>;
  readonly price: Signal<string>;
  readonly stay: Signal<Stay>;
  readonly fill: Signal<Fill>;
  /** Ticks beyond the best price that a market order may reach. */
  readonly slippage: Signal<number>;
  readonly preview: Signal<PreviewAnswer | undefined>;
  /** False while the preview is of fields that have changed since; nothing is sent then. */
  readonly isPreviewed: ReadonlySignal<boolean>;
  /** '' unless the node refuses the fields. */
  readonly problem: Signal<string>;
  readonly isSending: Signal<boolean>;
  readonly unfilled: Signal<Unfilled | undefined>;
  stop(): void;
}

const SETTLE_MS = 150;
/** A preview is read again so long after the book has changed. */
const FOLLOW_MS = 600;
const SECONDS: Readonly<Partial<Record<Stay, number>>> = { hour: 3_600, day: 86_400 };
const HALF = 0.5;
const UNMATCHED: ReadonlySet<string> = new Set([
  'FOK_NOT_FILLED',
  'FAK_NOT_FILLED',
] satisfies RefusalCode[]);
export const SLIPPAGE_TICKS = [1, 2, 5, 10, 100];

export function openTicket(market: Market, outcome: Signal<number>): Ticket {
  const inputs = {
    market,
    outcome,
    side: signal<Side>('BUY'),
    kind: signal<Kind>('Market'),
    driver: signal<'amount' | 'shares'>('amount'),
    amount: signal(''),
    shares: signal(''),
    price: signal(''),
    stay: signal<Stay>('rest'),
    fill: signal<Fill>('part'),
    slippage: signal(5),
  };
  const fields = computed(() => fieldsOf(inputs));
  const previewed = signal('');
  const ticket = {
    ...inputs,
    fields,
    previewed,
    preview: signal<PreviewAnswer | undefined>(undefined),
    isPreviewed: computed(() => previewed.value === fields.value),
    problem: signal(''),
    isSending: signal(false),
    unfilled: signal<Unfilled | undefined>(undefined),
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const token = computed(() => market.tokens[outcome.value] ?? '');
  const ask = (): void => {
    asked += 1;
    void readInto(ticket, asked, () => asked);
  };
  const stopFields = effect(() => {
    void fields.value;
    void session.value;
    clearTimeout(timer);
    timer = setTimeout(ask, SETTLE_MS);
  });
  let following: ReturnType<typeof setTimeout> | undefined;
  const stopBook = effect(() => {
    void bookVersion(token.value).value;
    following ??= setTimeout(() => {
      following = undefined;
      ask();
    }, FOLLOW_MS);
  });
  return {
    ...ticket,
    stop: () => {
      stopFields();
      stopBook();
      clearTimeout(timer);
      clearTimeout(following);
      asked = -1;
    },
  };
}

type Inputs = Pick<
  Ticket,
  | 'amount'
  | 'driver'
  | 'fill'
  | 'kind'
  | 'market'
  | 'outcome'
  | 'price'
  | 'shares'
  | 'side'
  | 'slippage'
  | 'stay'
>;
type Fields = Omit<Ticket, 'stop'>;
interface Asked extends Fields {
  /** Text that changes with whatever the reader chooses or writes. */
  readonly fields: ReadonlySignal<string>;
  /** Fields of the preview. */
  readonly previewed: Signal<string>;
}

function fieldsOf(inputs: Inputs): string {
  const { kind, outcome, price, side, slippage, stay } = inputs;
  const isLimit = kind.value === 'Limit';
  return JSON.stringify([
    outcome.value,
    side.value,
    orderTypeOf(inputs),
    inputs.driver.value,
    writtenIn(inputs),
    isLimit ? [price.value, stay.value] : slippage.value,
  ]);
}

/** Number in the field that the reader wrote last. */
function writtenIn({ amount, driver, shares }: Inputs): string {
  return (driver.value === 'amount' ? amount : shares).value.trim();
}

/** Body of POST /orders/preview; undefined while nothing is written. */
function previewBody(ticket: Inputs): PreviewBody | undefined {
  const { driver, kind, market, outcome, price, side, stay } = ticket;
  const isMoney = driver.value === 'amount';
  const written = writtenIn(ticket);
  const isLimit = kind.value === 'Limit';
  if (!(Number(written) > 0)) return undefined;
  if (isLimit && !(Number(price.value) > 0)) return undefined;
  const seconds = SECONDS[stay.value];
  return {
    tokenId: market.tokens[outcome.value] ?? '',
    side: side.value,
    orderType: orderTypeOf(ticket),
    ...(isMoney ? { amount: written } : { size: written }),
    ...(isLimit ? { price: price.value.trim(), postOnly: stay.value === 'post' } : {}),
    ...(isLimit && seconds !== undefined ? { expiration: nowSeconds() + seconds } : {}),
  };
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

/**
 * Reads a preview. A market order that would go further than the chosen number of ticks from the best price is asked
 * for again with that limit.
 */
async function readPreview(
  client: NodeClient,
  body: PreviewBody,
  { kind, market, slippage }: Inputs,
): Promise<PreviewAnswer> {
  const found = await client.orders.preview(body);
  if (kind.peek() === 'Limit') return found;
  const { ask, bid } = quoteOf(body.tokenId).peek();
  const isBuy = body.side === 'BUY';
  const best = isBuy ? ask : bid;
  const worst = Number(found.order?.price ?? Number.NaN);
  const room = slippage.peek() * market.tick;
  if (best === undefined || !(Math.abs(worst - best) > room + market.tick / 2)) return found;
  const limit = Math.min(1 - market.tick, Math.max(market.tick, isBuy ? best + room : best - room));
  return client.orders.preview({ ...body, price: limit.toFixed(decimalsOf(market.tick)) });
}

function orderTypeOf({ fill, kind, stay }: Inputs): 'GTC' | 'GTD' | 'FOK' | 'FAK' {
  if (kind.value === 'Market') return fill.value === 'all' ? 'FOK' : 'FAK';
  return SECONDS[stay.value] === undefined ? 'GTC' : 'GTD';
}

async function readInto(ticket: Asked, turn: number, newest: () => number): Promise<void> {
  const fields = ticket.fields.peek();
  const body = previewBody(ticket);
  if (body === undefined) {
    batch(() => {
      ticket.preview.value = undefined;
      ticket.problem.value = '';
      const other = ticket.driver.value === 'amount' ? ticket.shares : ticket.amount;
      other.value = '';
    });
    return;
  }
  try {
    const client = session.peek()?.client ?? (await publicClient());
    const found = await readPreview(client, body, ticket);
    if (turn !== newest()) return;
    batch(() => {
      ticket.preview.value = found;
      ticket.previewed.value = fields;
      ticket.problem.value = problemOf(found);
      if (ticket.driver.value === 'amount') ticket.shares.value = found.order?.size ?? '';
      else ticket.amount.value = found.ifAllFills.total;
    });
  } catch (error) {
    if (turn !== newest()) return;
    ticket.preview.value = undefined;
    ticket.problem.value = textOf(error);
  }
}

/** Signs the previewed order in this browser and sends it. */
export async function sendTicket(ticket: Fields): Promise<void> {
  const own = session.peek();
  const shown = ticket.preview.peek();
  if (own === undefined || shown === undefined || ticket.isSending.peek()) return;
  if (!ticket.isPreviewed.peek()) return;
  const sent = sentBy(ticket);
  ticket.isSending.value = true;
  ticket.unfilled.value = undefined;
  try {
    const placed = await own.client.orders.postPreviewed(shown);
    tell(ticket, sent, shown, placed);
    refreshPositions();
  } catch (error) {
    notify('warning', textOf(error));
  } finally {
    ticket.isSending.value = false;
  }
}

/** True for an order at the market that finds nobody, or too little. */
export function isUnmatched({ kind, preview }: Fields): boolean {
  const code = preview.value?.reason?.code;
  return kind.value === 'Market' && code !== undefined && UNMATCHED.has(code);
}

/** Turns the ticket into a limit order at the last price, which the reader may change. */
export function offerInstead(ticket: Fields): void {
  const { kind, market, outcome, price } = ticket;
  const { ask, bid, last } = quoteOf(market.tokens[outcome.peek()] ?? '').peek();
  batch(() => {
    kind.value = 'Limit';
    price.value = (last ?? bid ?? ask ?? HALF).toFixed(decimalsOf(market.tick));
  });
}

/** Offers what a market order has not filled, as an order that rests. */
export async function offerUnfilled(ticket: Fields): Promise<void> {
  const unfilled = ticket.unfilled.peek();
  const own = session.peek();
  if (unfilled === undefined || own === undefined) return;
  ticket.unfilled.value = undefined;
  const { price, sent, size } = unfilled;
  try {
    const order = { tokenId: sent.tokenId, side: sent.side, size, price };
    notifyPlaced(await own.client.orders.post(order), sent);
    refreshPositions();
  } catch (error) {
    notify('warning', textOf(error));
  }
}

/** Refusal of the node, in words of a person; '' where the order would be taken. */
function problemOf({ reason }: PreviewAnswer): string {
  return reason === null ? '' : reason.words;
}

function sentBy({ kind, market, outcome, side }: Fields): Sent {
  const index = outcome.peek();
  return {
    tokenId: market.tokens[index] ?? '',
    side: side.peek(),
    name: market.outcomes[index] ?? '',
    kind: kind.peek(),
  };
}

function tell(ticket: Fields, sent: Sent, { order }: PreviewAnswer, placed: Placed): void {
  notifyPlaced(placed, sent);
  const isImmediate = sent.kind === 'Market';
  if (isImmediate && placed.status !== 'delayed' && order !== null) {
    const done = Number(sent.side === 'BUY' ? placed.takingAmount : placed.makingAmount);
    const left = Math.floor((Number(order.size) - done) * 100) / 100;
    if (left >= ticket.market.sizeMin)
      ticket.unfilled.value = { sent, size: String(left), price: order.price };
  }
  if (placed.status === 'refused') return;
  ticket.amount.value = '';
  ticket.shares.value = '';
}

function notifyPlaced(placed: Placed, { name, side }: Sent): void {
  switch (placed.status) {
    case 'matched':
      notify(
        'good',
        side === 'BUY'
          ? `You bought ${placed.takingAmount} shares of ${name} for ${moneyText(Number(placed.makingAmount))}`
          : `You sold ${placed.makingAmount} shares of ${name} for ${moneyText(Number(placed.takingAmount))}`,
      );
      return;
    case 'live':
      notify(
        'good',
        'Your order waits in the book. Cancel it under Portfolio, or above on this page.',
      );
      return;
    case 'delayed':
      notify('info', 'Your order waits for the delay of this market');
      return;
    case 'canceled':
      notify('info', 'Nothing in the book matched: the order ended');
      return;
    case 'refused':
      notify('warning', personText({ code: placed.code, reason: placed.reason }));
  }
}
