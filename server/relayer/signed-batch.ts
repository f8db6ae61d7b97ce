/**
 * Batches as the owners of wallets sign them: of deposit wallets, safes and proxy wallets, brought into one form.
 * Rules: docs/protocol.md#relayed-batches
 *
 * Thread: any; pure.
 */
import { RELAY_CALLS_MAX } from '../../engine/commands.ts';
import { isSessionSignature } from '../auth/wallet-signature.ts';
import { hexToBytes } from '../common/uint256.ts';
import { SAFE_MULTISEND } from '../wallet/venue-contracts.ts';
import { depositBatchDigest, proxyDigest, safeDigest } from './batch-digests.ts';
import { Arguments, BadCallData, SELECTOR_BYTES, selectorOf } from './call-data.ts';
import type { SentCall } from './known-calls.ts';
import type { ProxyBatchBody, SafeBatchBody, WalletBatchBody } from './relayer-schemas.ts';

const ADDRESS_BYTES = 20;
const WORD = 32;
const SIGNATURE_BYTES = 65;
/** Added to the last byte of a signature that a safe reads as one of a message. */
const SAFE_MESSAGE = 4;
const SAFE_V = [31, 32];
/** One byte of the operation, target, value and length of a call of several of a safe. */
const PACKED_HEAD = 1 + ADDRESS_BYTES + 2 * WORD;
const MULTISEND = selectorOf('multiSend(bytes)');
const PROXY = selectorOf('proxy((uint8,address,uint256,bytes)[])');
const ZERO_ADDRESS = `0x${'0'.repeat(2 * ADDRESS_BYTES)}`;
const PROXY_CALL = 1;

export type BatchBody = WalletBatchBody | SafeBatchBody | ProxyBatchBody;

export interface SignedBatch {
  readonly digest: Uint8Array;
  /** r, s and v of the owner over the digest. */
  readonly signature: Uint8Array;
  /** Unix seconds; `undefined` = none. */
  readonly deadline: number | undefined;
  readonly calls: readonly SentCall[];
}

export interface BatchFault {
  readonly code: 'INVALID_BATCH_SIGNATURE' | 'INVALID_CALL' | 'UNKNOWN_CALL';
  readonly detail: string;
}

/** Address of the wallet that a batch names. */
export function walletIn(body: BatchBody): string {
  const text = body.type === 'WALLET' ? body.depositWalletParams.depositWallet : body.proxyWallet;
  return text.toLowerCase();
}

export function signedBatch(
  body: BatchBody,
  chainId: number,
  proxyFactory: string,
): SignedBatch | BatchFault {
  if (isSessionSignature(body.signature)) {
    const detail = 'it is the signature of a session key, which signs no batches here';
    return { code: 'INVALID_BATCH_SIGNATURE', detail };
  }
  const signature = new Uint8Array(SIGNATURE_BYTES);
  if (!hexToBytes(body.signature, SIGNATURE_BYTES, signature, 0)) {
    return { code: 'INVALID_BATCH_SIGNATURE', detail: 'a signature has 65 bytes' };
  }
  try {
    if (body.type === 'WALLET') return ofDepositWallet(body, chainId, signature);
    if (body.type === 'SAFE') return ofSafe(body, chainId, signature);
    return ofProxy(body, proxyFactory, signature);
  } catch (error) {
    if (!(error instanceof BadCallData)) throw error;
    return { code: 'INVALID_CALL', detail: error.message };
  }
}

function ofDepositWallet(
  body: WalletBatchBody,
  chainId: number,
  signature: Uint8Array,
): SignedBatch {
  const { calls: sent, deadline } = body.depositWalletParams;
  const calls = sent.map(({ data, target }) => ({
    target: target.toLowerCase(),
    data: bytesOf(data),
  }));
  const wallet = bytesOf(walletIn(body));
  const digest = depositBatchDigest(chainId, { wallet, nonce: body.nonce, deadline, calls });
  return { digest, signature, deadline: Number(deadline), calls };
}

function ofSafe(
  body: SafeBatchBody,
  chainId: number,
  signature: Uint8Array,
): SignedBatch | BatchFault {
  const { gasToken, operation, refundReceiver } = body.signatureParams;
  if (gasToken !== ZERO_ADDRESS || refundReceiver !== ZERO_ADDRESS) {
    return {
      code: 'INVALID_CALL',
      detail: 'nobody pays for gas here: both addresses must be zero',
    };
  }
  const v = signature[SIGNATURE_BYTES - 1]!;
  if (!SAFE_V.includes(v)) {
    return { code: 'INVALID_BATCH_SIGNATURE', detail: 'the last byte of it must be 31 or 32' };
  }
  signature[SIGNATURE_BYTES - 1] = v - SAFE_MESSAGE;
  const to = body.to.toLowerCase();
  const data = bytesOf(body.data);
  const isOne = operation === '0';
  if (!isOne && to !== SAFE_MULTISEND) {
    return { code: 'UNKNOWN_CALL', detail: `a safe delegates to ${SAFE_MULTISEND} alone` };
  }
  const digest = safeDigest(chainId, {
    safe: bytesOf(walletIn(body)),
    to,
    data,
    operation: isOne ? 0 : 1,
    nonce: body.nonce,
  });
  const calls = isOne ? [{ target: to, data }] : packedCalls(data);
  return { digest, signature, deadline: undefined, calls };
}

function ofProxy(
  body: ProxyBatchBody,
  proxyFactory: string,
  signature: Uint8Array,
): SignedBatch | BatchFault {
  const to = body.to.toLowerCase();
  if (to !== proxyFactory) {
    return { code: 'UNKNOWN_CALL', detail: `batches of proxy wallets go to ${proxyFactory}` };
  }
  const data = bytesOf(body.data);
  const { from, nonce, signatureParams } = body;
  const digest = proxyDigest({ ...signatureParams, from, to, data, nonce });
  return { digest, signature, deadline: undefined, calls: proxyCalls(data) };
}

function packedCalls(data: Uint8Array): SentCall[] {
  const packed = Buffer.from(argumentsOf(data, MULTISEND).data(0));
  const calls: SentCall[] = [];
  for (let at = 0; at < packed.length; ) {
    if (at + PACKED_HEAD > packed.length) throw new BadCallData('the data is too short');
    if (packed[at] !== 0) throw new BadCallData('each of several calls has the operation 0');
    const target = `0x${packed.toString('hex', at + 1, at + 1 + ADDRESS_BYTES)}`;
    const numbers = new Arguments(packed, at + 1 + ADDRESS_BYTES);
    const length = numbers.number(1);
    at += PACKED_HEAD;
    if (length < 0 || at + length > packed.length) throw new BadCallData('the data is too short');
    calls.push(callOf(target, numbers.number(0), packed.subarray(at, at + length)));
    at += length;
  }
  return within(calls);
}

function proxyCalls(data: Uint8Array): SentCall[] {
  const sent = argumentsOf(data, PROXY).structures(0, RELAY_CALLS_MAX);
  return within(
    sent.map((call) => {
      if (call.number(0) !== PROXY_CALL) throw new BadCallData('each call has the type 1');
      return callOf(call.address(1), call.number(2), call.data(3));
    }),
  );
}

function callOf(target: string, value: number, data: Uint8Array): SentCall {
  if (value !== 0) throw new BadCallData('a call sends no value');
  return { target, data };
}

function within(calls: SentCall[]): SentCall[] {
  if (calls.length >= 1 && calls.length <= RELAY_CALLS_MAX) return calls;
  throw new BadCallData(`a batch has 1 to ${RELAY_CALLS_MAX} calls`);
}

function argumentsOf(data: Uint8Array, selector: string): Arguments {
  const sent = `0x${Buffer.from(data.subarray(0, SELECTOR_BYTES)).toString('hex')}`;
  if (sent !== selector) throw new BadCallData(`several calls begin with ${selector}`);
  return new Arguments(data.subarray(SELECTOR_BYTES));
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.slice(2), 'hex');
}
