/**
 * Bytes of answers that were asked for before, until the catalog or its statistics change: a page that
 * many clients poll is joined once. An answer is copied when it is asked for the second time, and none
 * is removed for another, so that a walk over all pages costs nothing.
 *
 * Thread: the I/O thread. Non-goals: compressed answers (compressed.ts).
 */

const BYTES_MAX = 16 * 2 ** 20;
const QUESTIONS_MAX = 4_096;
/** Longest question that is remembered, in UTF-16 units. */
const QUESTION_UNITS_MAX = 512;

export class RepeatedAnswers {
  private readonly answers = new Map<string, Uint8Array>();
  /** Questions that were asked once. */
  private readonly asked = new Set<string>();
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  get(question: string): Uint8Array | undefined {
    return this.answers.get(question);
  }

  /** @param isStable the bytes stay unchanged; others are copied */
  add(question: string, bytes: Uint8Array, isStable: boolean): void {
    const { answers, asked } = this;
    if (question.length > QUESTION_UNITS_MAX || answers.has(question)) return;
    if (!asked.has(question)) {
      if (asked.size >= QUESTIONS_MAX) asked.clear();
      asked.add(question);
    } else if (answers.size < QUESTIONS_MAX && this.bytes + bytes.length <= this.bytesMax) {
      this.bytes += bytes.length;
      answers.set(question, isStable ? bytes : new Uint8Array(bytes));
      asked.delete(question);
    }
  }

  clear(): void {
    this.answers.clear();
    this.asked.clear();
    this.bytes = 0;
  }
}
