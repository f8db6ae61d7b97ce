/**
 * Reports of an engine about a challenge stream: rows of six words in memory that is there before
 * anything is measured, and the text whose SHA-256 the challenge publishes.
 */
import { createHash } from 'node:crypto';

const REPORT_WORDS = 6;
export const ReportKind = {
  accepted: 0,
  fill: 1,
  canceled: 2,
  modified: 3,
  cancelRejected: 4,
  modifyRejected: 5,
} as const;

const SIDE_SHIFT = 4;
const KIND_MASK = (1 << SIDE_SHIFT) - 1;

export class Reports {
  readonly words: Int32Array;
  count = 0;

  /** Room for `rows` reports; a run that writes more is a mistake of the caller. */
  constructor(rows: number) {
    this.words = new Int32Array(rows * REPORT_WORDS);
  }

  /** New, modified and cancelled orders; `quantity` is not part of the last. */
  readonly order = (
    kind: number,
    sequence: number,
    side: number,
    id: number,
    price: number,
    quantity: number,
  ): void => {
    const { words } = this;
    const at = Math.imul(this.count, REPORT_WORDS);
    words[at] = kind | (side << SIDE_SHIFT);
    words[(at + 1) | 0] = sequence;
    words[(at + 2) | 0] = id;
    words[(at + 3) | 0] = price;
    words[(at + 4) | 0] = quantity;
    this.count += 1;
  };

  readonly fill = (
    sequence: number,
    price: number,
    quantity: number,
    maker: number,
    taker: number,
  ): void => {
    const { words } = this;
    const at = Math.imul(this.count, REPORT_WORDS);
    words[at] = ReportKind.fill;
    words[(at + 1) | 0] = sequence;
    words[(at + 2) | 0] = maker;
    words[(at + 3) | 0] = price;
    words[(at + 4) | 0] = quantity;
    words[(at + 5) | 0] = taker;
    this.count += 1;
  };

  /** SHA-256 of the lines, sorted by sequence and type, joined by line feeds. */
  digest(): string {
    const { count, words } = this;
    const order = new Uint32Array(count).map((_, i) => i);
    const sequence = (i: number): number => words[i * REPORT_WORDS + 1]!;
    const kind = (i: number): number => words[i * REPORT_WORDS]! & KIND_MASK;
    // Equal ones stay as they came.
    order.sort((a, b) => sequence(a) - sequence(b) || kind(a) - kind(b) || a - b);
    const hash = createHash('sha256');
    let text = '';
    for (let i = 0; i < count; i++) {
      text += i === 0 ? this.line(order[i]!) : `\n${this.line(order[i]!)}`;
      if (text.length > 1 << 16) {
        hash.update(text);
        text = '';
      }
    }
    return hash.update(text).digest('hex');
  }

  private line(row: number): string {
    const { words } = this;
    const at = row * REPORT_WORDS;
    const kind = words[at]! & KIND_MASK;
    const side = words[at]! >>> SIDE_SHIFT;
    const [sequence, id, price, quantity] = words.subarray(at + 1, at + 5);
    switch (kind) {
      case ReportKind.accepted:
      case ReportKind.modified:
        return `${kind},${sequence},${side},${id},${price},${quantity}`;
      case ReportKind.fill:
        return `${kind},${sequence},${price},${quantity},${id},${words[at + 5]}`;
      case ReportKind.canceled:
        return `${kind},${sequence},${side},${id},${price}`;
      default:
        return `${kind},${sequence},${id}`;
    }
  }
}
