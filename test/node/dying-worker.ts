/**
 * The node's own worker, which fails or dies on command: an order item may carry a member `fate`
 * (the node ignores members that it does not know).
 *
 *   throw-before  verifying fails                die-before    the thread ends before it verifies
 *   die-entering  it has taken its turn, and has not said so yet
 *   die-inside, throw-inside                     after the first change of the engine
 *   die-after     its turn is passed on, and the pool does not know yet
 */
import { Engine } from '../../engine/engine.ts';
import { laneSetup, serveLane } from '../../server/orders/exchange-memory/lanes.ts';
import { Slot, SlotState, SlotView } from '../../server/orders/exchange-memory/slots.ts';
import { OrderPreparer } from '../../server/orders/worker/prepare.ts';
import { run, type WorkerSetup } from '../../server/orders/worker/worker.ts';

const { slots } = laneSetup() as WorkerSetup;
const views = slots.slots.map((buffer) => new SlotView(buffer, slots.sizes));
let fate = '';

function fateOf(view: SlotView): string {
  const input = view.input.slice(0, view.i32[Slot.inputBytes]);
  return /"fate":"([a-z-]+)"/.exec(Buffer.from(input.buffer).toString('latin1'))?.[1] ?? '';
}

function die(): never {
  process.exit(1);
}

const { prepare } = OrderPreparer.prototype;
OrderPreparer.prototype.prepare = function (...args) {
  if (fate === 'throw-before') throw new Error('told to fail while verifying');
  prepare.apply(this, args);
};

const { setState } = SlotView.prototype;
SlotView.prototype.setState = function (state) {
  if (fate === 'die-entering' && state === SlotState.applying) die();
  setState.call(this, state);
};

const { apply } = Engine.prototype;
Engine.prototype.apply = function (...args) {
  const reason = apply.apply(this, args);
  if (fate === 'die-inside') die();
  if (fate === 'throw-inside') throw new Error('told to fail inside the turn');
  return reason;
};

function runToItsFate(index: number): Int32Array | undefined {
  const view = views[index];
  fate = view === undefined ? '' : fateOf(view);
  if (fate === 'die-before') die();
  const large = run(index);
  if (fate === 'die-after') die();
  return large;
}

export default function serve(lane: number): Promise<Int32Array> {
  return serveLane(lane, runToItsFate);
}
