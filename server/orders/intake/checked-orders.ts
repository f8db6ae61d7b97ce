/**
 * Pre-validated orders: a follower encodes the body of POST /order, /orders or /replace, and the leader
 * applies the result in its place. Shape, digest, wallet and signature are decided by the follower. The
 * leader decides the rest: bans, ids that have left memory since, and every rule of the engine.
 *
 *   to be checked   kind i32, - | the body as sent
 *   checked         kind i32, words i32 | reach f64 | commands | explanations as JSON, where there are any
 *
 * `reach` is the number of closed orders on the disk of the follower when ids were looked up. Explanations,
 * of wrong signatures, are lists of the first word of a command and the explanation; a node of another
 * version ignores them.
 *
 * Thread: a worker; checkRequest and checkedRequest: I/O.
 */
import {
  commandKind,
  commandWords,
  isOrder,
  OrderCommand,
  PrecheckFlags,
} from '../../../engine/commands.ts';
import { RejectReason } from '../../../engine/orders/reject-reasons.ts';
import { ADDRESS_WORDS, ID_WORDS } from '../../../engine/tables/codes.ts';
import type { BannedAddresses } from '../../auth/banned-addresses.ts';
import type { Answered, Failure, OwnedRequest } from '../exchange-memory/slot-requests.ts';
import { align, ORDER_BYTES_MIN, RequestKind } from '../exchange-memory/slots.ts';
import type { Explanation } from '../worker/result-details.ts';

export const CHECK_HEAD_BYTES = 8;
const CHECKED_HEAD_BYTES = 16;
const WORDS = 4;
const REACH = 8;

/**
 * Result of a check, in place of a status: commands follow, a refusal, or the leader has to check the
 * request.
 */
export const Check = { done: 200, refused: 400, atLeader: 421 } as const;

/** Refusals that depend on state: the leader may know newer markets, tokens and bans. */
const OF_STATE: ReadonlySet<number> = new Set([
  RejectReason.tokenUnknown,
  RejectReason.conditionUnknown,
  RejectReason.walletBanned,
]);

/** Submits a request that places orders to a worker for checking; `answered` gets a Check. */
export function checkRequest(
  { body, kind, owner, takerDelay, weight }: OwnedRequest,
  answered: Answered,
  failed: (failure: Failure) => void,
): OwnedRequest {
  const bytes = Buffer.alloc(CHECK_HEAD_BYTES + body.length);
  bytes.writeInt32LE(kind, 0);
  bytes.set(body, CHECK_HEAD_BYTES);
  return { kind: RequestKind.check, owner, body: bytes, weight, takerDelay, answered, failed };
}

export function checkedRequest(
  { answered, owner }: OwnedRequest,
  body: Uint8Array,
  weight = weightOfChecked(body),
): OwnedRequest {
  return { kind: RequestKind.checked, owner, body, weight, answered };
}

function weightOfChecked({ length }: Uint8Array): number {
  const orders = Math.ceil((length - CHECKED_HEAD_BYTES) / (4 * OrderCommand.words));
  return Math.max(length, orders * ORDER_BYTES_MIN);
}

/** Encodes the commands from word `from` to word `end`; `undefined` = the leader has to check the request. */
export function encodeChecked(
  { explanations, kind, reach }: Omit<CheckedOrders, 'commands'>,
  words: Int32Array,
  from: number,
  end: number,
): Buffer | undefined {
  for (let at = from; at < end; at += commandWords(words, at)) {
    if (!isOrder(commandKind(words, at))) continue;
    if (OF_STATE.has(words[at + OrderCommand.precheck]! & PrecheckFlags.reasonMask))
      return undefined;
  }
  const told = [...explanations].map(([at, explanation]) => [at - from, explanation]);
  const json = told.length === 0 ? '' : JSON.stringify(told);
  const commandBytes = CHECKED_HEAD_BYTES + align(4 * (end - from));
  const bytes = Buffer.alloc(commandBytes + Buffer.byteLength(json));
  bytes.write(json, commandBytes);
  bytes.writeInt32LE(kind, 0);
  bytes.writeInt32LE(end - from, WORDS);
  bytes.writeDoubleLE(reach, REACH);
  const { buffer, byteOffset } = words;
  bytes.set(new Uint8Array(buffer, byteOffset + 4 * from, 4 * (end - from)), CHECKED_HEAD_BYTES);
  return bytes;
}

export interface CheckedOrders {
  readonly kind: number;
  readonly reach: number;
  readonly commands: Int32Array;
  readonly explanations: ReadonlyMap<number, Explanation>;
}

/** @param body on a multiple of four bytes @param first the word at which its commands will begin */
export function decodeChecked(body: Uint8Array, first: number): CheckedOrders {
  const { buffer, byteOffset } = body;
  const view = new DataView(buffer, byteOffset, CHECKED_HEAD_BYTES);
  const words = view.getInt32(WORDS, true);
  const json = Buffer.from(body.subarray(CHECKED_HEAD_BYTES + align(4 * words))).toString();
  const told = (json === '' ? [] : JSON.parse(json)) as [number, Explanation][];
  return {
    kind: view.getInt32(0, true),
    reach: view.getFloat64(REACH, true),
    commands: new Int32Array(buffer, byteOffset + CHECKED_HEAD_BYTES, words),
    explanations: new Map(told.map(([at, explanation]) => [first + at, explanation])),
  };
}

export class CheckedCompleter {
  private readonly banned: Pick<BannedAddresses, 'has'>;
  private readonly knownStatus: (id: Uint8Array) => number;
  private readonly id = Buffer.alloc(4 * ID_WORDS);

  constructor(options: {
    readonly banned: Pick<BannedAddresses, 'has'>;
    readonly knownStatus: (id: Uint8Array) => number;
  }) {
    this.banned = options.banned;
    this.knownStatus = options.knownStatus;
  }

  /**
   * Completes the orders from word `from` to word `end`.
   * @param isForgotten true where ids may have left memory since they were looked up
   */
  complete(words: Int32Array, from: number, end: number, isForgotten: boolean): void {
    for (let at = from; at < end; at += commandWords(words, at))
      if (isOrder(commandKind(words, at))) this.completeOrder(words, at, isForgotten);
  }

  private completeOrder(words: Int32Array, at: number, isForgotten: boolean): void {
    const flags = words[at + OrderCommand.precheck]!;
    const reason = flags & PrecheckFlags.reasonMask;
    if (reason === RejectReason.ownerMismatch) return;
    if (this.isBanned(words, at)) {
      words[at + OrderCommand.precheck] =
        (flags & ~PrecheckFlags.reasonMask) | RejectReason.walletBanned;
      return;
    }
    if (!isForgotten || reason !== 0 || (flags & PrecheckFlags.known) !== 0) return;
    for (let i = 0; i < ID_WORDS; i++)
      this.id.writeInt32BE(words[at + OrderCommand.id + i]!, 4 * i);
    words[at + OrderCommand.precheck] =
      flags | (this.knownStatus(this.id) << PrecheckFlags.knownShift);
  }

  private isBanned(words: Int32Array, at: number): boolean {
    const of = (place: number): boolean =>
      this.banned.has(words.subarray(at + place, at + place + ADDRESS_WORDS));
    return of(OrderCommand.signer) || of(OrderCommand.maker);
  }
}
