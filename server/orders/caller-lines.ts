/**
 * What one wallet may have under way in the sequencer at a time. What it sends beyond that waits here, in the
 * order in which it came, and the requests of others pass it. So the worker time before somebody else's
 * order is bounded by how many wallets send much, not by how much one of them sends.
 *
 * Thread: the I/O thread. Not here: commands of the node itself, which go to the sequencer directly.
 */
import { isLong, submitInParts } from './order-parts.ts';
import type { Sequencer } from './sequencer.ts';
import { type Answered, fail, type OwnedRequest, type Request } from './slot-requests.ts';

/** Bytes of bodies of one wallet that are under way: some 90 orders, 12 ms of a worker. */
const UNDER_WAY_BYTES = 64 * 1024;
const WAITING_BYTES_MAX = 256 * 2 ** 20;
/** Of the places of all that wait, a wallet may have this part. */
const WALLET_SHARE = 4;

interface Line {
  readonly wallet: string;
  /** Bytes that the sequencer has and has not answered. */
  underWay: number;
  readonly waiting: OwnedRequest[];
}

export class CallerLines {
  private readonly sequencer: Pick<Sequencer, 'submit' | 'goOn'>;
  private readonly waitingMax: number;
  private readonly hasCodes: boolean;
  /** By wallet; of those alone that have something under way. */
  private readonly lines = new Map<string, Line>();
  private waitingCount = 0;
  private waitingBytes = 0;

  /**
   * @param waitingMax requests that may wait, of all wallets together
   * @param hasCodes whether results have the code of their refusal
   */
  constructor(sequencer: Pick<Sequencer, 'submit' | 'goOn'>, waitingMax: number, hasCodes = false) {
    this.hasCodes = hasCodes;
    this.sequencer = sequencer;
    this.waitingMax = waitingMax;
  }

  /** Requests that wait for an earlier one of the same wallet. */
  get waiting(): number {
    return this.waitingCount;
  }

  /** Takes a request; answers 503 at once when too many wait. */
  submit(request: OwnedRequest): void {
    const { address } = request.owner;
    const wallet = Buffer.from(address.buffer, address.byteOffset, address.length).toString(
      'latin1',
    );
    const line = this.lines.get(wallet);
    if (line === undefined) this.begin(this.open(wallet), request);
    else if (line.waiting.length === 0 && hasRoom(line, request)) this.begin(line, request);
    else this.wait(line, request);
  }

  /** Takes the next part of a request that is under way. */
  goOn(request: Request): void {
    this.sequencer.goOn(request);
  }

  private open(wallet: string): Line {
    const line: Line = { wallet, underWay: 0, waiting: [] };
    this.lines.set(wallet, line);
    return line;
  }

  private wait(line: Line, request: OwnedRequest): void {
    const isLineFull = line.waiting.length >= this.waitingMax / WALLET_SHARE;
    const isFull = this.waitingCount >= this.waitingMax;
    const isLarge = this.waitingBytes + request.body.length > WAITING_BYTES_MAX;
    if (isLineFull || isFull || isLarge) {
      fail(request, 'busy');
      return;
    }
    line.waiting.push(request);
    this.waitingCount += 1;
    this.waitingBytes += request.body.length;
  }

  private begin(line: Line, request: OwnedRequest): void {
    const bytes = costOf(request);
    line.underWay += bytes;
    const answered: Answered = (...answer) => {
      request.answered(...answer);
      line.underWay -= bytes;
      this.advance(line);
    };
    const counted: OwnedRequest = { ...request, answered };
    if (isLong(request)) submitInParts(this.sequencer, counted, this.hasCodes);
    else this.sequencer.submit(counted);
  }

  private advance(line: Line): void {
    const { waiting } = line;
    while (waiting.length > 0 && hasRoom(line, waiting[0]!)) {
      const request = waiting.shift()!;
      this.waitingCount -= 1;
      this.waitingBytes -= request.body.length;
      this.begin(line, request);
    }
    const isDone = line.underWay === 0 && waiting.length === 0;
    if (isDone && this.lines.get(line.wallet) === line) this.lines.delete(line.wallet);
  }
}

/** One that is as long as all that may be under way goes alone. */
function hasRoom(line: Line, request: Request): boolean {
  return line.underWay + costOf(request) <= UNDER_WAY_BYTES;
}

/** At least a byte: something is under way then. */
function costOf({ body }: Request): number {
  return Math.max(1, Math.min(body.length, UNDER_WAY_BYTES));
}
