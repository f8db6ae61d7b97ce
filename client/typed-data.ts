/**
 * EIP-712 digests of what a wallet signs: orders of both versions and the level-1 request that
 * issues API keys. A struct is written as hex text, which is short code and costs a tenth of the
 * signature. Pure. Non-goals: other typed data.
 */
import { bytesOfHex, bytesOfText, keccak256, toHex } from './hashes.ts';

export interface OrderDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
}

/** The fields that orders of both versions sign; amounts in millionths, numbers as decimal text. */
interface CommonFields {
  readonly salt: string;
  readonly maker: string;
  readonly signer: string;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  /** 0 = BUY, 1 = SELL. */
  readonly side: 0 | 1;
  readonly signatureType: number;
}

/** Twelve signed fields of version 1. */
export interface UnsignedOrder extends CommonFields {
  readonly taker: string;
  readonly expiration: string;
  readonly nonce: string;
  readonly feeRateBps: string;
}

/** The eleven signed fields of version 2: 0x + 64 hex digits for the last two. */
export interface UnsignedOrder2 extends CommonFields {
  /** Usually unix milliseconds. */
  readonly timestamp: string;
  readonly metadata: string;
  readonly builder: string;
}

const WORD_DIGITS = 64;
const AUTH_MESSAGE = 'This message attests that I control the given wallet';

const ORDER = hashText(
  'Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,' +
    'uint256 makerAmount,uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,' +
    'uint8 side,uint8 signatureType)',
);
const ORDER_2 = hashText(
  'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,' +
    'uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,' +
    'bytes32 builder)',
);
const AUTH = hashText('ClobAuth(address address,string timestamp,uint256 nonce,string message)');
const AUTH_DOMAIN = hashText('EIP712Domain(string name,string version,uint256 chainId)');
const DOMAIN = hashText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);

/** Separators by domain object: a program has few domains and many orders. */
const separators = new WeakMap<OrderDomain, string>();

/** The 32-byte digest of an order of either version, which is also its id. */
export function orderDigest(
  domain: OrderDomain,
  order: UnsignedOrder | UnsignedOrder2,
): Uint8Array {
  let separator = separators.get(domain);
  if (separator === undefined) {
    separator = hashWords(
      ...[DOMAIN, hashText(domain.name), hashText(domain.version)],
      ...[number(domain.chainId), address(domain.verifyingContract)],
    );
    separators.set(domain, separator);
  }
  return seal(separator, 'timestamp' in order ? order2Words(order) : orderWords(order));
}

/** The 32-byte digest of a level-1 request; `timestamp` is the text of the header. */
export function authDigest(
  chainId: number,
  wallet: string,
  timestamp: string,
  nonce: string,
): Uint8Array {
  const separator = hashWords(
    ...[AUTH_DOMAIN, hashText('ClobAuthDomain'), hashText('1'), number(chainId)],
  );
  const words = [address(wallet), hashText(timestamp), number(nonce), hashText(AUTH_MESSAGE)];
  return seal(separator, [AUTH, ...words]);
}

function orderWords(order: UnsignedOrder): string[] {
  return [
    ...[ORDER, number(order.salt), address(order.maker), address(order.signer)],
    ...[address(order.taker), number(order.tokenId), number(order.makerAmount)],
    ...[number(order.takerAmount), number(order.expiration), number(order.nonce)],
    ...[number(order.feeRateBps), number(order.side), number(order.signatureType)],
  ];
}

function order2Words(order: UnsignedOrder2): string[] {
  return [
    ...[ORDER_2, number(order.salt), address(order.maker), address(order.signer)],
    ...[number(order.tokenId), number(order.makerAmount), number(order.takerAmount)],
    ...[number(order.side), number(order.signatureType), number(order.timestamp)],
    ...[hex(order.metadata), hex(order.builder)],
  ];
}

function seal(separator: string, words: readonly string[]): Uint8Array {
  return keccak256(bytesOfHex(`1901${separator}${hashWords(...words)}`));
}

function hashWords(...words: readonly string[]): string {
  return toHex(keccak256(bytesOfHex(words.join(''))));
}

function hashText(text: string): string {
  return toHex(keccak256(bytesOfText(text)));
}

function number(value: string | number): string {
  return BigInt(value).toString(16).padStart(WORD_DIGITS, '0');
}

function address(text: string): string {
  return hex(text).padStart(WORD_DIGITS, '0');
}

function hex(text: string): string {
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(text)) throw new RangeError(`not hex: ${text}`);
  return text.slice(2);
}
