/**
 * One kept-alive HTTP/1.1 connection that sends requests which are bytes already, one at a time, and
 * spends as little processor as it can: on a small machine the node needs it.
 * Thread: the tool's only one.
 * Non-goals: TLS, pipelining, trailers of chunked answers.
 */
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const RECONNECT_MS = 100;
/** "HTTP/1.1 200": where the status begins and ends. */
const STATUS_FROM = 9;
const STATUS_TO = 12;

/** `status` 0: the connection ended before the answer was whole. */
export type Answered = (status: number, body: Buffer) => void;

/** What one look at a connection takes at most; longer answers take several. */
const READ_BYTES = 16 * 1024;

/** A whole body, and where it ends in what has arrived. */
interface Whole {
  readonly body: Buffer;
  readonly end: number;
}

const NOTHING: Buffer = Buffer.alloc(0);

export class Connection {
  readonly #host: string;
  readonly #port: number;
  readonly #opened: (connection: Connection) => void;
  #socket: Socket | undefined;
  #answered: Answered | undefined;
  /** Of answers that are not whole: memory of its own. */
  #arrived: Buffer = NOTHING;
  /** 0 until the head is there. */
  #headBytes = 0;
  /** undefined: the body comes in chunks. */
  #bodyBytes: number | undefined;
  #closed = false;

  /** `opened` is called each time that the connection is made, at first and after it was lost. */
  constructor(url: URL, opened: (connection: Connection) => void) {
    this.#host = url.hostname.replace(/^\[|\]$/g, '');
    this.#port = Number(url.port || 80);
    this.#opened = opened;
    this.#connect();
  }

  /** Sends a request; nothing else may be under way. */
  send(bytes: Buffer, answered: Answered): void {
    if (this.#answered !== undefined) throw new Error('one request at a time');
    this.#answered = answered;
    if (this.#socket === undefined) this.#end(0, NOTHING);
    else this.#socket.write(bytes);
  }

  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
  }

  #connect(): void {
    // Into memory that is used again, without the stream that usually stands around a socket.
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (bytes: number, buffer: Uint8Array): boolean => {
        this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
        return true;
      },
    };
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true, onread });
    socket.on('connect', () => {
      this.#socket = socket;
      this.#opened(this);
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => {
      this.#socket = undefined;
      this.#arrived = NOTHING;
      this.#headBytes = 0;
      this.#end(0, NOTHING);
      if (!this.#closed) setTimeout(() => this.#closed || this.#connect(), RECONNECT_MS);
    });
  }

  /** @param chunk good until this returns */
  #read(chunk: Buffer): void {
    const arrived = this.#arrived.length === 0 ? chunk : Buffer.concat([this.#arrived, chunk]);
    const whole = this.#readWhole(arrived);
    if (whole === undefined) {
      this.#arrived = Buffer.from(arrived);
      return;
    }
    const status = Number(arrived.toString('latin1', STATUS_FROM, STATUS_TO));
    this.#arrived =
      whole.end === arrived.length ? NOTHING : Buffer.from(arrived.subarray(whole.end));
    this.#headBytes = 0;
    this.#end(status, Buffer.from(whole.body));
  }

  /** Undefined: more has to come. */
  #readWhole(arrived: Buffer): Whole | undefined {
    if (this.#headBytes === 0 && !this.#readHead(arrived)) return undefined;
    return this.#bodyBytes === undefined ? this.#readChunks(arrived) : this.#readBody(arrived);
  }

  #readHead(arrived: Buffer): boolean {
    const end = arrived.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = arrived.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#headBytes = end + HEAD_END.length;
    this.#bodyBytes = length === undefined ? undefined : Number(length);
    return true;
  }

  #readBody(arrived: Buffer): Whole | undefined {
    const end = this.#headBytes + (this.#bodyBytes ?? 0);
    if (arrived.length < end) return undefined;
    return { body: arrived.subarray(this.#headBytes, end), end };
  }

  /** An answer without a length comes in chunks: refusals do. */
  #readChunks(arrived: Buffer): Whole | undefined {
    const chunks: Buffer[] = [];
    for (let at = this.#headBytes; ; ) {
      const lineEnd = arrived.indexOf(LINE_END, at);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(arrived.toString('latin1', at, lineEnd), 16);
      if (!(size >= 0)) {
        this.#socket?.destroy(); // no answer that HTTP knows
        return undefined;
      }
      const from = lineEnd + LINE_END.length;
      const end = from + size + LINE_END.length;
      if (arrived.length < end) return undefined;
      if (size === 0) return { body: Buffer.concat(chunks), end };
      chunks.push(arrived.subarray(from, from + size));
      at = end;
    }
  }

  #end(status: number, body: Buffer): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(status, body);
  }
}
