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
import { AnswerHead, align, Slot, type SlotView } from '../exchange-memory/slots.ts';
import type { Explanation } from './result-details.ts';

const HEX = Buffer.from('0123456789abcdef');
const ACCEPTED = Buffer.from('{"success":true,"errorMsg":"","orderID":"0x');
const TAKING = Buffer.from('","takingAmount":"');
const MAKING = Buffer.from('","makingAmount":"');
const STATUS = Buffer.from('","status":"');
const LIVE = Buffer.from('","status":"live"}');
const MATCHED = Buffer.from('","status":"matched"}');
const DUPLICATE = REJECTS[RejectReason.duplicate];
const KNOWN = Buffer.from(
  `{"success":false,"errorMsg":${JSON.stringify(DUPLICATE.text)},"orderID":"0x`,
);
const KNOWN_STATUSES = {
  live: Buffer.from('live"'),
  matched: Buffer.from('matched"'),
  canceled: Buffer.from('canceled"'),
};
const KNOWN_CODE = Buffer.from(
  `,${JSON.stringify({ detail: DUPLICATE.detail, code: DUPLICATE.code }).slice(1)}`,
);
const END = Buffer.from('}');

/** Texts of rejected orders (ORDER_TEXTS). */
export type OrderTexts = 'spec' | 'polymarket';

export class ResultWriter {
  /** True where results have the code of their refusal (RESULT_CODES). */
  readonly hasCodes: boolean;
  private readonly texts: OrderTexts;
  private readonly refusals: ReadonlyMap<number, Buffer>;
  private slot: SlotView | undefined;
  private bytes: Uint8Array = new Uint8Array(0);
  private head = 0;
  private at = 0;
  private items = 0;

  constructor(texts: OrderTexts = 'spec', hasCodes = false) {
    this.hasCodes = hasCodes;
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

  refused(reason: RejectReasonCode): void {
    this.separate();
    this.copy(this.refusals.get(reason)!);
  }

  /** Writes a refusal with its explanation, where results have codes. */
  explained(reason: RejectNumber, { code, detail, facts }: Explanation): void {
    const reject = REJECTS[reason];
    const result = refusedWith(textOf(reject, this.texts));
    this.separate();
    this.copy(
      Buffer.from(JSON.stringify({ ...result, detail, ...facts, code: code ?? reject.code })),
    );
  }

  /** Writes an accepted order: id of 8 words at `words[at]`, micro-units paid and received at once. */
  accepted(words: Int32Array, at: number, making: number, taking: number): void {
    this.separate();
    this.copy(ACCEPTED);
    this.hex(words, at);
    this.copy(TAKING);
    const isMatched = making !== 0 || taking !== 0;
    if (isMatched) this.amount(taking);
    this.copy(MAKING);
    if (isMatched) this.amount(making);
    this.copy(isMatched ? MATCHED : LIVE);
  }

  /** Writes a duplicate: the id of the known order, and its present status. */
  known(words: Int32Array, at: number, status: number): void {
    this.separate();
    this.copy(KNOWN);
    this.hex(words, at);
    this.copy(TAKING);
    this.copy(MAKING);
    this.copy(STATUS);
    const { canceled, live, matched } = KNOWN_STATUSES;
    this.copy(status === Status.live ? live : status === Status.matched ? matched : canceled);
    this.copy(this.hasCodes ? KNOWN_CODE : END);
  }

  finish(): void {
    this.slot!.i32[Slot.answerBytes] = this.at;
  }

  /** Begins an answer, whose body ends with `close`. */
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

/** Six members of every result. */
function refusedWith(errorMsg: string) {
  const rest = { orderID: '', takingAmount: '', makingAmount: '', status: 'error' };
  return { success: false, errorMsg, ...rest };
}

/** Answer to internal commands: one 32-bit reject reason each. */
export function rejectBytes(rules: readonly RejectReasonCode[]): Uint8Array {
  return new Uint8Array(Int32Array.from(rules).buffer);
}
