/**
 * One connection of /ws/user that sends requests which are frames already, one at a time, and spends as little processor
 * as connection.ts does over HTTP.
 * Thread: the tool's only one.
 * Non-goals: TLS, reconnecting, fragments of messages.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { ApiKey } from '../../client/credentials.ts';
import type { Answered } from './connection.ts';

const TEXT = 0x81;
const IS_MASKED = 0x80;
const SHORT_MAX = 125;
const MEDIUM = 126;
const MASK_BYTES = 4;
const HEAD_END = '\r\n\r\n';
const ANSWER = Buffer.from('{"event_type":"answer"');
const STATUS = Buffer.from('"status":');
const STATUS_DIGITS = 3;

export class FrameConnection {
  readonly #socket: Socket;
  #answered: Answered | undefined;
  #arrived: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => this.#end(0, Buffer.alloc(0)));
  }

  /** Sends the credentials of a wallet, whose events are not followed. */
  static async open(url: URL, auth: ApiKey): Promise<FrameConnection> {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    const key = randomBytes(16).toString('base64');
    socket.write(
      `GET /ws/user HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
    const head = await new Promise<string>((resolve, reject) => {
      socket.once('data', (chunk) => resolve(chunk.toString('latin1')));
      socket.once('error', reject);
    });
    if (!head.startsWith('HTTP/1.1 101') || !head.endsWith(HEAD_END)) throw new Error(head);
    socket.write(frameOf(JSON.stringify({ type: 'user', operation: 'unsubscribe', auth })));
    return new FrameConnection(socket);
  }

  /** Sends a frame; nothing else may be under way. */
  send(frame: Buffer, answered: Answered): void {
    if (this.#answered !== undefined) throw new Error('one request at a time');
    this.#answered = answered;
    this.#socket.write(frame);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#arrived = this.#arrived.length === 0 ? chunk : Buffer.concat([this.#arrived, chunk]);
    while (this.#arrived.length >= 2) {
      const short = this.#arrived[1]!;
      const head = short <= SHORT_MAX ? 2 : 4;
      if (this.#arrived.length < head) return;
      const end = head + (short <= SHORT_MAX ? short : this.#arrived.readUInt16BE(2));
      if (this.#arrived.length < end) return;
      const payload = this.#arrived.subarray(head, end);
      this.#arrived = this.#arrived.subarray(end);
      const status = payload.indexOf(STATUS) + STATUS.length;
      const isAnswer = payload.subarray(0, ANSWER.length).equals(ANSWER);
      // Anything else is a problem of the connection.
      this.#end(
        isAnswer ? Number(payload.toString('latin1', status, status + STATUS_DIGITS)) : 0,
        payload,
      );
    }
  }

  #end(status: number, body: Buffer): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(status, body);
  }
}

/** The bytes of a text frame of a client; all of it is ASCII. */
export function frameOf(text: string): Buffer {
  const isShort = text.length <= SHORT_MAX;
  const head = isShort
    ? Buffer.of(TEXT, IS_MASKED | text.length)
    : Buffer.of(TEXT, IS_MASKED | MEDIUM, text.length >> 8, text.length & 0xff);
  const mask = randomBytes(MASK_BYTES);
  const payload = Buffer.from(text, 'latin1');
  for (let i = 0; i < payload.length; i++) payload[i]! ^= mask[i % MASK_BYTES]!;
  return Buffer.concat([head, mask, payload]);
}
