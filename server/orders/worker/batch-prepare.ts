/**
 * Prepares the requests of a batch as engine commands, before the writer turn. The result depends on the
 * requests alone, apart from look-ups whose answers stay true.
 *
 * Thread: a worker; scratch belongs to the instance. Not here: one order (prepare.ts), rules of state
 * (engine).
 */
import {
  type CommandBuffer,
  commandKind,
  commandWords,
  encodeCancel,
  encodeCancelOwner,
  type SettlementTerms,
} from '../../../engine/commands.ts';
import { findMarket, findToken } from '../../../engine/markets/markets.ts';
import { CANCEL_ORDERS_MAX } from '../../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS } from '../../../engine/tables/codes.ts';
import type { Tables } from '../../../engine/tables/tables.ts';
import type { MarketRow, OrderRow, TokenRow } from '../../../engine/tables/units.ts';
import { errorBody } from '../../common/error-bodies.ts';
import { bytesToWords, decimalToWords } from '../../common/uint256.ts';
import { CANCEL_ALL_HEAD_BYTES, readCancelAllHead } from '../cancel/cancel-all.ts';
import { align, RequestHead, RequestKind, Slot, type SlotView } from '../exchange-memory/slots.ts';
import {
  CHECK_HEAD_BYTES,
  CheckedCompleter,
  decodeChecked,
  encodeChecked,
} from '../intake/checked-orders.ts';
import { malformedIdBytes } from './cancel-answers.ts';
import {
  type CancelScope,
  parseCancelMarket,
  parseCancelOrder,
  parseCancelOrders,
  parseReplace,
} from './cancel-parse.ts';
import { type ExplainOptions, OrderExplainer, type OrderFacts } from './order-explanation.ts';
import {
  type ParsedOrders,
  type ParseRules,
  parseOrder,
  parseOrders,
  type RequestRefused,
} from './order-parse.ts';
import { type Caller, OrderPreparer, type PrepareOptions } from './prepare.ts';
import type { Explanation } from './result-details.ts';
import type { SignatureDiagnosis } from './signature-diagnosis.ts';

export interface BatchOptions extends PrepareOptions, ExplainOptions {
  /** RESULT_CODES. */
  readonly hasCodes: boolean;
  readonly maxBatchOrders: number;
  readonly maxCancelIds: number;
  readonly parse: ParseRules;
  /** Milliseconds; constant when metrics are off. */
  readonly now: () => number;
  /** Number of closed orders whose ids may have left memory by the turn of this batch. */
  readonly forgotten: () => number;
  /** Number of closed orders on the disk on which ids are looked up. */
  readonly reach: () => number;
}

export interface PreparedRequest {
  readonly kind: number;
  /** Body of a refusal that needs no writer turn. */
  readonly refusal: Uint8Array | undefined;
  /** Result of a pre-validation for the leader; `undefined` = the leader has to check the request. */
  readonly checked?: Uint8Array | undefined;
  readonly firstWord: number;
  readonly endWord: number;
  /** Members of `not_canceled` without a command, in cancels by id. */
  readonly malformedIds: Uint8Array;
  /** Time of the first part of a cancel of everything, in unix milliseconds. */
  readonly newest: number;
  /** Faults of signatures, by the first word of a command. */
  readonly explanations: ReadonlyMap<number, Explanation>;
  /** Absent: the request is none for an explanation. */
  readonly facts?: OrderFacts;
}

type Outcome = Partial<
  Pick<
    PreparedRequest,
    'kind' | 'refusal' | 'checked' | 'malformedIds' | 'newest' | 'explanations' | 'facts'
  >
>;

const NONE = new Uint8Array(0);
const NOTHING_TOLD: ReadonlyMap<number, Explanation> = new Map();
const EVERYTHING: CancelScope = { ok: true, condition: undefined, tokenId: undefined };

export class BatchPreparer {
  readonly commands: CommandBuffer;
  /** Milliseconds of hashing and recovering in the batch prepared last. */
  verifyMs = 0;
  private readonly tables: Tables;
  private readonly options: BatchOptions;
  private readonly orders: OrderPreparer;
  private readonly explainer: OrderExplainer;
  private readonly diagnosis: SignatureDiagnosis | undefined;
  private readonly completer: CheckedCompleter;
  private readonly id = new Int32Array(ID_WORDS);
  /** Unix milliseconds. */
  private time = 0;

  constructor(tables: Tables, commands: CommandBuffer, options: BatchOptions) {
    this.tables = tables;
    this.commands = commands;
    this.options = options;
    this.orders = new OrderPreparer(tables, options);
    this.explainer = new OrderExplainer(tables, this.orders, options);
    this.diagnosis = options.hasCodes ? options.diagnosis : undefined;
    this.completer = new CheckedCompleter(options);
  }

  prepare(slot: SlotView): PreparedRequest[] {
    const { commands } = this;
    commands.clear();
    this.verifyMs = 0;
    this.time = slot.f64[Slot.time]!;
    const prepared: PreparedRequest[] = [];
    let at = 0;
    for (let i = 0; i < slot.i32[Slot.requests]!; i++) {
      const head = at / 4;
      const kind = slot.inputWords[head + RequestHead.kind]!;
      const bytes = slot.inputWords[head + RequestHead.bytes]!;
      const bodyAt = at + 4 * RequestHead.words;
      const firstWord = commands.words;
      const outcome = this.prepareRequest(slot, head, slot.input.subarray(bodyAt, bodyAt + bytes));
      prepared.push({
        kind,
        refusal: undefined,
        malformedIds: NONE,
        newest: 0,
        explanations: NOTHING_TOLD,
        ...outcome,
        firstWord,
        endWord: commands.words,
      });
      at = bodyAt + align(bytes);
    }
    return prepared;
  }

  private prepareRequest(slot: SlotView, head: number, body: Uint8Array): Outcome {
    const words = slot.inputWords;
    const kind = words[head + RequestHead.kind]!;
    switch (kind) {
      case RequestKind.orders:
      case RequestKind.order:
      case RequestKind.replace:
        return this.place(kind, body, words, head);
      case RequestKind.explain:
        return this.explain(parseOrder(body, this.options.parse), words, head);
      case RequestKind.check:
        return this.check(slot, head, body);
      case RequestKind.checked:
        return this.complete(body);
      case RequestKind.cancelOrder:
        return this.cancelIds(parseCancelOrder(body), words, head);
      case RequestKind.cancelOrders:
        return this.cancelIds(parseCancelOrders(body, this.options.maxCancelIds), words, head);
      case RequestKind.cancelAll:
        return this.cancelAll(slot, head, body, EVERYTHING);
      case RequestKind.cancelMarket:
        return this.cancelAll(
          slot,
          head,
          body,
          parseCancelMarket(body.subarray(CANCEL_ALL_HEAD_BYTES)),
        );
      default:
        this.append(new Int32Array(body.buffer, body.byteOffset, body.length / 4));
        return {};
    }
  }

  private place(kind: number, body: Uint8Array, words: Int32Array, head: number): Outcome {
    const { maxBatchOrders, parse } = this.options;
    if (kind === RequestKind.orders)
      return this.placeAll(parseOrders(body, maxBatchOrders, parse), words, head);
    if (kind === RequestKind.order) return this.placeAll(parseOrder(body, parse), words, head);
    return this.replace(parseReplace(body, parse), words, head);
  }

  private check({ inputWords }: SlotView, head: number, body: Uint8Array): Outcome {
    const { commands } = this;
    const first = commands.words;
    const kind = inputWords[head + RequestHead.words]!;
    const outcome = this.place(kind, body.subarray(CHECK_HEAD_BYTES), inputWords, head);
    if (outcome.refusal !== undefined) return outcome;
    const reach = this.options.reach();
    const { explanations = NOTHING_TOLD } = outcome;
    const checked = encodeChecked(
      { kind, reach, explanations },
      commands.i32,
      first,
      commands.words,
    );
    return checked === undefined ? {} : { checked };
  }

  private complete(body: Uint8Array): Outcome {
    const { commands } = this;
    const first = commands.words;
    const { commands: words, explanations, kind, reach } = decodeChecked(body, first);
    this.append(words);
    const isForgotten = this.options.forgotten() > reach;
    this.completer.complete(commands.i32, first, commands.words, isForgotten);
    return { kind, explanations };
  }

  private placeAll(parsed: ParsedOrders, words: Int32Array, head: number): Outcome {
    if (!parsed.ok) return refused(parsed);
    const caller = callerOf(words, head);
    const began = this.options.now();
    const { items } = parsed;
    const end = words[head + RequestHead.ordersMax]! || items.length;
    this.diagnosis?.beginRequest(this.time, words[head + RequestHead.isLaterPart] === 0);
    let explanations: Map<number, Explanation> | undefined;
    for (let i = 0; i < Math.min(end, items.length); i++) {
      const at = this.commands.words;
      this.orders.prepare(items[i]!, caller, this.commands, this.diagnosis);
      const { explanation } = this.orders;
      if (explanation === undefined) continue;
      explanations ??= new Map();
      explanations.set(at, explanation);
    }
    this.verifyMs += this.options.now() - began;
    return explanations === undefined ? {} : { explanations };
  }

  private explain(parsed: ParsedOrders, words: Int32Array, head: number): Outcome {
    if (!parsed.ok) return refused(parsed);
    const { commands, time } = this;
    const at = commands.words;
    const caller = callerOf(words, head);
    const { explanation, facts } = this.explainer.explain(parsed.items[0]!, caller, commands, time);
    if (explanation === undefined) return { facts };
    return { facts, explanations: new Map([[at, explanation]]) };
  }

  private replace(
    parsed: ReturnType<typeof parseReplace>,
    words: Int32Array,
    head: number,
  ): Outcome {
    if (!parsed.ok) return refused(parsed);
    encodeCancel(this.commands, bytesToWords(parsed.id, this.id), signerOf(words, head));
    return this.placeAll(parsed, words, head);
  }

  private cancelIds(
    parsed: ReturnType<typeof parseCancelOrders>,
    words: Int32Array,
    head: number,
  ): Outcome {
    if (!parsed.ok) return refused(parsed);
    const signer = signerOf(words, head);
    for (const id of parsed.ids) encodeCancel(this.commands, bytesToWords(id, this.id), signer);
    return { malformedIds: malformedIdBytes(parsed.malformedIds) };
  }

  /** Encodes the next part of a cancel of everything; an unknown market or token has no orders. */
  private cancelAll(
    slot: SlotView,
    head: number,
    body: Uint8Array,
    scope: CancelScope | RequestRefused,
  ): Outcome {
    if (!scope.ok) return refused(scope);
    const place = readCancelAllHead(body);
    const newest = place.newest === 0 ? slot.f64[Slot.time]! : place.newest;
    const market = this.marketOf(scope);
    const token = this.tokenOf(scope);
    if (market === undefined || token === undefined) return { newest };
    encodeCancelOwner(this.commands, {
      signer: signerOf(slot.inputWords, head),
      market,
      token,
      limit: CANCEL_ORDERS_MAX,
      from: place.from as OrderRow | 0,
      newest,
    });
    return { newest };
  }

  /** 0 = any market; `undefined` = not registered. */
  private marketOf({ condition }: CancelScope): MarketRow | 0 | undefined {
    if (condition === undefined) return 0;
    return findMarket(this.tables, bytesToWords(condition, this.id), 0) || undefined;
  }

  private tokenOf({ tokenId }: CancelScope): TokenRow | 0 | undefined {
    if (tokenId === undefined) return 0;
    decimalToWords(tokenId, this.id, 0);
    return findToken(this.tables, this.id, 0) || undefined;
  }

  private append(words: Int32Array): void {
    const { commands } = this;
    for (let at = 0; at < words.length; ) {
      const length = commandWords(words, at);
      const target = commands.begin(commandKind(words, at), length);
      commands.i32.set(words.subarray(at, at + length), target);
      at += length;
    }
  }
}

function refused({ code, detail, text }: RequestRefused): Outcome {
  return { refusal: Buffer.from(errorBody(code, detail, text === undefined ? {} : { text })) };
}

function signerOf(words: Int32Array, head: number): Int32Array {
  const at = head + RequestHead.address;
  return words.slice(at, at + ADDRESS_WORDS);
}

/** Views of the slot, valid until the batch is done. */
function callerOf(words: Int32Array, head: number): Caller {
  const keyAt = head + RequestHead.apiKey;
  const addressAt = head + RequestHead.address;
  return {
    apiKey: words.subarray(keyAt, keyAt + API_KEY_WORDS),
    address: words.subarray(addressAt, addressAt + ADDRESS_WORDS),
    takerDelay: words[head + RequestHead.takerDelay]!,
    settlement: settlementOf(words, head),
  };
}

function settlementOf(words: Int32Array, head: number): SettlementTerms | undefined {
  const ms = words[head + RequestHead.settleMs]!;
  if (ms === 0) return undefined;
  const terms = words[head + RequestHead.settleTerms]!;
  return { ms, fails: (terms & 1) === 1, fault: terms >>> 1 };
}
