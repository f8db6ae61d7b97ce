/**
 * Cursors of the lists below /v2: the last row of a page, the limit, and the order and status that the pages have.
 * Rules: docs/protocol.md#data-api-v2
 *
 * A page begins behind a row and not at an offset, so rows that come in between move none.
 *
 * Thread: any; pure.
 */
import { compileShape, type TSchema } from '../common/schema.ts';

export type CursorPart = number | string;

/** Last row of a page, in the terms of its route. */
export type Position = readonly CursorPart[];

export interface PageCursor {
  readonly limit: number;
  /** Values of the parameters that fix the order, in the order of the route's list. */
  readonly order: readonly string[];
  readonly position: Position;
}

const TEXT = /^[A-Za-z0-9_-]{1,4096}$/;

export class CursorCodec {
  private readonly route: string;
  private readonly position: { matches(value: unknown): boolean };
  private readonly orders: number;

  /**
   * @param route its key: a cursor of another route is refused
   * @param position shape of its positions
   * @param orders number of the parameters that fix the order
   */
  constructor(route: string, position: TSchema, orders: number) {
    this.route = route;
    this.position = compileShape(position);
    this.orders = orders;
  }

  encode({ limit, order, position }: PageCursor): string {
    return Buffer.from(JSON.stringify([this.route, limit, order, position])).toString('base64url');
  }

  /** Undefined for every other text. */
  decode(text: string): PageCursor | undefined {
    if (!TEXT.test(text)) return undefined;
    const sent = parsed(Buffer.from(text, 'base64url').toString());
    if (!Array.isArray(sent) || sent.length !== 4) return undefined;
    const [route, limit, order, position] = sent as readonly unknown[];
    if (route !== this.route || !Number.isSafeInteger(limit)) return undefined;
    if (!Array.isArray(order) || order.length !== this.orders || !order.every(isText)) {
      return undefined;
    }
    if (!this.position.matches(position)) return undefined;
    return { limit: limit as number, order, position: position as Position };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
