/** Orders that are checked and not placed, on tables of a random trading day. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  CommandBuffer,
  CommandKind,
  commandKind,
  encodeConfigure,
  OrderCommand,
  OrderFlag,
} from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { State } from '../../engine/tables/layout.ts';
import { type Tables, usedSpans } from '../../engine/tables/tables.ts';
import { type Random, withSeed } from '../common/random.ts';
import { Exchange, TIGHT, tradingDay } from '../storage/stored-exchange.ts';

const POLICIES = ['allow', 'cancel-taker', 'cancel-maker', 'cancel-both'];

const SELL = OrderFlag.sell;
const TYPES = 3 << OrderFlag.typeShift;

function bytesOf(t: Tables): Buffer {
  const spans = usedSpans(t).map(({ bytes, name, start }) =>
    t.memory.buffers[name].subarray(start, start + bytes),
  );
  return Buffer.concat(spans);
}

/** The order with some other terms, and so another id. */
function changed(command: Int32Array, random: Random, id: number): Int32Array {
  const copy = command.slice();
  const amounts = new Float64Array(copy.buffer);
  copy[OrderCommand.id] = id;
  if (random.below(3) === 0) copy[OrderCommand.flags]! ^= SELL;
  if (random.below(2) === 0) copy[OrderCommand.flags]! ^= random.below(4) << OrderFlag.typeShift;
  if (random.below(4) === 0) copy[OrderCommand.flags]! ^= OrderFlag.postOnly;
  if ((copy[OrderCommand.flags]! & TYPES) >> OrderFlag.typeShift > 1) {
    copy[OrderCommand.flags]! &= ~OrderFlag.postOnly;
  }
  if (random.below(6) === 0) amounts[OrderCommand.shares]! += 1;
  return copy;
}

for (const policy of POLICIES) {
  test(`a trial finds the reason of the order itself and changes no byte, with ${policy}`, () =>
    withSeed((random) => {
      const { engine, t } = new Exchange(TIGHT);
      const out = new CommandBuffer(16);
      engine.begin(0, 0);
      encodeConfigure(out, POLICIES.indexOf(policy), TIGHT.history, 0, t.orderRows);
      engine.apply(out.i32, out.f64, 0);
      engine.end();
      const reasons = new Set<number>();
      let tried = 0;
      for (const batch of tradingDay(random, 600)) {
        engine.begin(batch.time, t.state[State.closed]!);
        for (const original of batch.commands) {
          const isOrder = commandKind(original, 0) === CommandKind.order;
          tried += 1;
          const command = isOrder ? changed(original, random, tried) : original;
          if (isOrder) {
            const trial = command.slice();
            trial[OrderCommand.flags]! |= OrderFlag.trial;
            const before = bytesOf(t);
            const { changes } = engine.context;
            const reason = engine.apply(trial, new Float64Array(trial.buffer), 0);
            assert(before.equals(bytesOf(t)), 'no byte differs');
            assert.equal(engine.context.changes, changes);
            reasons.add(reason);
            assert.equal(engine.apply(command, new Float64Array(command.buffer), 0), reason);
          } else engine.apply(command, new Float64Array(command.buffer), 0);
        }
        engine.end();
      }
      const names = [RejectReason.accepted, RejectReason.fokUnfilled, RejectReason.fakUnfilled];
      for (const reason of names) assert(reasons.has(reason), `reason ${reason} was met`);
    }));
}
