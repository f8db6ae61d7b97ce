/**
 * The place in the log that a batch takes along in its slot, and what its worker did with it (lent-place.ts).
 *
 * Thread: I/O before and after the batch, its worker meanwhile.
 */
import { getSystemErrorName } from 'node:util';
import type { LentPlace, LoanEnd } from '../../../storage/log/log.ts';
import { LentState, Slot, type SlotView } from './slots.ts';

const NO_PLACE = 0;

export function putPlace({ f64, i32 }: SlotView, place: LentPlace | undefined): void {
  i32[Slot.lentState] = LentState.unused;
  i32[Slot.lentFile] = NO_PLACE;
  f64[Slot.writeMs] = 0;
  if (place === undefined) return;
  i32[Slot.lentFile] = place.file + 1;
  i32[Slot.lentLink] = place.link;
  i32[Slot.lentBefore] = place.before;
  f64[Slot.lentOffset] = place.offset;
  f64[Slot.lentRoom] = place.room;
  f64[Slot.lentAcknowledged] = place.acknowledged;
}

export function placeIn({ f64, i32 }: SlotView): LentPlace | undefined {
  const file = i32[Slot.lentFile]!;
  if (file === NO_PLACE) return undefined;
  return {
    file: file - 1,
    offset: f64[Slot.lentOffset]!,
    room: f64[Slot.lentRoom]!,
    link: i32[Slot.lentLink]!,
    acknowledged: f64[Slot.lentAcknowledged]!,
    before: i32[Slot.lentBefore]!,
  };
}

/** Called once the write has returned: a worker that dies before it leaves the place unused. */
export function putLoanEnd({ f64, i32 }: SlotView, end: LoanEnd): void {
  if (end.kind !== 'written') return;
  i32[Slot.lentResult] = end.crc;
  f64[Slot.lentBytes] = end.bytes;
  i32[Slot.lentState] = LentState.written;
}

export function putWriteError({ i32 }: SlotView, { errno }: NodeJS.ErrnoException): void {
  i32[Slot.lentResult] = errno ?? 0;
  i32[Slot.lentState] = LentState.failed;
}

export function loanEnd({ f64, i32 }: SlotView): LoanEnd {
  const state = i32[Slot.lentState];
  const result = i32[Slot.lentResult]!;
  if (state === LentState.unused) return { kind: 'unused' };
  if (state === LentState.failed) {
    const name = result < 0 ? getSystemErrorName(result) : 'no error of the system';
    return { kind: 'failed', message: `${name}, write` };
  }
  return {
    kind: 'written',
    sequence: f64[Slot.sequence]!,
    bytes: f64[Slot.lentBytes]!,
    crc: result >>> 0,
    after: i32[Slot.digest]!,
  };
}
