/**
 * Bytes of many prepared requests in a few large buffers. A buffer for each request would make a heap whose
 * collections stop the tool for a tenth of a second, which looks like the node's latency.
 * Thread: the tool's only one.
 */
const BLOCK_BYTES = 2 ** 24;
const FIRST_REQUESTS = 1024;

export class PackedRequests {
  #length = 0;
  readonly #blocks: Buffer[] = [];
  /** Bytes used of the last block. */
  #used = BLOCK_BYTES;
  /** Block, first byte and bytes of each request. */
  #places = new Uint32Array(3 * FIRST_REQUESTS);

  static of(requests: Iterable<Buffer>): PackedRequests {
    const packed = new PackedRequests();
    for (const bytes of requests) packed.#add(bytes);
    return packed;
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): Buffer {
    const [block, from, bytes] = this.#places.subarray(3 * index, 3 * index + 3);
    return this.#blocks[block!]!.subarray(from!, from! + bytes!);
  }

  #add(bytes: Buffer): void {
    if (this.#used + bytes.length > BLOCK_BYTES || this.#blocks.length === 0) {
      this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes.length)));
      this.#used = 0;
    }
    bytes.copy(this.#blocks.at(-1)!, this.#used);
    if (3 * this.#length === this.#places.length) {
      const larger = new Uint32Array(2 * this.#places.length);
      larger.set(this.#places);
      this.#places = larger;
    }
    this.#places.set([this.#blocks.length - 1, this.#used, bytes.length], 3 * this.#length);
    this.#length += 1;
    this.#used += bytes.length;
  }
}
