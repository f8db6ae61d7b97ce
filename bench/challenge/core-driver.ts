/**
 * A challenge stream on the matching core alone. This file does what the core leaves to its caller:
 * the map from an id to the resting slot of its order, and the reports. Prices are used as levels.
 * Functions are fields for the reason that core.ts gives.
 */
import * as matching from '../../engine/book/matching.ts';
import { allocateMatching, ladderRows, Matching } from '../../engine/book/matching.ts';
import type { Contender } from './contender.ts';
import type { Reports } from './reports.ts';
import * as reports from './reports.ts';
import type { ChallengeStream } from './stream.ts';
import * as stream from './stream.ts';

// V8 folds a module's own constants into machine code. It loads imported ones at each use.
const { MESSAGE_WORDS, Message, MessageFlag, MessageKind } = stream;
const { ReportKind } = reports;
const { Side } = matching;

const BOOK = 1;
const CHUNK_WORDS = 4_096 * MESSAGE_WORDS;

export class CoreContender implements Contender {
  readonly name = 'core';
  readonly reportsFills = true;
  private readonly core: Matching;
  private readonly stream: ChallengeStream;
  private readonly levels: number;
  /** Slot of each id that rests; 0 = none. */
  private readonly slots: Int32Array;

  constructor(stream: ChallengeStream) {
    this.stream = stream;
    this.levels = Math.max(2, stream.priceMax + 1);
    const capacities = { books: 1, orders: stream.idMax, levels: ladderRows(this.levels) };
    this.core = new Matching(allocateMatching(capacities));
    this.slots = new Int32Array(stream.idMax + 1);
  }

  /** An empty book in memory that was touched before. */
  prepare(): void {
    const { bookI, header, rowI } = this.core;
    for (const table of [header, bookI, rowI, this.slots]) table.fill(0);
    this.core.open(BOOK, this.levels);
  }

  run(reports: Reports): void {
    const { words } = this.stream;
    for (let at = 0; at < words.length; at += CHUNK_WORDS) {
      this.chunk(reports, at, Math.min(at + CHUNK_WORDS, words.length));
    }
  }

  /** In pieces, because a function that is called is compiled better than a loop that is entered once. */
  private readonly chunk = (reports: Reports, from: number, to: number): void => {
    const { words } = this.stream;
    for (let at = from; at < to; at += MESSAGE_WORDS) {
      const flags = words[at | Message.flags]!;
      const kind = flags & MessageFlag.kindMask;
      if (kind === MessageKind.new) this.place(reports, at, flags, ReportKind.accepted);
      else if (kind === MessageKind.cancel) this.cancel(reports, at);
      else this.modify(reports, at, flags);
    }
  };

  private readonly place = (reports: Reports, at: number, flags: number, kind: number): void => {
    const { core, slots } = this;
    const { words } = this.stream;
    const quantity = words[at | Message.quantity]!;
    const sequence = words[at | Message.sequence]!;
    const id = words[at | Message.id]!;
    const price = words[at | Message.price]!;
    const side = (flags & MessageFlag.sell) === 0 ? Side.bid : Side.ask;
    reports.order(kind, sequence, side, id, price, quantity);
    const fills = core.match(BOOK, side, price, quantity);
    for (let i = 0; i < fills; i++) {
      const slot = core.makers[i]!;
      const maker = core.userData(slot);
      if (core.remaining(slot) === 0) slots[maker] = 0;
      reports.fill(sequence, core.level(slot), core.sizes[i]!, maker, id);
    }
    const left = core.left;
    if (left === 0) return;
    if ((flags & MessageFlag.ioc) !== 0) {
      reports.order(ReportKind.canceled, sequence, side, id, price, 0);
    } else {
      slots[id] = core.rest(BOOK, side, price, left, id);
    }
  };

  private readonly cancel = (reports: Reports, at: number): void => {
    const { core, slots } = this;
    const { words } = this.stream;
    const sequence = words[at | Message.sequence]!;
    const id = words[at | Message.id]!;
    const slot = slots[id]!;
    if (slot === 0) {
      reports.order(ReportKind.cancelRejected, sequence, 0, id, 0, 0);
      return;
    }
    slots[id] = 0;
    reports.order(ReportKind.canceled, sequence, core.side(slot), id, core.level(slot), 0);
    core.cancel(slot);
  };

  private readonly modify = (reports: Reports, at: number, flags: number): void => {
    const { words } = this.stream;
    const id = words[at | Message.id]!;
    const slot = this.slots[id]!;
    if (slot === 0) {
      reports.order(ReportKind.modifyRejected, words[at | Message.sequence]!, 0, id, 0, 0);
      return;
    }
    this.slots[id] = 0;
    this.core.cancel(slot);
    this.place(reports, at, flags, ReportKind.modified);
  };
}
