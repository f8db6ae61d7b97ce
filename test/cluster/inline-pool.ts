/** Workers of a simulation: batches of commands and records, applied on the thread of the test in their order. */
import { CommandBuffer } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { EVENTS_MAX, EventBuffer } from '../../engine/events.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { BannedAddresses } from '../../server/auth/banned-addresses.ts';
import {
  Control,
  enterWriterTurn,
  leaveWriterTurn,
  RequestHead,
  RequestKind,
  Slot,
  type SlotMemory,
  SlotState,
  SlotView,
} from '../../server/orders/exchange-memory/slots.ts';
import { BatchApplier } from '../../server/orders/worker/batch-apply.ts';
import { BatchPreparer } from '../../server/orders/worker/batch-prepare.ts';
import type { Done, Failed, WorkerPool } from '../../server/orders/worker/pool.ts';
import { SignatureDiagnosis } from '../../server/orders/worker/signature-diagnosis.ts';
import { batchOf } from '../../storage/recovery/replay.ts';
import { DOMAINS, NO_FACTORIES, SEPARATORS } from './separators.ts';

export class InlinePool implements WorkerPool {
  isDead = false;
  private readonly control: Int32Array;
  private readonly views: readonly SlotView[];
  private readonly preparer: BatchPreparer;
  private readonly applier: BatchApplier;

  constructor({ memory }: Tables, slots: SlotMemory) {
    const engine = new Engine(memory, new EventBuffer(EVENTS_MAX));
    const commands = new CommandBuffer();
    this.control = new Int32Array(slots.control);
    this.views = slots.slots.map((buffer) => new SlotView(buffer, slots.sizes));
    this.applier = new BatchApplier(
      engine,
      commands,
      { texts: 'spec', hasCodes: false, listsTrades: false },
      undefined,
    );
    this.preparer = new BatchPreparer(engine.t, commands, {
      separators: SEPARATORS,
      verifySignatures: false,
      walletFactories: NO_FACTORIES,
      banned: new BannedAddresses(),
      domains: DOMAINS,
      diagnosis: new SignatureDiagnosis({ domains: DOMAINS, published: [], workers: 1 }),
      hasCodes: false,
      maxBatchOrders: 15,
      maxCancelIds: 1_000,
      parse: { resolvesCondition: false, orderVersion: '1', hasVersion3: false },
      now: () => 0,
      forgotten: () => 0,
      reach: () => 0,
      knownStatus: () => 0,
    });
  }

  run(index: number, done: Done, failed: Failed): void {
    setImmediate(() => {
      if (this.isDead) return;
      try {
        this.runBatch(this.views[index]!);
        done(undefined);
      } catch (error) {
        failed(error as Error);
      }
    });
  }

  loaded(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private runBatch(slot: SlotView): void {
    const { applier, control } = this;
    const sequence = slot.i32[Slot.dispatchSequence]!;
    const apply = this.prepare(slot);
    enterWriterTurn(control, sequence);
    slot.setState(SlotState.applying);
    try {
      apply(applier);
    } catch (error) {
      Atomics.store(control, Control.poisoned, 1);
      throw error;
    }
    slot.setState(SlotState.done);
    leaveWriterTurn(control, sequence);
  }

  private prepare(slot: SlotView): (applier: BatchApplier) => void {
    if (!slot.beginsWith(RequestKind.record)) {
      const prepared = this.preparer.prepare(slot);
      return (applier) => applier.apply(slot, prepared);
    }
    const at = 4 * RequestHead.words;
    const end = at + slot.inputWords[RequestHead.bytes]!;
    const record = batchOf({ sequence: 0, payload: Buffer.from(slot.input.subarray(at, end)) });
    return (applier) => applier.replay(slot, record);
  }
}
