/**
 * EIP-712 digests: of an order (which is also its id) and of the level-1 request that issues API
 * keys (docs/protocol.md#level-1).
 *
 * Thread: any; each thread has its own instance of this module and its scratch buffers. Non-goals:
 * other typed data, signing.
 */
import assert from 'node:assert/strict';
import { decimalToBytes, hexToBytes } from '../common/uint256.ts';
import { keccak256, keccak256Into } from './keccak.ts';

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
 * text, and 32 bytes each (docs/protocol.md#version-2-orders).
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
const ORDER_2_TYPE =
  'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,' +
  'uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,' +
  'bytes32 builder)';
const AUTH_TYPE = 'ClobAuth(address address,string timestamp,uint256 nonce,string message)';
const DOMAIN_TYPE =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const AUTH_DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId)';
const AUTH_MESSAGE = 'This message attests that I control the given wallet';

/** type hash | salt | maker | signer | ...: the type hash stays, the rest is overwritten. */
const orderStruct = new Uint8Array(13 * WORD);
orderStruct.set(hashText(ORDER_TYPE), 0);

const order2Struct = new Uint8Array(12 * WORD);
order2Struct.set(hashText(ORDER_2_TYPE), 0);

/** type hash | address | keccak(timestamp) | nonce | keccak(message) */
const authStruct = new Uint8Array(5 * WORD);
authStruct.set(hashText(AUTH_TYPE), 0);
authStruct.set(hashText(AUTH_MESSAGE), 4 * WORD);

/** 0x19 0x01 | domain separator | struct hash */
const envelope = new Uint8Array(2 + 2 * WORD);
envelope[0] = 0x19;
envelope[1] = 0x01;

/** The 32-byte separator that ties an order to one exchange contract on one chain. */
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

/** Writes the order's 32-byte digest under a domain to `out` from `offset`. */
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
  seal(separator, orderStruct, out, offset);
}

/** Digest of version 2; the separator is of domain version 2. */
export function order2Digest(
  separator: Uint8Array,
  order: Omit<SignedFields, 'taker' | 'expiration' | 'nonce' | 'feeRateBps'>,
  own: SignedFields2,
  out: Uint8Array,
  offset: number,
): void {
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
  seal(separator, order2Struct, out, offset);
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
  seal(separator, authStruct, out, offset);
}

function seal(separator: Uint8Array, struct: Uint8Array, out: Uint8Array, offset: number): void {
  assert(separator.length === WORD, 'a separator has 32 bytes');
  envelope.set(separator, 2);
  keccak256Into(struct, envelope, 2 + WORD);
  keccak256Into(envelope, out, offset);
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
