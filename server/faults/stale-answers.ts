/** Answers that a fault repeats, by their requests. Thread: I/O. */

/** Answers and their bytes together; further ones are current. */
const ANSWERS_MAX = 1_000;
const BYTES_MAX = 2 ** 24;

export class StaleAnswers {
  private readonly answers = new Map<string, string | Uint8Array>();
  private bytes = 0;

  get(request: string): string | Uint8Array | undefined {
    return this.answers.get(request);
  }

  add(request: string, body: string | Uint8Array): void {
    const bytes = request.length + body.length;
    const isFull = this.answers.size >= ANSWERS_MAX || this.bytes + bytes > BYTES_MAX;
    if (isFull || this.answers.has(request)) return;
    this.bytes += bytes;
    this.answers.set(request, body);
  }
}
