/**
 * Answers of the engine as JSON bytes, written straight into the shared slot of the batch. Texts are prepared
 * once, and only ids and amounts vary: this runs inside the writer turn.
 *
 * Thread: the worker in its writer turn.
 */

import { RejectReason, type RejectReasonCode } from '../../../engine/orders/reject-reasons.ts';
import { Status } from '../../../engine/tables/codes.ts';
import { writeMicro } from '../../common/decimal.ts';
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY } from '../../common/json-measure.ts';
import { REJECTS, type Reject, type RejectNumber } from '../../common/refusals.ts';
import { TRADE_ID_BEGINNING, TRADE_ID_DIGITS } from '../../common/trade-ids.ts';
import { AnswerHead, align, Slot, type SlotView } from '../exchange-memory/slots.ts';
import type { OrderFacts } from './order-explanation.ts';
import type { Explanation } from './result-details.ts';

const HEX = Buffer.from('0123456789abcdef');
const HEX_BASE = 16;
const ACCEPTED = Buffer.from('{"success":true,"errorMsg":"","orderID":"0x');
const TAKING = Buffer.from('","takingAmount":"');
const MAKING = Buffer.from('","makingAmount":"');
const STATUS = Buffer.from('","status":"');
const LIVE = Buffer.from('","status":"live"}');
const DELAYED = Buffer.from('","status":"delayed"}');
const MATCHED = Buffer.from('","status":"matched"}');
const MATCHED_AS = Buffer.from(`","status":"matched","tradeIDs":["${TRADE_ID_BEGINNING}`);
const TRADES_END = Buffer.from('"]}');
const DUPLICATE = REJECTS[RejectReason.duplicate];
const KNOWN = Buffer.from(
  `{"success":false,"errorMsg":${JSON.stringify(DUPLICATE.text)},"orderID":"0x`,
);
const KNOWN_STATUSES = {
  live: Buffer.from('live"'),
  matched: Buffer.from('matched"'),
  canceled: Buffer.from('canceled"'),
  delayed: Buffer.from('delayed"'),
};
const KNOWN_CODE = Buffer.from(
  `,${JSON.stringify({ detail: DUPLICATE.detail, code: DUPLICATE.code }).slice(1)}`,
);
const END = Buffer.from('}');
const WOULD_BE_TAKEN = 'no rule refuses the order now';

/** Texts of rejected orders (ORDER_TEXTS). */
export type OrderTexts = 'spec' | 'polymarket';

export interface ResultStyle {
  readonly texts: OrderTexts;
  /** True where results have the code of their refusal (RESULT_CODES). */
  readonly hasCodes: boolean;
  /** True where results name the trades of immediate fills (TRADE_IDS). */
  readonly listsTrades: boolean;
}

const SPEC_STYLE: ResultStyle = { texts: 'spec', hasCodes: false, listsTrades: false };

export class ResultWriter {
  readonly hasCodes: boolean;
  private readonly listsTrades: boolean;
  private readonly texts: OrderTexts;
  private readonly refusals: ReadonlyMap<number, Buffer>;
  private slot: SlotView | undefined;
  private bytes: Uint8Array = new Uint8Array(0);
  private head = 0;
  private at = 0;
  private items = 0;

  constructor({ hasCodes, listsTrades, texts }: ResultStyle = SPEC_STYLE) {
    this.hasCodes = hasCodes;
    this.listsTrades = listsTrades;
    this.texts = texts;
    this.refusals = refusalsIn(texts, hasCodes);
  }

  start(slot: SlotView): void {
    this.slot = slot;
    this.bytes = slot.answers;
    this.head = 0;
    this.at = 0;
  }

  /** Writes a whole body: of a refused request, or one that is not JSON. */
  whole(status: number, body: Uint8Array): void {
    this.open();
    this.copy(body);
    this.close(status);
  }

  openList(): void {
    this.open();
    this.bytes[this.at++] = OPEN_ARRAY;
  }

  closeList(): void {
    this.bytes[this.at++] = CLOSE_ARRAY;
    this.close(200);
  }

  /** @param told its text of the profile stands for that of the reason */
  refused(reason: RejectNumber, told?: Explanation): void {
    this.separate();
    const text = this.profileTextOf(told);
    if (text === undefined) this.copy(this.refusals.get(reason)!);
    else this.copy(Buffer.from(JSON.stringify(refusedWith(text))));
  }

  /** Writes a refusal with its explanation, where results have codes. */
  explained(reason: RejectNumber, told: Explanation): void {
    const reject = REJECTS[reason];
    const { code, detail, facts } = told;
    const result = refusedWith(this.profileTextOf(told) ?? textOf(reject, this.texts));
    this.separate();
    this.copy(
      Buffer.from(JSON.stringify({ ...result, detail, ...facts, code: code ?? reject.code })),
    );
  }

  /** Writes the explanation of an order that the engine would accept. */
  wouldAccept(facts: OrderFacts): void {
    this.explanation({ accepted: true, errorMsg: '', detail: WOULD_BE_TAKEN }, facts);
  }

  /** @param told `undefined`: the advice of the reason says enough */
  wouldRefuse(reason: RejectNumber, told: Explanation | undefined, facts: OrderFacts): void {
    const reject = REJECTS[reason];
    const refusal = {
      accepted: false,
      errorMsg: this.profileTextOf(told) ?? textOf(reject, this.texts),
      detail: told?.detail ?? reject.detail,
      ...told?.facts,
      code: told?.code ?? reject.code,
    };
    this.explanation(refusal, facts);
  }

  private profileTextOf(told: Explanation | undefined): string | undefined {
    return this.texts === 'spec' ? undefined : told?.profileText;
  }

  private explanation(refusal: object, facts: OrderFacts): void {
    this.whole(200, Buffer.from(JSON.stringify({ ...refusal, ...facts })));
  }

  /**
   * Writes an accepted order: id of 8 words at `words[at]`, micro-units paid and received at once.
   *
   * @param match fill sequence of the first of its immediate fills; unread where there are none
   */
  accepted(words: Int32Array, at: number, making: number, taking: number, match: number): void {
    this.separate();
    this.copy(ACCEPTED);
    this.hex(words, at);
    this.copy(TAKING);
    const isMatched = making !== 0 || taking !== 0;
    if (isMatched) this.amount(taking);
    this.copy(MAKING);
    if (isMatched) this.amount(making);
    if (!isMatched) this.copy(LIVE);
    else if (this.listsTrades) this.matchedAs(match);
    else this.copy(MATCHED);
  }

  private matchedAs(match: number): void {
    this.copy(MATCHED_AS);
    this.at += TRADE_ID_DIGITS;
    let rest = match;
    for (let digit = 1; digit <= TRADE_ID_DIGITS; digit++) {
      this.bytes[this.at - digit] = HEX[rest % HEX_BASE]!;
      rest = Math.floor(rest / HEX_BASE);
    }
    this.copy(TRADES_END);
  }

  /** Writes an accepted order that waits for its taker delay. */
  delayed(words: Int32Array, at: number): void {
    this.separate();
    this.copy(ACCEPTED);
    this.hex(words, at);
    this.copy(TAKING);
    this.copy(MAKING);
    this.copy(DELAYED);
  }

  /** Writes a duplicate: the id of the known order, and its present status. */
  known(words: Int32Array, at: number, status: number, isDelayed: boolean): void {
    this.separate();
    this.copy(KNOWN);
    this.hex(words, at);
    this.copy(TAKING);
    this.copy(MAKING);
    this.copy(STATUS);
    const { canceled, delayed, live, matched } = KNOWN_STATUSES;
    const open = isDelayed ? delayed : live;
    this.copy(status === Status.live ? open : status === Status.matched ? matched : canceled);
    this.copy(this.hasCodes ? KNOWN_CODE : END);
  }

  finish(): void {
    this.slot!.i32[Slot.answerBytes] = this.at;
  }

  open(): void {
    this.head = this.at;
    this.at += 4 * AnswerHead.words;
    this.items = 0;
  }

  close(status: number): void {
    const words = this.slot!.answerWords;
    words[this.head / 4 + AnswerHead.status] = status;
    words[this.head / 4 + AnswerHead.bytes] = this.at - this.head - 4 * AnswerHead.words;
    this.at = align(this.at);
  }

  copy(source: Uint8Array): void {
    this.bytes.set(source, this.at);
    this.at += source.length;
  }

  hex(words: Int32Array, at: number): void {
    for (let w = 0; w < 8; w++) {
      const word = words[at + w]!;
      for (let shift = 28; shift >= 0; shift -= 4) {
        this.bytes[this.at++] = HEX[(word >>> shift) & 15]!;
      }
    }
  }

  amount(micro: number): void {
    this.at = writeMicro(micro, this.bytes, this.at);
  }

  private separate(): void {
    if (this.items > 0) this.bytes[this.at++] = COMMA;
    this.items += 1;
  }
}

function refusalsIn(texts: OrderTexts, hasCodes: boolean): Map<number, Buffer> {
  return new Map(
    Object.entries(REJECTS).map(([reason, reject]) => {
      const { code, detail } = reject;
      const bare = refusedWith(textOf(reject, texts));
      const result = hasCodes ? { ...bare, detail, code } : bare;
      return [Number(reason), Buffer.from(JSON.stringify(result))];
    }),
  );
}

function textOf({ profileText, text }: Reject, texts: OrderTexts): string {
  return texts === 'spec' ? text : profileText;
}

function refusedWith(errorMsg: string) {
  const rest = { orderID: '', takingAmount: '', makingAmount: '', status: 'error' };
  return { success: false, errorMsg, ...rest };
}

/** Answer to internal commands: one 32-bit reject reason each. */
export function rejectBytes(rules: readonly RejectReasonCode[]): Uint8Array {
  return new Uint8Array(Int32Array.from(rules).buffer);
}
