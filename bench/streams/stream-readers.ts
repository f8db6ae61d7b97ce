/**
 * The subscribers of the streams benchmark, in a process of their own: each takes what it is sent,
 * counts the frames and drops them.
 *
 * Arguments: port, token, how many. Answers a message of its parent with the number of frames of all.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

const [port, token, count] = process.argv.slice(2);
let frames = 0;
let bytes = 0;

/** A text frame that a client sends has a mask; this one leaves the text as it is. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([
    Buffer.of(0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0),
    payload,
  ]);
}

/** Counts frames by their heads alone; `left` are bytes of the frame at hand that are to come. */
class Counter {
  private left = 0;
  private head: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): void {
    bytes += chunk.length;
    let at = Math.min(this.left, chunk.length);
    this.left -= at;
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
      this.head = Buffer.alloc(0);
      const taken = Math.min(length, chunk.length - at);
      at += taken;
      this.left = length - taken;
      frames += 1;
    }
  }
}

async function subscribe(): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    'GET /ws/market HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  // The answer comes in one piece, and nothing behind it before a subscription.
  await once(socket, 'data');
  const counter = new Counter();
  socket.on('data', (chunk: Buffer) => counter.take(chunk));
  socket.write(
    masked(
      JSON.stringify({
        type: 'market',
        assets_ids: [token],
        initial_dump: false,
        pad: ' '.repeat(100),
      }),
    ),
  );
}

for (let i = 0; i < Number(count); i++) await subscribe();
process.once('disconnect', () => process.exit(0));
process.on('message', () => process.send!({ frames, bytes }));
process.send!({ frames, bytes });
