/**
 * EIP-712 digests: of an order (which is also its id), of the level-1 request that issues API
 * keys (docs/protocol.md#level-1), and of structures that others encode.
 *
 * Thread: any; each thread has its own instance of this module and its scratch buffers. Non-goals:
 * signing.
 */
import assert from 'node:assert/strict';
import { decimalToBytes, hexToBytes } from '../common/uint256.ts';
import { fixedMessage, keccak256 } from './keccak.ts';

/** The signing domain of one exchange contract (docs/protocol.md#signing-domains). */
export interface SigningDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  /** 0x + 40 hex digits. */
  readonly verifyingContract: string;
}

/** The signed fields (docs/protocol.md#order-fields); numbers are checked uint256 texts. */
export interface SignedFields {
  readonly salt: string;
  readonly maker: Uint8Array;
  readonly signer: Uint8Array;
  readonly taker: Uint8Array;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  readonly expiration: string;
  readonly nonce: string;
  readonly feeRateBps: string;
  readonly side: 0 | 1;
  readonly signatureType: number;
}

/**
 * The fields of version 2 in place of taker, expiration, nonce and fee rate: a checked uint256
 * text, and 32 bytes each (docs/protocol.md#version-2-and-3-orders).
 */
export interface SignedFields2 {
  readonly timestamp: string;
  readonly metadata: Uint8Array;
  readonly builder: Uint8Array;
}

const WORD = 32;
const ADDRESS_BYTES = 20;

const ORDER_TYPE =
  'Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,' +
  'uint256 makerAmount,uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,' +
  'uint8 side,uint8 signatureType)';
/** Type text of version 2 and 3, which signatures of deposit wallets repeat. */
export const ORDER_2_TYPE =
  'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,' +
  'uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,' +
  'bytes32 builder)';
const WALLET_ORDER_TYPE = `TypedDataSign(Order contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)${ORDER_2_TYPE}`;
const AUTH_TYPE = 'ClobAuth(address address,string timestamp,uint256 nonce,string message)';
const DOMAIN_TYPE =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const AUTH_DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId)';
const AUTH_MESSAGE = 'This message attests that I control the given wallet';

/** type hash | salt | maker | signer | ...: the type hash stays, the rest is overwritten. */
const orderMessage = structMessage(13, ORDER_TYPE);
const orderStruct = orderMessage.bytes;

const order2Message = structMessage(12, ORDER_2_TYPE);
const order2Struct = order2Message.bytes;
const order2Contents = new Uint8Array(WORD);

/** type hash | hash of the order | keccak(name) | keccak(version) | chain id | wallet | no salt */
const walletOrderMessage = structMessage(7, WALLET_ORDER_TYPE);
const walletOrderStruct = walletOrderMessage.bytes;
walletOrderStruct.set(hashText('DepositWallet'), 2 * WORD);
walletOrderStruct.set(hashText('1'), 3 * WORD);

/** type hash | address | keccak(timestamp) | nonce | keccak(message) */
const authMessage = structMessage(5, AUTH_TYPE);
const authStruct = authMessage.bytes;
authStruct.set(hashText(AUTH_MESSAGE), 4 * WORD);

/** 0x19 0x01 | domain separator | struct hash */
const envelopeMessage = fixedMessage(2 + 2 * WORD);
const envelope = envelopeMessage.bytes;
envelope[0] = 0x19;
envelope[1] = 0x01;
const sealed = envelope.subarray(2 + WORD);

export function domainSeparator(domain: SigningDomain): Uint8Array {
  const struct = new Uint8Array(5 * WORD);
  struct.set(hashText(DOMAIN_TYPE), 0);
  struct.set(hashText(domain.name), WORD);
  struct.set(hashText(domain.version), 2 * WORD);
  writeNumber(String(domain.chainId), struct, 3 * WORD);
  const contract = struct.subarray(5 * WORD - ADDRESS_BYTES);
  assert(
    hexToBytes(domain.verifyingContract, ADDRESS_BYTES, contract, 0),
    'the exchange address is checked with the configuration',
  );
  return keccak256(struct);
}

/** The separator of level-1 requests; it names no contract (docs/protocol.md#signing-domains). */
export function authSeparator(chainId: number): Uint8Array {
  const struct = new Uint8Array(4 * WORD);
  struct.set(hashText(AUTH_DOMAIN_TYPE), 0);
  struct.set(hashText('ClobAuthDomain'), WORD);
  struct.set(hashText('1'), 2 * WORD);
  writeNumber(String(chainId), struct, 3 * WORD);
  return keccak256(struct);
}

export function orderDigest(
  separator: Uint8Array,
  order: SignedFields,
  out: Uint8Array,
  offset: number,
): void {
  writeNumber(order.salt, orderStruct, 1 * WORD);
  writeAddress(order.maker, orderStruct, 2 * WORD);
  writeAddress(order.signer, orderStruct, 3 * WORD);
  writeAddress(order.taker, orderStruct, 4 * WORD);
  writeNumber(order.tokenId, orderStruct, 5 * WORD);
  writeNumber(order.makerAmount, orderStruct, 6 * WORD);
  writeNumber(order.takerAmount, orderStruct, 7 * WORD);
  writeNumber(order.expiration, orderStruct, 8 * WORD);
  writeNumber(order.nonce, orderStruct, 9 * WORD);
  writeNumber(order.feeRateBps, orderStruct, 10 * WORD);
  orderStruct[12 * WORD - 1] = order.side;
  orderStruct[13 * WORD - 1] = order.signatureType;
  seal(separator, orderMessage.hash(), out, offset);
}

type CommonFields = Omit<SignedFields, 'taker' | 'expiration' | 'nonce' | 'feeRateBps'>;

/**
 * Writes the digest of version 2 or 3; the separator is of that domain version.
 *
 * @internal Tests compare it with another implementation.
 * @returns the hash of the structure, 32 bytes, which the next call overwrites
 */
export function order2Digest(
  separator: Uint8Array,
  order: CommonFields,
  own: SignedFields2,
  out: Uint8Array,
  offset: number,
): Uint8Array {
  fillOrder2(order, own);
  seal(separator, order2Message.hash(), out, offset);
  order2Contents.set(sealed);
  return order2Contents;
}

/**
 * Writes the digest in the version of the order.
 *
 * @returns the hash of order2Digest; `undefined` in version 1
 */
export function digestInVersion(
  separator: Uint8Array,
  order: SignedFields & { readonly version2: SignedFields2 | undefined },
  out: Uint8Array,
): Uint8Array | undefined {
  const { version2 } = order;
  if (version2 !== undefined) return order2Digest(separator, order, version2, out, 0);
  orderDigest(separator, order, out, 0);
  return undefined;
}

/**
 * Writes the digest that the owner of a deposit wallet signs for an order
 * (docs/protocol.md#signatures-of-deposit-wallets).
 *
 * @param separator of the exchange
 * @param contents hash of the order
 */
export function walletOrderDigest(
  separator: Uint8Array,
  contents: Uint8Array,
  chainId: number,
  wallet: Uint8Array,
  out: Uint8Array,
): void {
  walletOrderStruct.set(contents, WORD);
  writeNumber(String(chainId), walletOrderStruct, 4 * WORD);
  writeAddress(wallet, walletOrderStruct, 5 * WORD);
  seal(separator, walletOrderMessage.hash(), out, 0);
}

function fillOrder2(order: CommonFields, own: SignedFields2): void {
  writeNumber(order.salt, order2Struct, 1 * WORD);
  writeAddress(order.maker, order2Struct, 2 * WORD);
  writeAddress(order.signer, order2Struct, 3 * WORD);
  writeNumber(order.tokenId, order2Struct, 4 * WORD);
  writeNumber(order.makerAmount, order2Struct, 5 * WORD);
  writeNumber(order.takerAmount, order2Struct, 6 * WORD);
  order2Struct[8 * WORD - 1] = order.side;
  order2Struct[9 * WORD - 1] = order.signatureType;
  writeNumber(own.timestamp, order2Struct, 9 * WORD);
  order2Struct.set(own.metadata, 10 * WORD);
  order2Struct.set(own.builder, 11 * WORD);
}

/**
 * Writes the digest of a level-1 request to `out` from `offset`.
 * @param timestamp the header's own text: it is signed as a string @param nonce uint256 text
 */
export function authDigest(
  separator: Uint8Array,
  address: Uint8Array,
  timestamp: string,
  nonce: string,
  out: Uint8Array,
  offset: number,
): void {
  writeAddress(address, authStruct, WORD);
  authStruct.set(hashText(timestamp), 2 * WORD);
  writeNumber(nonce, authStruct, 3 * WORD);
  seal(separator, authMessage.hash(), out, offset);
}

/** Digest of other typed data. @param struct its type hash and encoded members */
export function typedDigest(separator: Uint8Array, struct: Uint8Array): Uint8Array {
  const digest = new Uint8Array(WORD);
  seal(separator, keccak256(struct), digest, 0);
  return digest;
}

/** @param hash of the structure */
function seal(separator: Uint8Array, hash: Uint8Array, out: Uint8Array, offset: number): void {
  assert(separator.length === WORD, 'a separator has 32 bytes');
  envelope.set(separator, 2);
  sealed.set(hash);
  out.set(envelopeMessage.hash(), offset);
}

/** Memory of a structure, which begins with the hash of its type. */
function structMessage(words: number, type: string): ReturnType<typeof fixedMessage> {
  const message = fixedMessage(words * WORD);
  message.bytes.set(hashText(type));
  return message;
}

function writeNumber(text: string, out: Uint8Array, offset: number): void {
  assert(decimalToBytes(text, out, offset), 'signed numbers are checked before they are hashed');
}

/** The twelve bytes before an address are always zero. */
function writeAddress(address: Uint8Array, out: Uint8Array, offset: number): void {
  assert(address.length === ADDRESS_BYTES, 'an address has 20 bytes');
  out.set(address, offset + WORD - ADDRESS_BYTES);
}

function hashText(text: string): Uint8Array {
  return keccak256(Buffer.from(text, 'utf8'));
}
