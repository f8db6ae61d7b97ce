/**
 * A WebSocket client for the tests, straight on a TCP connection. It sees every frame as it came,
 * can stop reading, and sends no pong, ping or close by itself.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from './node-harness.ts';

export const Opcode = { text: 1, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly opcode: number;
  readonly text: string;
}

export interface Closed {
  /** 1006: the connection ended without a close frame. */
  readonly code: number;
  readonly reason: string;
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

interface OpenOptions {
  readonly from?: string;
  readonly header?: string;
}

export class SocketClient {
  /** Received texts that no test has taken. */
  readonly texts: string[] = [];
  readonly controls: Frame[] = [];
  closed: Closed | undefined = undefined;
  onText: ((text: string) => void) | undefined = undefined;
  private readonly socket: Socket;
  private received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, rest: Buffer) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('close', () => this.end({ code: 1006, reason: '' }));
    socket.on('error', () => this.end({ code: 1006, reason: '' }));
    // A connection that a test leaves open must not keep its process until the node ends it for idleness.
    socket.unref();
    if (rest.length > 0) this.take(rest);
  }

  /**
   * Opens a connection; rejects with the answer's first line when it is refused.
   *
   * @param header one more line of the request's head
   * @param from own address, where it makes a difference
   */
  static async open(
    { port }: { readonly port: number },
    path: string,
    { from = '127.0.0.1', header = 'Accept: */*' }: OpenOptions = {},
  ): Promise<SocketClient> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    const key = randomBytes(16).toString('base64');
    socket.setNoDelay(true);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n${header}\r\n\r\n`,
    );
    let head = Buffer.alloc(0);
    let end = -1;
    while (end === -1) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      head = Buffer.concat([head, chunk]);
      end = head.indexOf('\r\n\r\n');
    }
    socket.pause();
    const text = head.toString('latin1', 0, end);
    const accepted = createHash('sha1')
      .update(key + GUID)
      .digest('base64');
    if (!text.startsWith('HTTP/1.1 101')) {
      socket.destroy();
      throw new Error(text.split('\r\n')[0]);
    }
    assert(text.includes(accepted), 'the server knows the handshake');
    const client = new SocketClient(socket, head.subarray(end + 4));
    socket.resume();
    return client;
  }

  send(message: object | string): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.frame(Opcode.text, Buffer.from(text));
  }

  frame(opcode: number, payload: Buffer): void {
    this.burst(opcode, payload, 1);
  }

  burst(opcode: number, payload: Buffer, count: number): void {
    const mask = randomBytes(4);
    const length =
      payload.length < 126
        ? Buffer.of(0x80 | payload.length)
        : payload.length < 65_536
          ? Buffer.of(0x80 | 126, payload.length >> 8, payload.length & 255)
          : Buffer.concat([Buffer.of(0x80 | 127, 0, 0, 0, 0), uint32(payload.length)]);
    const masked = Buffer.from(payload.map((byte, i) => byte ^ mask[i % 4]!));
    const frame = Buffer.concat([Buffer.of(0x80 | opcode), length, mask, masked]);
    this.socket.write(Buffer.concat(new Array<Buffer>(count).fill(frame)));
  }

  async next(): Promise<string> {
    await until(() => this.texts.length > 0 || this.closed !== undefined);
    const text = this.texts.shift();
    assert(text !== undefined, `closed: ${JSON.stringify(this.closed)}`);
    return text;
  }

  async json<T = Record<string, unknown>>(): Promise<T> {
    return JSON.parse(await this.next()) as T;
  }

  /** Takes texts up to the answer to a PING, behind everything that was sent before it. */
  async upToNow(): Promise<Record<string, unknown>[]> {
    this.send('PING');
    const events: Record<string, unknown>[] = [];
    for (;;) {
      const text = await this.next();
      if (text === 'PONG') return events;
      events.push(JSON.parse(text) as Record<string, unknown>);
    }
  }

  async ended(): Promise<Closed> {
    await until(() => this.closed !== undefined);
    return this.closed!;
  }

  stopReading(): void {
    this.socket.pause();
  }

  readOn(): void {
    this.socket.resume();
  }

  cut(): void {
    this.socket.destroy();
  }

  private end(closed: Closed): void {
    this.closed ??= closed;
  }

  private take(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    for (;;) {
      const frame = this.parse();
      if (frame === undefined) return;
      if (frame.opcode === Opcode.text) {
        if (this.onText === undefined) this.texts.push(frame.text);
        else this.onText(frame.text);
      } else {
        this.controls.push(frame);
      }
    }
  }

  /** Returns the next whole frame of the received bytes. */
  private parse(): Frame | undefined {
    const { received } = this;
    if (received.length < 2) return undefined;
    assert.equal(received[0]! & 0x80, 0x80, 'the server sends whole messages');
    assert.equal(received[1]! & 0x80, 0, 'the server does not mask');
    const short = received[1]! & 127;
    const headBytes = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (received.length < headBytes) return undefined;
    const length =
      short < 126
        ? short
        : short === 126
          ? received.readUInt16BE(2)
          : Number(received.readBigUInt64BE(2));
    if (received.length < headBytes + length) return undefined;
    const payload = received.subarray(headBytes, headBytes + length);
    this.received = received.subarray(headBytes + length);
    const opcode = received[0]! & 15;
    if (opcode === Opcode.close) {
      const code = length >= 2 ? payload.readUInt16BE(0) : 1005;
      this.end({ code, reason: payload.toString('utf8', 2) });
    }
    return { opcode, text: payload.toString('utf8') };
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
