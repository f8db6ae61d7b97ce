/**
 * Applies the commands of a batch one by one inside the writer turn. Each request is answered into the slot;
 * commands that changed the engine are copied there for the log.
 *
 * Thread: the worker in its writer turn. Not here: parsing and signatures (batch-prepare.ts).
 */

import assert from 'node:assert/strict';
import {
  type CommandBuffer,
  commandWords,
  OrderCommand,
  PrecheckFlags,
} from '../../../engine/commands.ts';
import type { Engine } from '../../../engine/engine.ts';
import { findOrder } from '../../../engine/orders/orders.ts';
import { RejectReason, type RejectReasonCode } from '../../../engine/orders/reject-reasons.ts';
import {
  closedCount,
  fillCount,
  isDelayedOrder,
  lastBatch,
  stateDigest,
  statusOfOrder,
} from '../../../engine/reads.ts';
import { Status } from '../../../engine/tables/codes.ts';
import type { OrderRow } from '../../../engine/tables/units.ts';
import type { BatchRecord } from '../../../storage/log/batch-record.ts';
import { replayBatch } from '../../../storage/recovery/replay.ts';
import { RequestKind, Slot, type SlotView } from '../exchange-memory/slots.ts';
import { Check } from '../intake/checked-orders.ts';
import type { FirstAnswers } from '../intake/first-answers.ts';
import { type ResultStyle, ResultWriter, rejectBytes } from './answers.ts';
import type { PreparedRequest } from './batch-prepare.ts';
import { lastFilled, writeCancelAllPart, writeCancels, writeReplace } from './cancel-answers.ts';
import { type Explanation, explained } from './result-details.ts';

const NO_BYTES = new Uint8Array(0);

export class BatchApplier {
  private readonly engine: Engine;
  private readonly commands: CommandBuffer;
  private readonly answers: ResultWriter;
  private readonly first: FirstAnswers | undefined;
  private log: Int32Array = new Int32Array(0);
  private logWords = 0;
  private results: Int32Array = new Int32Array(0);
  private explanations: PreparedRequest['explanations'] = new Map();

  constructor(
    engine: Engine,
    commands: CommandBuffer,
    style: ResultStyle,
    first: FirstAnswers | undefined,
  ) {
    this.answers = new ResultWriter(style);
    this.engine = engine;
    this.commands = commands;
    this.first = first;
  }

  apply(slot: SlotView, prepared: readonly PreparedRequest[]): void {
    const { engine } = this;
    const { f64 } = slot;
    this.start(slot);
    if (prepared.length > 0 && prepared.every(({ kind }) => kind === RequestKind.check)) {
      engine.context.events.clear();
      for (const request of prepared) this.applyRequest(request);
      this.finish(slot, false);
      return;
    }
    engine.begin(f64[Slot.time]!, f64[Slot.persistedClosedSequence]!);
    for (const request of prepared) this.applyRequest(request);
    this.finish(slot, engine.end());
  }

  /**
   * Applies the record of another node: the slot is left as after a batch of this node. Throws where the
   * effect differs.
   */
  replay(slot: SlotView, record: BatchRecord): void {
    const { f64 } = slot;
    this.start(slot);
    f64[Slot.time] = record.time;
    f64[Slot.persistedClosedSequence] = record.persistedClosedSequence;
    replayBatch(this.engine, record);
    slot.log.set(record.i32);
    this.logWords = record.i32.length;
    this.answers.whole(200, NO_BYTES);
    this.finish(slot, true);
  }

  private start(slot: SlotView): void {
    this.log = slot.log;
    this.logWords = 0;
    this.results = slot.results;
    this.results.fill(0);
    slot.f64[Slot.firstFill] = fillCount(this.engine.t);
    this.answers.start(slot);
  }

  private finish(slot: SlotView, hasChanged: boolean): void {
    const { f64, i32 } = slot;
    const { events } = this.engine.context;
    const { t } = this.engine;
    this.answers.finish();
    i32[Slot.changed] = hasChanged ? 1 : 0;
    i32[Slot.logWords] = this.logWords;
    i32[Slot.eventWords] = events.words;
    i32[Slot.eventsLost] = events.overflowed ? 1 : 0;
    if (events.words <= slot.events.length) slot.events.set(events.i32.subarray(0, events.words));
    i32[Slot.digest] = stateDigest(t);
    f64[Slot.endFill] = fillCount(t);
    f64[Slot.closedEnd] = closedCount(t);
    f64[Slot.sequence] = lastBatch(t);
  }

  private applyRequest(request: PreparedRequest): void {
    const { answers } = this;
    this.explanations = request.explanations;
    if (request.refusal !== undefined) {
      answers.whole(400, request.refusal);
      return;
    }
    switch (request.kind) {
      case RequestKind.check:
        if (request.checked === undefined) answers.whole(Check.atLeader, NO_BYTES);
        else answers.whole(Check.done, request.checked);
        return;
      case RequestKind.orders:
        answers.openList();
        this.each(request, (reason, at) => this.answerOrder(reason, at));
        answers.closeList();
        return;
      case RequestKind.order:
        answers.open();
        this.each(request, (reason, at) => this.answerOrder(reason, at));
        answers.close(200);
        return;
      case RequestKind.explain:
        this.each(request, (reason, at) => this.explainTrial(request, reason, at));
        return;
      case RequestKind.replace:
        this.replace(request);
        return;
      case RequestKind.cancelOrder:
      case RequestKind.cancelOrders:
        this.cancelIds(request);
        return;
      case RequestKind.cancelAll:
      case RequestKind.cancelMarket:
        this.cancelAll(request);
        return;
      default: {
        const rules: RejectReasonCode[] = [];
        this.each(request, (reason) => rules.push(reason));
        answers.whole(200, rejectBytes(rules));
      }
    }
  }

  private each(
    request: PreparedRequest,
    visit: (reason: RejectReasonCode, at: number) => void,
  ): void {
    const { i32 } = this.commands;
    this.engine.ahead(i32, request.firstWord, request.endWord);
    for (let at = request.firstWord; at < request.endWord; at += commandWords(i32, at)) {
      visit(this.applyCommand(at), at);
    }
  }

  private applyCommand(at: number): RejectReasonCode {
    const { context } = this.engine;
    const { f64, i32 } = this.commands;
    const changes = context.changes;
    context.events.command = this.logWords;
    const reason = this.engine.apply(i32, f64, at);
    if (context.changes !== changes) this.appendToLog(i32, at, commandWords(i32, at));
    return reason;
  }

  /** Copies a command for the log, word by word: a view of so few words would take longer. */
  private appendToLog(i32: Int32Array, at: number, length: number): void {
    const { log, logWords } = this;
    for (let word = 0; word < length; word++) log[logWords + word] = i32[at + word]!;
    this.logWords = logWords + length;
  }

  private answerOrder(reason: RejectReasonCode, at: number): void {
    const { answers, commands, engine } = this;
    const { firstFill, making, taking } = engine.context;
    const idAt = at + OrderCommand.id;
    this.results[reason]! += 1;
    if (reason === RejectReason.accepted) {
      if (engine.context.isDelayed) answers.delayed(commands.i32, idAt);
      else answers.accepted(commands.i32, idAt, making, taking, firstFill);
    } else if (reason === RejectReason.duplicate) this.answerDuplicate(at);
    else this.refuse(reason, at);
  }

  private explainTrial({ facts }: PreparedRequest, reason: RejectReasonCode, at: number): void {
    assert(facts !== undefined, 'an explanation is prepared');
    if (reason === RejectReason.accepted) this.answers.wouldAccept(facts);
    else this.answers.wouldRefuse(reason, this.explanationOf(reason, at), facts);
  }

  private explanationOf(reason: RejectReasonCode, at: number): Explanation | undefined {
    const { commands, engine } = this;
    return reason === RejectReason.signature || reason === RejectReason.ownerMismatch
      ? this.explanations.get(at)
      : explained(engine.t, reason, commands.i32, commands.f64, at, engine.context.time);
  }

  private refuse(reason: Exclude<RejectReasonCode, 0>, at: number): void {
    const { answers } = this;
    if (!answers.hasCodes) {
      const isOfSignature = reason === RejectReason.signature;
      answers.refused(reason, isOfSignature ? this.explanations.get(at) : undefined);
      return;
    }
    const explanation = this.explanationOf(reason, at);
    if (explanation === undefined) answers.refused(reason);
    else answers.explained(reason, explanation);
  }

  private answerDuplicate(at: number): void {
    const { i32 } = this.commands;
    const first = this.first?.of(i32, at);
    const idAt = at + OrderCommand.id;
    if (first === undefined) {
      const place = findOrder(this.engine.t, i32, idAt);
      const isWaiting = place > 0 && isDelayedOrder(this.engine.t, place as OrderRow);
      this.answers.known(i32, idAt, this.knownStatus(at), isWaiting);
    } else if (first.wasDelayed) this.answers.delayed(i32, idAt);
    else this.answers.accepted(i32, idAt, first.making, first.taking, first.match);
  }

  /** Status of the order that a duplicate repeats, in memory or, according to the precheck flags, on disk. */
  private knownStatus(at: number): number {
    const { t } = this.engine;
    const { i32 } = this.commands;
    const place = findOrder(t, i32, at + OrderCommand.id);
    if (place > 0) return Status.live;
    if (place === 0)
      return (i32[at + OrderCommand.precheck]! & PrecheckFlags.known) >> PrecheckFlags.knownShift;
    return statusOfOrder(t, -place as OrderRow);
  }

  /** Applies the order only if the cancel succeeded; a repeated request gets the order as known. */
  private replace({ endWord, firstWord }: PreparedRequest): void {
    const { answers, commands, engine } = this;
    const orderAt = firstWord + commandWords(commands.i32, firstWord);
    engine.ahead(commands.i32, firstWord, endWord);
    const isCanceled = this.applyCommand(firstWord) === RejectReason.accepted;
    const filled = isCanceled ? lastFilled(engine.t) : -1;
    let writeOrder: (() => void) | undefined;
    if (isCanceled) {
      const reason = this.applyCommand(orderAt);
      writeOrder = () => this.answerOrder(reason, orderAt);
    } else if (this.knownStatus(orderAt) !== 0) {
      writeOrder = () => this.answerOrder(RejectReason.duplicate, orderAt);
    }
    writeReplace(answers, commands.i32, firstWord, filled, writeOrder);
  }

  private cancelIds(request: PreparedRequest): void {
    const filled: number[] = [];
    this.each(request, (reason) => {
      filled.push(reason === RejectReason.accepted ? lastFilled(this.engine.t) : -1);
    });
    const { answers, commands } = this;
    writeCancels(answers, commands.i32, request.firstWord, filled, request.malformedIds);
  }

  private cancelAll(request: PreparedRequest): void {
    const { context, t } = this.engine;
    const first = closedCount(t);
    let from = 0;
    this.each(request, () => {
      from = context.nextOwned;
    });
    writeCancelAllPart(this.answers, t, first, { from, newest: request.newest });
  }
}
