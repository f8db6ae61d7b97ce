/**
 * A thread that places, fills and cancels orders in turns like workers, while a test reads them.
 * Sends one message when done.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { EngineMemory } from '../../engine/tables/tables.ts';
import { enterWriterTurn, leaveWriterTurn } from '../../server/orders/exchange-memory/slots.ts';
import { Random } from '../common/random.ts';
import { Fixture } from '../market-data/read-fixture.ts';
import { orderTerms, TAKER } from './order-terms.ts';

const { control, memory, orders, seed, token } = workerData as {
  readonly control: SharedArrayBuffer;
  readonly memory: EngineMemory;
  readonly token: number;
  readonly orders: number;
  readonly seed: number;
};
const fixture = new Fixture(memory);
const random = new Random(seed);
const words = new Int32Array(control);
const pause = new Int32Array(new SharedArrayBuffer(4));
let placed = 0;
for (let sequence = 0; placed < orders; sequence++) {
  enterWriterTurn(words, sequence);
  for (let i = random.between(1, 30); i > 0; i--) {
    placed += 1;
    fixture.order({ token, ...orderTerms(placed) });
    const old = random.between(Math.max(1, placed - 400), placed);
    fixture.cancel(old, orderTerms(old).signer ?? orderTerms(old).wallet);
    if (!random.chance(10)) continue;
    // Number `placed` is the taker's: no test reads it.
    placed += 1;
    fixture.order({ token, ...TAKER, shares: random.between(1, 20) * 500_000 });
  }
  leaveWriterTurn(words, sequence);
  Atomics.wait(pause, 0, 0, 0.1);
}
parentPort?.postMessage('done');
