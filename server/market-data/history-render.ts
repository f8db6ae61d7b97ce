/**
 * Price history as JSON: `[{"t":1713871800,"p":0.42},..]`, ascending, without the buckets before
 * the first trade (docs/protocol.md#price-history).
 *
 * A long answer is written in pieces with turns of the event loop between them.
 *
 * Thread: any; pure.
 */

import type { Pips } from '../../engine/tables/units.ts';
import { DECIMAL_BYTES_MAX, writeInteger, writePips } from '../common/decimal.ts';
import { nextTurn } from '../common/next-turn.ts';
import { type Buckets, startOf } from './history-window.ts';
import { ascii, put } from './texts.ts';

/** Points between two turns: 0.5 ms; 3 ms before V8 has compiled the code. */
const POINTS_PER_TURN = 2_048;

const T = ascii('{"t":');
const P = ascii(',"p":');
const END = ascii('},');
const OPEN = 0x5b;
const CLOSE = 0x5d;
const POINT_BYTES_MAX = T.length + P.length + END.length + 2 * DECIMAL_BYTES_MAX;

/** @param prices pips of each bucket; 0 = no trade so far */
export async function renderPoints(prices: Uint16Array, buckets: Buckets): Promise<Buffer> {
  const { first, step } = buckets;
  const out = Buffer.allocUnsafe(2 + prices.length * POINT_BYTES_MAX);
  let at = 0;
  out[at++] = OPEN;
  for (let i = 0; i < prices.length; i++) {
    if (i > 0 && i % POINTS_PER_TURN === 0) await nextTurn();
    if (prices[i] === 0) continue;
    at = put(T, out, at);
    at = writeInteger(startOf(first + i, step), out, at);
    at = put(P, out, at);
    at = writePips(prices[i]! as Pips, out, at);
    at = put(END, out, at);
  }
  // The closing bracket replaces the last comma.
  if (at > 1) at -= 1;
  out[at++] = CLOSE;
  return out.subarray(0, at);
}
