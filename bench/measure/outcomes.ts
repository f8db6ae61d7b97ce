/**
 * Outcomes of the orders of a measuring run, by the words of the answers.
 * Thread: the tool's only one.
 * Non-goals: holding the answers against books of the tool's own (the checking mode does).
 */
import type { Kind } from './mix.ts';

/** Expected outcome of each kind of order. */
export const WELL: Readonly<Record<Kind, string>> = {
  fok: 'filled',
  gtc: 'resting',
  cancel: 'canceled',
};
export const THROTTLED = 'HTTP 429';
export const UNANSWERED = 'unanswered';
const LOST = 'connection lost';
const SUCCESS = Buffer.from('"success":true');
const ALL_CANCELED = Buffer.from('"not_canceled":{}');
const BODY_CHARS = 100;

interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/** Counts of orders by outcome. */
export class Outcomes {
  readonly counts = new Map<string, number>();

  /** Counts the orders of one request; answers in which all is well are not parsed. */
  count(kind: Kind, orders: number, { status, body }: Reply): void {
    if (status === 0) this.add(LOST, orders);
    else if (status !== 200) this.add(failure(status, body), orders);
    else if (kind === 'cancel') this.#countCancels(orders, body);
    else this.#countOrders(kind, orders, body);
  }

  add(outcome: string, orders: number): void {
    if (orders > 0) this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + orders);
  }

  #countOrders(kind: Kind, orders: number, body: Buffer): void {
    if (occurrences(body, SUCCESS) === orders) {
      this.add(WELL[kind], orders);
      return;
    }
    const json: unknown = JSON.parse(body.toString());
    for (const result of (Array.isArray(json) ? json : [json]) as { errorMsg: string }[]) {
      this.add(result.errorMsg === '' ? WELL[kind] : `${kind}: ${result.errorMsg}`, 1);
    }
  }

  #countCancels(orders: number, body: Buffer): void {
    if (body.includes(ALL_CANCELED)) {
      this.add(WELL.cancel, orders);
      return;
    }
    const json = JSON.parse(body.toString()) as { not_canceled: Record<string, string> };
    const reasons = Object.values(json.not_canceled);
    for (const reason of reasons) this.add(`cancel: ${reason}`, 1);
    this.add(WELL.cancel, orders - reasons.length);
  }
}

function failure(status: number, body: Buffer): string {
  if (status === 429) return THROTTLED;
  return `HTTP ${status} ${body.toString().slice(0, BODY_CHARS)}`;
}

function occurrences(body: Buffer, text: Buffer): number {
  let count = 0;
  for (let at = body.indexOf(text); at >= 0; at = body.indexOf(text, at + text.length)) count += 1;
  return count;
}
