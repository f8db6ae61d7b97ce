/** Records the actions of a strategy with their times. The run is the same as without it. */
import type {
  Balance,
  Book,
  Conversion,
  Market,
  Order,
  OrderRequest,
  Strategy,
  Venue,
} from './strategy.ts';
import { FUNCTIONS } from './strategy-source.ts';

export interface Action {
  readonly time: number;
  readonly does: string;
}

/** Returns a strategy whose functions get a venue that adds actions to a list. */
export function traced(strategy: Strategy, actions: Action[]): Strategy {
  const { everyMs, name } = strategy;
  const wrapped: Record<string, unknown> = { name, everyMs };
  let own: TracedVenue | undefined;
  const tracedVenue = (venue: Venue): Venue => {
    own ??= new TracedVenue(venue, actions);
    return own;
  };
  for (const called of Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[]) {
    const run = strategy[called] as ((...args: unknown[]) => unknown) | undefined;
    if (run === undefined) continue;
    // The end of the run is no time at which other runs act.
    if (called === 'onEnd') wrapped[called] = run.bind(strategy);
    else
      wrapped[called] = (...args: unknown[]) =>
        run.call(strategy, ...args.slice(0, -1), tracedVenue(args.at(-1) as Venue));
  }
  return wrapped as Strategy;
}

class TracedVenue implements Venue {
  private readonly venue: Venue;
  private readonly actions: Action[];

  constructor(venue: Venue, actions: Action[]) {
    this.venue = venue;
    this.actions = actions;
  }

  get now(): number {
    return this.venue.now;
  }

  get markets(): readonly Market[] {
    return this.venue.markets;
  }

  place(request: OrderRequest): Order {
    const { expiration, postOnly, price, side, size, token, type = 'GTC' } = request;
    const terms = [
      type,
      ...(postOnly === true ? ['postOnly'] : []),
      ...(expiration ? [`until ${expiration}`] : []),
    ];
    this.note(`${side} ${size} of ${token} at ${price} ${terms.join(' ')}`);
    return this.venue.place(request);
  }

  cancel(order: Order): void {
    this.note(`cancel ${order.id}`);
    this.venue.cancel(order);
  }

  cancelAll(token?: string): void {
    this.note(token === undefined ? 'cancel all' : `cancel all of ${token}`);
    this.venue.cancelAll(token);
  }

  split(market: Market, size: number): Conversion {
    this.note(`split ${size} of ${market.id}`);
    return this.venue.split(market, size);
  }

  merge(market: Market, size: number): Conversion {
    this.note(`merge ${size} of ${market.id}`);
    return this.venue.merge(market, size);
  }

  book(token: string): Book {
    return this.venue.book(token);
  }

  market(token: string): Market {
    return this.venue.market(token);
  }

  cash(): Balance {
    return this.venue.cash();
  }

  position(token: string): Balance {
    return this.venue.position(token);
  }

  openOrders(token?: string): readonly Order[] {
    return this.venue.openOrders(token);
  }

  after(ms: number, act: () => void): void {
    this.venue.after(ms, act);
  }

  private note(does: string): void {
    this.actions.push({ time: this.venue.now, does });
  }
}
