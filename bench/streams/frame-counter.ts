/**
 * Frames of a WebSocket connection, counted by their heads alone, and the text frame that subscribes to tokens.
 *
 * Thread: the only one of the readers' process.
 */

/** Called at the end of a frame: its last bytes lie before `end`, not all of them if the frame came in pieces. */
type FrameEnd = (chunk: Buffer, end: number) => void;

export class FrameCounter {
  private readonly ended: FrameEnd;
  /** Bytes of the current frame that are to come. */
  private left = 0;
  private head: Buffer = Buffer.alloc(0);

  constructor(ended: FrameEnd) {
    this.ended = ended;
  }

  take(chunk: Buffer): void {
    let at = Math.min(this.left, chunk.length);
    if (this.left > 0) {
      this.left -= at;
      if (this.left === 0) this.ended(chunk, at);
    }
    while (at < chunk.length) {
      const rest = chunk.subarray(at);
      const head = this.head.length === 0 ? rest : Buffer.concat([this.head, rest]);
      const short = (head[1] ?? 0) & 127;
      const headBytes = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (head.length < headBytes) {
        this.head = Buffer.from(head);
        return;
      }
      const length =
        short < 126 ? short : short === 126 ? head.readUInt16BE(2) : head.readUInt32BE(6);
      at += headBytes - this.head.length;
      if (this.head.length > 0) this.head = Buffer.alloc(0);
      const taken = Math.min(length, chunk.length - at);
      at += taken;
      this.left = length - taken;
      if (this.left === 0) this.ended(chunk, at);
    }
  }
}

export const HANDSHAKE =
  'GET /ws/market HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n';

/** A text frame of a client has a mask; this one leaves the text as it is. */
export function subscription(tokens: readonly string[]): Buffer {
  const pad = ' '.repeat(100);
  const fields = { type: 'market', assets_ids: tokens, initial_dump: false, pad };
  const payload = Buffer.from(JSON.stringify(fields));
  return Buffer.concat([
    Buffer.of(0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0),
    payload,
  ]);
}
