/**
 * Frames between nodes, of bounded length: each has its kind, the number of its call, and bytes.
 *
 *   length of the rest u32 | kind u8 | name of the call u8 | - u16 | number of the call u32 | bytes
 *
 * Pure. Numbers are little-endian.
 */

export const FrameKind = {
  call: 1,
  answer: 2,
  /** Part of an answer that is a stream; the empty answer ends it. */
  part: 3,
  /** The call failed: a text that says why, and ends it. */
  failure: 4,
} as const;

export interface Frame {
  readonly kind: number;
  readonly name: number;
  readonly call: number;
  readonly bytes: Buffer;
}

const LENGTH_BYTES = 4;
const HEAD_BYTES = 8;
/** The largest body of a client, and as much again. */
const FRAME_BYTES_MAX = 16 * 2 ** 20;

export function frameHead(kind: number, name: number, call: number, bytes: number): Buffer {
  const head = Buffer.allocUnsafe(LENGTH_BYTES + HEAD_BYTES);
  head.writeUInt32LE(HEAD_BYTES + bytes, 0);
  head[4] = kind;
  head[5] = name;
  head.writeUInt16LE(0, 6);
  head.writeUInt32LE(call, 8);
  return head;
}

export class FrameReader {
  private chunks: Buffer[] = [];
  private received = 0;
  /** Bytes of the frame that is arriving, its length included; 0 = not known yet. */
  private wanted = 0;

  /** Frames that are whole now, in their order; throws at a frame that nobody may send. */
  *take(chunk: Buffer): Generator<Frame> {
    this.chunks.push(chunk);
    this.received += chunk.length;
    while (this.received >= (this.wanted || LENGTH_BYTES)) {
      if (this.wanted === 0) {
        this.wanted = LENGTH_BYTES + this.front(LENGTH_BYTES).readUInt32LE(0);
        const isBound = this.wanted <= FRAME_BYTES_MAX && this.wanted >= LENGTH_BYTES + HEAD_BYTES;
        if (!isBound) throw new Error(`a frame of ${this.wanted} bytes`);
        continue;
      }
      const whole = this.front(this.wanted);
      const rest = this.chunks[0]!.subarray(this.wanted);
      // An empty piece before the next chunk would have that one copied.
      if (rest.length > 0) this.chunks[0] = rest;
      else this.chunks.shift();
      this.received -= this.wanted;
      this.wanted = 0;
      yield {
        kind: whole[4]!,
        name: whole[5]!,
        call: whole.readUInt32LE(8),
        bytes: whole.subarray(LENGTH_BYTES + HEAD_BYTES),
      };
    }
  }

  /** The first bytes of what has arrived, which are joined only where they came in pieces. */
  private front(bytes: number): Buffer {
    if (this.chunks[0]!.length < bytes) this.chunks = [Buffer.concat(this.chunks)];
    return this.chunks[0]!.subarray(0, bytes);
  }
}
