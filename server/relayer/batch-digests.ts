/**
 * Digests that the owner of a wallet signs for a batch of calls, by the kind of the wallet.
 * Rules: docs/protocol.md#relayed-batches
 *
 * Thread: any; pure.
 */

import { domainSeparator, typedDigest } from '../auth/eip712.ts';
import { keccak256 } from '../auth/keccak.ts';
import { bytesToHex, decimalToBytes } from '../common/uint256.ts';
import type { SentCall } from './known-calls.ts';

const WORD = 32;
const ADDRESS_BYTES = 20;
const CALL_TYPE = 'Call(address target,uint256 value,bytes data)';
const BATCH_TYPE_HASH = hashText(
  `Batch(address wallet,uint256 nonce,uint256 deadline,Call[] calls)${CALL_TYPE}`,
);
const CALL_TYPE_HASH = hashText(CALL_TYPE);
const SAFE_DOMAIN_HASH = hashText('EIP712Domain(uint256 chainId,address verifyingContract)');
const SAFE_TYPE_HASH = hashText(
  'SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,' +
    'uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)',
);
const MESSAGE_HEAD = Buffer.from('\u0019Ethereum Signed Message:\n32', 'latin1');
const PROXY_HEAD = Buffer.from('rlx:', 'ascii');
const ZERO = Buffer.alloc(WORD);

export interface DepositBatch {
  readonly wallet: Uint8Array;
  /** Texts of uint256. */
  readonly nonce: string;
  readonly deadline: string;
  readonly calls: readonly SentCall[];
}

/** Digest of a deposit wallet's batch, whose calls send no value. */
export function depositBatchDigest(
  chainId: number,
  { calls, deadline, nonce, wallet }: DepositBatch,
): Uint8Array {
  const hashes = calls.map(({ data, target }) =>
    keccak256(Buffer.concat([CALL_TYPE_HASH, addressWord(target), ZERO, keccak256(data)])),
  );
  const separator = domainSeparator({
    name: 'DepositWallet',
    version: '1',
    chainId,
    verifyingContract: bytesToHex(wallet, 0, ADDRESS_BYTES),
  });
  const list = keccak256(Buffer.concat(hashes));
  return typedDigest(
    separator,
    Buffer.concat([BATCH_TYPE_HASH, padded(wallet), number(nonce), number(deadline), list]),
  );
}

export interface SafeTransaction {
  readonly safe: Uint8Array;
  readonly to: string;
  readonly data: Uint8Array;
  /** 0: a call, 1: the safe delegates to the contract. */
  readonly operation: 0 | 1;
  readonly nonce: string;
}

/** Digest of a safe's transaction without value or gas, as a message that wallets sign. */
export function safeDigest(
  chainId: number,
  { data, nonce, operation, safe, to }: SafeTransaction,
): Uint8Array {
  const separator = keccak256(
    Buffer.concat([SAFE_DOMAIN_HASH, number(String(chainId)), padded(safe)]),
  );
  const fields = [addressWord(to), ZERO, keccak256(data), number(String(operation))];
  // Gas limits and prices, token of the gas and who gets the rest.
  const gas = [ZERO, ZERO, ZERO, ZERO, ZERO];
  const struct = Buffer.concat([SAFE_TYPE_HASH, ...fields, ...gas, number(nonce)]);
  return messageDigest(typedDigest(separator, struct));
}

export interface ProxyTransaction {
  readonly from: string;
  readonly to: string;
  readonly data: Uint8Array;
  /** Texts of uint256. */
  readonly relayerFee: string;
  readonly gasPrice: string;
  readonly gasLimit: string;
  readonly nonce: string;
  readonly relayHub: string;
  readonly relay: string;
}

export function proxyDigest(fields: ProxyTransaction): Uint8Array {
  const packed = Buffer.concat([
    PROXY_HEAD,
    address(fields.from),
    address(fields.to),
    fields.data,
    number(fields.relayerFee),
    number(fields.gasPrice),
    number(fields.gasLimit),
    number(fields.nonce),
    address(fields.relayHub),
    address(fields.relay),
  ]);
  return messageDigest(keccak256(packed));
}

function messageDigest(hash: Uint8Array): Uint8Array {
  return keccak256(Buffer.concat([MESSAGE_HEAD, hash]));
}

function hashText(text: string): Uint8Array {
  return keccak256(Buffer.from(text, 'ascii'));
}

function number(text: string): Uint8Array {
  const word = new Uint8Array(WORD);
  decimalToBytes(text, word, 0);
  return word;
}

function address(text: string): Uint8Array {
  return Buffer.from(text.slice(2), 'hex');
}

function addressWord(text: string): Uint8Array {
  return padded(address(text));
}

function padded(bytes: Uint8Array): Uint8Array {
  const word = new Uint8Array(WORD);
  word.set(bytes, WORD - bytes.length);
  return word;
}
