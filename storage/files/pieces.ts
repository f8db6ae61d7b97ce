/** A stream of pieces of any length, read by count. */
export class Pieces {
  private readonly source: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  async *take(count: number): AsyncGenerator<Buffer, void, void> {
    for (let left = count; left > 0; ) {
      if (this.rest.length === 0) {
        const next = await this.source.next();
        if (next.done === true) throw new Error('what the peer sends ends too early');
        this.rest = next.value;
      }
      const piece = this.rest.subarray(0, left);
      this.rest = this.rest.subarray(piece.length);
      left -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }

  async exactly(count: number): Promise<Buffer> {
    // Most of what is read lies in one piece.
    if (this.rest.length >= count) {
      const whole = this.rest.subarray(0, count);
      this.rest = this.rest.subarray(count);
      return whole;
    }
    const parts: Buffer[] = [];
    for await (const piece of this.take(count)) parts.push(piece);
    return Buffer.concat(parts);
  }

  /** Nothing more is read. Rejects where something is left and `isWhole` says that nothing may be. */
  async close(isWhole: boolean): Promise<void> {
    const isMore = isWhole && (this.rest.length > 0 || (await this.source.next()).done !== true);
    await this.source.return?.();
    if (isMore) throw new Error('what the peer sends is longer than it said');
  }
}
