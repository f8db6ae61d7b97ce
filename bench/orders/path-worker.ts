/** A worker that does nothing with its batches: what is left is the way there and back. */
import { serveLane } from '../../server/orders/exchange-memory/lanes.ts';

export default function serve(lane: number): Promise<Int32Array> {
  return serveLane(lane, () => undefined);
}
