/**
 * Single entry point to the package ethers: throw-away wallets that sign orders and level-1 requests, and an
 * independent second opinion on digests and signers for the tests. Synchronous throughout, so that
 * a load run can sign ahead without an event-loop turn per order.
 *
 * Thread: any. Non-goals: nothing in engine/, storage/ or server/ may import this file; the node
 * itself never signs. Keys made here are public knowledge and must never hold funds.
 */
import { createHmac } from 'node:crypto';
import {
  computeAddress,
  concat,
  id,
  keccak256,
  recoverAddress,
  SigningKey,
  TypedDataEncoder,
  type TypedDataField,
  Wallet,
} from 'ethers';

/** The four configurable values of the exchange's signing domain (GAPS 1.1). */
export interface OrderDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
}

/** The twelve signed fields (GAPS 1.2); amounts in micro-units, numbers as decimal text. */
export interface UnsignedOrder {
  readonly salt: string;
  readonly maker: string;
  readonly signer: string;
  readonly taker: string;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  readonly expiration: string;
  readonly nonce: string;
  readonly feeRateBps: string;
  /** 0 = BUY, 1 = SELL. */
  readonly side: 0 | 1;
  readonly signatureType: number;
}

/** The eleven signed fields of version 2 (CLIENTS 2): 0x + 64 hex digits for the last two. */
export interface UnsignedOrder2
  extends Omit<UnsignedOrder, 'taker' | 'expiration' | 'nonce' | 'feeRateBps'> {
  /** Usually unix milliseconds. */
  readonly timestamp: string;
  readonly metadata: string;
  readonly builder: string;
}

export interface TestWallet {
  /** Checksummed. */
  readonly address: string;
  /** 0x + 130 hex digits: r, s, v with v 27 or 28. */
  signOrder(domain: OrderDomain, order: UnsignedOrder): string;
  /** The same of version 2. */
  signOrder2(domain: OrderDomain, order: UnsignedOrder2): string;
  /** The level-1 signature (GAPS 2.1) over the same timestamp text as the header's. */
  signAuth(chainId: number, timestamp: string, nonce: string): string;
}

/** What POST /auth/api-key answers (GAPS 2.1). */
export interface Trio {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

const ORDER_TYPES: Record<string, TypedDataField[]> = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'taker', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'feeRateBps', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
  ],
};

const ORDER_2_TYPES: Record<string, TypedDataField[]> = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
    { name: 'timestamp', type: 'uint256' },
    { name: 'metadata', type: 'bytes32' },
    { name: 'builder', type: 'bytes32' },
  ],
};

const AUTH_TYPES: Record<string, TypedDataField[]> = {
  ClobAuth: [
    { name: 'address', type: 'address' },
    { name: 'timestamp', type: 'string' },
    { name: 'nonce', type: 'uint256' },
    { name: 'message', type: 'string' },
  ],
};

const AUTH_MESSAGE = 'This message attests that I control the given wallet';

/** Built once: TypedDataEncoder.hash rebuilds it on every call, which costs as much as signing. */
const orderEncoder = TypedDataEncoder.from(ORDER_TYPES);

/** Domain hashes by the domain object; a load run has two domains and many orders. */
const domainHashes = new WeakMap<OrderDomain, string>();

/** A wallet that depends on the seed text alone. */
export function walletFromSeed(seed: string): TestWallet {
  return walletFromKey(keyFromSeed(seed));
}

/** The private key of `walletFromSeed`: 0x + 64 hex digits. */
export function keyFromSeed(seed: string): string {
  return id(seed);
}

/** A wallet of a known private key: 0x + 64 hex digits. */
export function walletFromKey(privateKey: string): TestWallet {
  const key = new SigningKey(privateKey);
  const address = computeAddress(key);
  return {
    address,
    signOrder: (domain, order) => key.sign(quickOrderDigest(domain, order)).serialized,
    signOrder2: (domain, order) => key.sign(order2DigestByEthers(domain, order)).serialized,
    signAuth: (chainId, timestamp, nonce) =>
      key.sign(authDigestByEthers(chainId, address, timestamp, nonce)).serialized,
  };
}

function quickOrderDigest(domain: OrderDomain, order: UnsignedOrder): string {
  let domainHash = domainHashes.get(domain);
  if (domainHash === undefined) {
    domainHash = TypedDataEncoder.hashDomain(ethersDomain(domain));
    domainHashes.set(domain, domainHash);
  }
  return keccak256(concat(['0x1901', domainHash, orderEncoder.hash(order)]));
}

/** Only the four members: ethers refuses a domain that carries any other key. */
function ethersDomain(domain: OrderDomain): OrderDomain {
  const { name, version, chainId, verifyingContract } = domain;
  return { name, version, chainId, verifyingContract };
}

/** The order's EIP-712 digest, which is also its id: 0x + 64 lower-case hex digits. */
export function orderDigestByEthers(domain: OrderDomain, order: UnsignedOrder): string {
  return TypedDataEncoder.hash(ethersDomain(domain), ORDER_TYPES, order);
}

/** The same of an order of version 2. */
export function order2DigestByEthers(domain: OrderDomain, order: UnsignedOrder2): string {
  return TypedDataEncoder.hash(ethersDomain(domain), ORDER_2_TYPES, order);
}

/** The same signature through ethers' own wallet: what `signOrder` must agree with. */
export function signTypedDataByEthers(
  privateKey: string,
  domain: OrderDomain,
  order: UnsignedOrder,
): Promise<string> {
  return new Wallet(privateKey).signTypedData(ethersDomain(domain), ORDER_TYPES, order);
}

export function authDigestByEthers(
  chainId: number,
  address: string,
  timestamp: string,
  nonce: string,
): string {
  return TypedDataEncoder.hash({ name: 'ClobAuthDomain', version: '1', chainId }, AUTH_TYPES, {
    address,
    timestamp,
    nonce,
    message: AUTH_MESSAGE,
  });
}

/** The checksummed signer of a digest, as ethers sees it; throws on a malformed signature. */
export function recoverByEthers(digest: string, signature: string): string {
  return recoverAddress(digest, signature);
}

/**
 * The five credential headers of SPEC 5. `path` goes without a query string; `body` is the exact
 * text that will be sent. The signature is in the documented form, hex.
 */
export function level2(
  prefix: string,
  address: string,
  trio: Trio,
  method: string,
  path: string,
  body: string,
  timestamp: string,
): Record<string, string> {
  const signature = createHmac('sha256', Buffer.from(trio.secret, 'base64'))
    .update(`${timestamp}${method.toUpperCase()}${path}${body}`)
    .digest('hex');
  return {
    [`${prefix}_ADDRESS`]: address,
    [`${prefix}_API_KEY`]: trio.apiKey,
    [`${prefix}_PASSPHRASE`]: trio.passphrase,
    [`${prefix}_TIMESTAMP`]: timestamp,
    [`${prefix}_SIGNATURE`]: signature,
  };
}

/** The four level-1 headers of GAPS 2.1. */
export function level1(
  prefix: string,
  wallet: TestWallet,
  chainId: number,
  timestamp: string,
  nonce: string,
): Record<string, string> {
  return {
    [`${prefix}_ADDRESS`]: wallet.address,
    [`${prefix}_SIGNATURE`]: wallet.signAuth(chainId, timestamp, nonce),
    [`${prefix}_TIMESTAMP`]: timestamp,
    [`${prefix}_NONCE`]: nonce,
  };
}
