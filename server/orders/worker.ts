/**
 * The task of a worker thread: one ticket from verification to its answers. Parse, hash, recover
 * signers in parallel with other workers; wait for the turn; apply; leave answers and journal words
 * in the slot; pass the turn on. Never asynchronous: between tasks the thread sleeps in an atomic
 * wait.
 *
 * Failing before the turn costs this batch an error. Failing inside it poisons the memory and does
 * not pass the turn on: the process stops, and recovery rebuilds what this thread may have half
 * changed.
 */
import { CommandBuffer, commandKind, commandWords, OrderCommand } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, State } from '../../engine/layout.ts';
import { BATCH_COMMANDS_MAX, UNJOURNALED_BATCHES_MAX } from '../../engine/limits.ts';
import { Rule, type RuleCode } from '../../engine/rules.ts';
import { copyTables, type EngineMemory, Tables } from '../../engine/tables.ts';
import { openFinalsReader } from '../../storage/finals-reader.ts';
import { errorBody } from '../common/contract.ts';
import { AnswerWriter, ruleBytes } from './answers.ts';
import { parseOrders } from './order-parse.ts';
import { workerData } from './pool.ts';
import { type Caller, OrderPreparer } from './prepare.ts';
import {
  align,
  awaitTurn,
  Control,
  enterTurn,
  leaveTurn,
  passTurn,
  RequestHead,
  RequestKind,
  Slot,
  type SlotMemory,
  SlotState,
  SlotView,
  TicketKind,
} from './slots.ts';

export interface WorkerSetup {
  readonly memory: EngineMemory;
  /** Where an image is copied to; no thread reads it while a ticket of that kind is in flight. */
  readonly spare: EngineMemory;
  readonly slots: SlotMemory;
  readonly separator: Uint8Array;
  readonly negRiskSeparator: Uint8Array;
  readonly verifySignatures: boolean;
  readonly maxBatchOrders: number;
  readonly dataDir: string;
}

/** One request of the batch, between verification and turn. */
interface Prepared {
  readonly kind: number;
  /** Body of a refusal that needs no turn, or undefined. */
  readonly refusal: Uint8Array | undefined;
  readonly firstWord: number;
  readonly endWord: number;
}

const setup = workerData() as WorkerSetup;
const engine = new Engine(setup.memory);
const spare = new Tables(setup.spare);
const control = new Int32Array(setup.slots.control);
const slots = setup.slots.slots.map((buffer) => new SlotView(buffer, setup.slots.sizes));
const finals = openFinalsReader(setup.dataDir);
const commands = new CommandBuffer();
const answers = new AnswerWriter();
const preparer = new OrderPreparer(engine.t, {
  separator: setup.separator,
  negRiskSeparator: setup.negRiskSeparator,
  verifySignatures: setup.verifySignatures,
  isKnown: (id) => idsMayHaveLeft && finals.has(id),
});
/** Whether an id may have left memory by the time of this ticket's turn: then disk is asked too. */
let idsMayHaveLeft = false;

/** Runs the ticket in slot `index`. */
export default function run(index: number): void {
  const slot = slots[index]!;
  const ticket = slot.i32[Slot.ticket]!;
  let prepared: readonly Prepared[];
  try {
    prepared = prepare(slot);
  } catch (error) {
    awaitTurn(control, ticket);
    slot.setState(SlotState.failed);
    passTurn(control, ticket);
    throw error;
  }
  awaitTurn(control, ticket);
  enterTurn(control, ticket);
  slot.setState(SlotState.applying);
  try {
    if (slot.i32[Slot.kind] === TicketKind.image) copyTables(engine.t, spare);
    else applyBatch(slot, prepared);
  } catch (error) {
    Atomics.store(control, Control.poisoned, 1);
    throw error;
  }
  slot.setState(SlotState.done);
  leaveTurn(control, ticket);
}

function prepare(slot: SlotView): Prepared[] {
  commands.clear();
  // Each ticket before this one adds at most a batch of orders to those that are known now.
  const { state } = engine.t;
  const known = state[State.finished]! + state[State.openOrders]!;
  const coming = UNJOURNALED_BATCHES_MAX * BATCH_COMMANDS_MAX;
  // One that is larger than before does not bring back what has left under a smaller one.
  const history = Math.min(state[State.history]!, engine.t.capacities.history);
  idsMayHaveLeft =
    state[State.finishedFirst]! > 0 ||
    (slot.f64[Slot.flushedFinished]! > 0 && known + coming > history);
  finals.refresh();
  const prepared: Prepared[] = [];
  let at = 0;
  for (let i = 0; i < slot.i32[Slot.requests]!; i++) {
    const head = at / 4;
    const kind = slot.inputWords[head + RequestHead.kind]!;
    const bytes = slot.inputWords[head + RequestHead.bytes]!;
    const bodyAt = at + 4 * RequestHead.words;
    const firstWord = commands.words;
    let refusal: Uint8Array | undefined;
    if (kind === RequestKind.orders) {
      refusal = prepareOrders(slot, head, slot.input.subarray(bodyAt, bodyAt + bytes));
    } else {
      appendCommands(slot.inputWords.subarray(bodyAt / 4, (bodyAt + bytes) / 4));
    }
    prepared.push({ kind, refusal, firstWord, endWord: commands.words });
    at = bodyAt + align(bytes);
  }
  return prepared;
}

function prepareOrders(slot: SlotView, head: number, body: Uint8Array): Uint8Array | undefined {
  const parsed = parseOrders(body, setup.maxBatchOrders);
  if (!parsed.ok) return Buffer.from(errorBody(parsed.error, parsed.detail));
  const caller = callerOf(slot.inputWords, head);
  for (const item of parsed.items) preparer.prepare(item, caller, commands);
  return undefined;
}

function callerOf(words: Int32Array, head: number): Caller {
  const keyAt = head + RequestHead.apiKey;
  const apiKeyWords = words.slice(keyAt, keyAt + API_KEY_WORDS);
  const addressAt = head + RequestHead.address;
  const address = wordsToBytes(words.slice(addressAt, addressAt + ADDRESS_WORDS));
  const hex = wordsToBytes(apiKeyWords).toString('hex');
  const part = (from: number, to: number): string => hex.slice(from, to);
  const apiKey = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join('-');
  return { apiKey, apiKeyWords, address };
}

function wordsToBytes(words: Int32Array): Buffer {
  const bytes = Buffer.alloc(words.length * 4);
  words.forEach((word, i) => {
    bytes.writeInt32BE(word, 4 * i);
  });
  return bytes;
}

function appendCommands(words: Int32Array): void {
  for (let at = 0; at < words.length; ) {
    const length = commandWords(words, at);
    const target = commands.begin(commandKind(words, at), length);
    commands.i32.set(words.subarray(at, at + length), target);
    at += length;
  }
}

function applyBatch(slot: SlotView, prepared: readonly Prepared[]): void {
  const { core, t } = engine;
  const { f64, i32 } = slot;
  f64[Slot.firstFill] = t.state[State.fills]!;
  engine.begin(f64[Slot.time]!, f64[Slot.flushedFinished]!);
  answers.start(slot);
  let journalWords = 0;
  for (const request of prepared) {
    if (request.refusal !== undefined) {
      answers.whole(400, request.refusal);
      continue;
    }
    const isOrders = request.kind === RequestKind.orders;
    const rules: RuleCode[] = [];
    if (isOrders) answers.openList();
    for (let at = request.firstWord; at < request.endWord; ) {
      const length = commandWords(commands.i32, at);
      const changes = core.changes;
      const rule = engine.apply(commands.i32, commands.f64, at);
      if (core.changes !== changes) {
        slot.journal.set(commands.i32.subarray(at, at + length), journalWords);
        journalWords += length;
      }
      if (!isOrders) rules.push(rule);
      else answerOrder(rule, at);
      at += length;
    }
    if (isOrders) answers.closeList();
    else answers.whole(200, ruleBytes(rules));
  }
  answers.finish();
  i32[Slot.changed] = engine.end() ? 1 : 0;
  i32[Slot.journalWords] = journalWords;
  i32[Slot.digest] = t.state[State.digest]!;
  f64[Slot.endFill] = t.state[State.fills]!;
  f64[Slot.endFinished] = t.state[State.finished]!;
  f64[Slot.sequence] = t.state[State.batch]!;
}

function answerOrder(rule: RuleCode, at: number): void {
  if (rule !== Rule.accepted) {
    answers.refused(rule);
    return;
  }
  const { core } = engine;
  answers.accepted(commands.i32, at + OrderCommand.id, core.making, core.taking);
}
