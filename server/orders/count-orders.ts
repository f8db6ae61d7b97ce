/**
 * Counts the orders of a body of POST /orders from its bytes. A rate limit needs the number before a worker
 * has parsed the body.
 *
 * Thread: the I/O thread. Non-goals: whether the body is JSON, or its members are orders. For any other body
 * the number means nothing, and a worker refuses the body.
 */

const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Members of the outermost list: the objects that begin in it. */
export function countOrders(body: Uint8Array): number {
  return orderStarts(body, body.length).count;
}

/** The number of orders, and where the first one and every so many behind it begin. */
export function orderStarts(body: Uint8Array, every: number): { count: number; starts: number[] } {
  const starts: number[] = [];
  let depth = 0;
  let count = 0;
  for (let i = 0; i < body.length; i++) {
    switch (body[i]) {
      case QUOTE:
        for (i += 1; i < body.length && body[i] !== QUOTE; i++) if (body[i] === BACKSLASH) i += 1;
        break;
      case OPEN_OBJECT:
        if (depth === 1) {
          if (count % every === 0) starts.push(i);
          count += 1;
        }
        depth += 1;
        break;
      case OPEN_LIST:
        depth += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
    }
  }
  return { count, starts };
}
