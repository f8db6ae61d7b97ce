import assert from 'node:assert/strict';
import test from 'node:test';
import { allocateSlots, Slot, SlotView } from '../../server/orders/exchange-memory/slots.ts';
import { logRecord, takeApplied } from '../../server/orders/worker/applied-batch.ts';

function slotOf(): SlotView {
  const { sizes, slots } = allocateSlots(1, 4_096, 16);
  return new SlotView(slots[0]!, sizes);
}

test('commands and events are copied, because the slot is used again', () => {
  const view = slotOf();
  view.log.set([1, 2, 3, 4]);
  view.events.set([5, 6, 7, 8]);
  view.i32[Slot.logWords] = 4;
  view.i32[Slot.eventWords] = 4;
  view.f64[Slot.time] = 77;
  const batch = takeApplied(view, logRecord(view).payload, undefined);
  view.log.fill(0);
  view.events.fill(0);
  assert.deepEqual([...batch.commands], [1, 2, 3, 4]);
  assert.deepEqual([...batch.events], [5, 6, 7, 8]);
  assert.equal(batch.eventsF.buffer, batch.events.buffer);
  assert.equal(batch.commandsF.buffer, batch.commands.buffer);
  assert.deepEqual([batch.time, batch.isWhole], [77, true]);
});

test('events that the slot has no room for come beside it', () => {
  const view = slotOf();
  const large = new Int32Array(view.events.length + 8).fill(3);
  view.i32[Slot.eventWords] = large.length;
  const batch = takeApplied(view, logRecord(view).payload, large);
  assert.deepEqual([batch.events, batch.isWhole], [large, true]);
  const lost = takeApplied(view, logRecord(view).payload, undefined);
  assert.deepEqual(
    [lost.events.length, lost.isWhole],
    [0, false],
    'the worker died before it said',
  );
  view.i32[Slot.eventWords] = 8;
  view.i32[Slot.eventsLost] = 1;
  assert.equal(
    takeApplied(view, logRecord(view).payload, undefined).isWhole,
    false,
    'the log was full',
  );
});
