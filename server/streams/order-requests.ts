/**
 * Requests of order routes that arrive as frames of /ws/user. They pass the handlers of those routes, so parsing, refusals,
 * limits, faults and order of a wallet are those of HTTP; only the frame around the answer differs.
 *
 * Thread: I/O. Not here: the bytes of a frame (request-frames.ts), the count of requests (http/frame-request.ts).
 */
import { type KeyOwner, READ_ONLY_REFUSED, signedHeaders } from '../auth/auth.ts';
import type { AuthRefused } from '../auth/auth-refusals.ts';
import type { Credential } from '../auth/key-registry.ts';
import { ENGINE_BUSY } from '../common/error-bodies.ts';
import type { Headers } from '../http/answer-head.ts';
import type {
  FrameClient,
  FrameRequest,
  FrameRequests,
  FrameRoute,
} from '../http/frame-request.ts';
import type { Caller } from '../http/limits/callers.ts';
import type { Handler, RequestContext, Route } from '../http/request-context.ts';
import type { OperationName } from './request-frames.ts';

/** Order route as an operation of the stream. */
export interface Operation extends FrameRoute {
  readonly name: OperationName;
  readonly handler: Handler<unknown, KeyOwner>;
  /** True where another node of a cluster decides the whole request. */
  readonly isForwarded: () => boolean;
}

export interface OrderRequestParts {
  readonly operations: readonly Operation[];
  /** Refusal of the owner of a key whose credentials were checked before, or `undefined`. */
  readonly refusalOf: (apiKey: string) => AuthRefused | undefined;
  /** Absent where this node decides everything. */
  readonly forward?:
    | ((
        context: RequestContext,
        route: Pick<Route, 'method' | 'path'>,
        judgedAt: number,
        here: () => void | Promise<void>,
      ) => Promise<void>)
    | undefined;
  /** Unix seconds. */
  readonly seconds: () => number;
}

/**
 * Unanswered requests of one connection. A wallet may have as many that wait for an earlier one (wallet-queue.ts).
 * @internal Tests reach it.
 */
export const IN_FLIGHT_MAX = 256;

interface FrameSocket {
  send(bytes: Uint8Array): void;
  cut(): void;
}

/** Owner of a connection: a credential, or `undefined` for a read-only key. */
type Owner = { readonly credential: Credential | undefined };

export class OrderClient implements FrameClient {
  readonly caller: Caller;
  isClosed = false;
  private readonly parts: OrderRequestParts;
  private readonly frames: readonly FrameRequests[];
  private readonly socket: FrameSocket;
  private owner: Owner = { credential: undefined };
  private inFlight = 0;

  constructor(
    parts: OrderRequestParts,
    caller: Caller,
    frames: readonly FrameRequests[],
    socket: FrameSocket,
  ) {
    this.parts = parts;
    this.caller = caller;
    this.frames = frames;
    this.socket = socket;
  }

  identified(owner: Owner): void {
    this.owner = owner;
  }

  /** @param operation index of `OPERATION_NAMES` */
  take(operation: number, id: Uint8Array, body: Buffer): void {
    this.inFlight += 1;
    this.frames[operation]!.take(this, id, body);
  }

  run(request: FrameRequest): void | Promise<void> {
    const { credential } = this.owner;
    const refused =
      credential === undefined ? READ_ONLY_REFUSED : this.parts.refusalOf(credential.apiKey);
    if (refused !== undefined) return request.reply(refused.status, refused.body);
    if (this.inFlight > IN_FLIGHT_MAX) return request.reply(503, ENGINE_BUSY);
    const { address, apiKey, apiKeyBytes } = credential!;
    const { handler, isForwarded } = request.route as Operation;
    const caller = { ok: true, address, apiKey, apiKeyBytes } as const;
    const here = (): void | Promise<void> => handler(request, undefined, caller);
    if (!isForwarded()) return here();
    return this.parts.forward!(request, request.route, this.parts.seconds(), here);
  }

  /** The leader checks what a client of HTTP would have signed. */
  headersOf(request: FrameRequest): readonly string[] {
    return signedHeaders(this.owner.credential!, request, this.parts.seconds());
  }

  answer(request: FrameRequest, status: number, body: string | Uint8Array, headers: Headers): void {
    this.inFlight -= 1;
    if (!this.isClosed) this.socket.send(answerFrame(request, status, body, headers));
  }

  cut(): void {
    this.inFlight -= 1;
    this.socket.cut();
  }
}

const FRAME_BYTES = 64 * 1024;
/** Everything but id, headers and body. */
const HEAD_BYTES = 128;
const CLOSE_OBJECT = 0x7d;
/** Bytes of the frame that is being sent; the socket copies them. */
const scratch = Buffer.allocUnsafe(FRAME_BYTES);

function answerFrame(
  { id, route }: FrameRequest,
  status: number,
  body: string | Uint8Array,
  headers: Headers,
): Uint8Array {
  const tail = `","status":${status},"headers":${headersText(headers)},"body":`;
  const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const length = HEAD_BYTES + id.length + tail.length + bodyBytes;
  const bytes = length > FRAME_BYTES ? Buffer.allocUnsafe(length) : scratch;
  let at = bytes.write(`{"event_type":"answer","op":"${route.name}","id":"`, 0, 'latin1');
  bytes.set(id, at);
  at += id.length;
  at += bytes.write(tail, at, 'latin1');
  if (typeof body === 'string') bytes.write(body, at, 'utf8');
  else bytes.set(body, at);
  at += bodyBytes;
  bytes[at] = CLOSE_OBJECT;
  return bytes.subarray(0, at + 1);
}

/** Names and values of headers have no characters that need an escape. */
function headersText(headers: Headers): string {
  let text = '';
  for (const [name, value] of headers) text += `${text === '' ? '' : ','}"${name}":"${value}"`;
  return `{${text}}`;
}
