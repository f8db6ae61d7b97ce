/**
 * Requests that place orders, by key and idempotency key: the same request is sent once, and its repetitions get its
 * answer.
 *
 * Thread: the one that owns it. In memory: another node, and the next run, do not have them.
 */
import type { OrderItemShape } from '../../client/types.ts';
import { RecentCache } from '../common/recent-cache.ts';
import { mayBeDone, toolRefusal } from './tool-refusals.ts';

interface Request {
  /** Arguments of the call, as text. */
  readonly terms: string;
  /** Signed order, sent with the same bytes again. */
  item: OrderItemShape | undefined;
  answer: Promise<object> | undefined;
}

/** Requests of one key that are remembered. */
const OF_KEY_MAX = 64;
const KEYS_MAX = 1_024;

export class PlacedRequests {
  private readonly byOwner = new RecentCache<RecentCache<Request>>(KEYS_MAX);

  /**
   * Prepares and sends a request, or returns the answer of the same one before. After a refusal it may be made anew.
   * @param terms arguments, which the same idempotency key has to have
   */
  async once(
    owner: string,
    key: string,
    terms: string,
    prepare: () => Promise<OrderItemShape>,
    send: (item: OrderItemShape) => Promise<object>,
  ): Promise<object> {
    const requests = this.of(owner);
    let request = requests.get(key);
    if (request !== undefined && request.terms !== terms) throw toolRefusal('IDEMPOTENCY_KEY_USED');
    if (request?.answer !== undefined) return { ...(await request.answer), repeated: true };
    request ??= { terms, item: undefined, answer: undefined };
    requests.set(key, request);
    const made = request;
    const run = async (): Promise<object> => {
      made.item ??= await prepare();
      return send(made.item);
    };
    made.answer = run();
    try {
      return await made.answer;
    } catch (error) {
      made.answer = undefined;
      if (made.item === undefined || !mayBeDone(error)) requests.delete(key);
      throw error;
    }
  }

  private of(owner: string): RecentCache<Request> {
    let requests = this.byOwner.get(owner);
    if (requests === undefined) {
      requests = new RecentCache(OF_KEY_MAX);
      this.byOwner.set(owner, requests);
    }
    return requests;
  }
}
